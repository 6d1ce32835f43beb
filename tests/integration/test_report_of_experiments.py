"""`steelyard report` of an experiment shows the analysis that it was made for."""

import pytest

FILE = """
[experiment]
seed = 1
runs = 6
metrics = ["cost=regex:cost (.*):count", "wall_time"]

[[benchmark]]
name = "prog"
command = ["sh", "-c", "echo cost $((10 + $(nice) * 9 + $$ % 3))"]

[[factor]]
name = "A"
factor = "nice"
levels = [0, 5]

[[factor]]
name = "B"
factor = "environment-size"
levels = [0, 4096]

[analysis]
method = "METHOD"
"""


@pytest.fixture
def experiment(user):
    def run(method="anova"):
        path = user.home / "file.toml"
        path.write_text(FILE.replace("METHOD", method))
        told = user.types("experiment", "run", str(path))
        assert told.status == 0, told.err
        return told

    return run


def test_the_run_has_a_column_for_each_factor(experiment):
    out = experiment().out
    header = next(line for line in out.splitlines() if "trials" in line)
    assert header.split()[:3] == ["A", "B", "trials"]


def test_the_report_shows_the_analysis_and_not_pairs(user, experiment):
    experiment()
    text = user.types("report", "--format", "text").out
    assert "analysis of variance" in text.lower() or "linear model" in text.lower()
    assert "is undecided" not in text
    assert user.types("report", "--json", "-").document()["kind"] == "analysis"
    assert user.types("report", "--format", "markdown").out.startswith("```")


def test_the_page_is_that_of_the_analysis(user, experiment):
    experiment()
    told = user.types("report", "-o", "page.html")
    assert "wrote page.html" in told.err
    assert "A:B" in (user.home / "page.html").read_text()


def test_the_method_of_the_file_holds_without_naming_the_file_again(user, experiment):
    experiment("screening")
    assert user.types("experiment", "analyze", "--json", "-").document()["method"] == "screening"
    assert user.types("report", "--json", "-").document()["method"] == "screening"


def test_pairs_are_shown_on_request(user, experiment):
    experiment()
    assert user.types("report", "--pairs", "--json", "-").document()["kind"] == "comparison"


def test_the_follow_up_of_a_screening_is_written_from_the_store(user, experiment):
    experiment("screening")
    told = user.types("experiment", "analyze", "--follow-up", "next.toml")
    assert told.status == 0, told.err
    assert "full-factorial" in (user.home / "next.toml").read_text()


def test_a_follow_up_whose_file_is_gone_says_how_to_name_it(user, experiment):
    experiment("screening")
    (user.home / "file.toml").unlink()
    told = user.types("experiment", "analyze", "--follow-up", "next.toml")
    assert told.status == 2
    assert "--file FILE.toml names it" in told.err
