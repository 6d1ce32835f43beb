"""A user explains tables of trials by factors."""

from pathlib import Path

import numpy as np
import pytest

EXAMPLE = str(Path(__file__).parents[2] / "examples" / "factorial" / "compression.csv")
ASKED = ("--response", "seconds", "--factors", "compressor,flag,size_MB")


@pytest.fixture
def trials(user):
    """Two variants of three programs in ten setups, two trials each."""
    generator = np.random.default_rng(1)
    lines = ["program,setup,level,block,build,seconds"]
    for program in range(3):
        for setup in range(10):
            bias = 0.02 * generator.normal()
            for trial in range(4):
                level = trial % 2
                seconds = (1 + program) * np.exp((0.01 + bias) * level + 0.002 * generator.normal())
                row = (f"p{program}", f"s{setup}", ("O2", "O3")[level], setup, setup, seconds)
                lines.append(",".join(map(str, row)))
    path = user.home / "trials.csv"
    path.write_text("\n".join(lines) + "\n")
    return str(path)


def test_the_example_is_the_published_table(user):
    told = user.types("analyze", EXAMPLE, "--method", "anova", *ASKED)
    assert told.status == 0, told.err
    assert "seconds = 33.502 - 8.031 compressor + 9.882 size_MB - 4.719 compressor:flag" in told.out
    line = next(line for line in told.out.splitlines() if line.startswith("compressor:flag "))
    assert line.split()[:7] == ["compressor:flag", "-4.7190", "-6.6266", "…", "-2.8113", "534.45",
                                "<"]  # fmt: skip
    assert "R²: 0.936" in told.out


METHODS = {
    "anova": (*ASKED,),
    "quantile": (*ASKED, "--quantiles", "0.5,0.9"),
    "groups": ("--response", "seconds", "--factors", "compressor"),
}


@pytest.mark.parametrize("method", METHODS)
def test_the_document_keeps_its_schema_and_the_page_loads_nothing(user, method):
    page = user.home / "page.html"
    told = user.types(
        "analyze", EXAMPLE, "--method", method, *METHODS[method], "--json", "-", "--html", str(page)
    )
    assert told.status == 0, told.err
    document = told.document()
    assert document["kind"] == "analysis"
    assert document["method"] == method
    assert document["effects"]
    text = page.read_text()
    assert "http://" not in text.replace("http://www.w3.org", "")
    assert "<script" not in text


@pytest.mark.parametrize(
    ("method", "more", "measure"),
    [
        ("bias", ("--option", "program=program"), "geometric-mean-ratio"),
        ("paired", (), "pseudo-median"),
        ("within", (), "geometric-ratio"),
        ("mixed", ("--option", "levels=build"), "coefficient"),
    ],
)
def test_methods_for_repetition_answer(user, trials, method, more, measure):
    told = user.types(
        "analyze", trials, "--method", method, "--response", "seconds", "--factors", "level",
        "--json", "-", *more,
    )  # fmt: skip
    assert told.status == 0, told.err
    assert measure in {effect["measure"] for effect in told.document()["effects"]}


def test_a_map_is_drawn(user, trials):
    page = user.home / "map.html"
    told = user.types(
        "analyze", trials, "--method", "map", "--response", "seconds", "--factors", "setup,program",
        "--html", str(page),
    )  # fmt: skip
    assert told.status == 0, told.err
    assert "changes by a factor of" in told.out
    assert "data:image/svg+xml;base64," in page.read_text()


def test_plots_are_written_as_files(user, trials):
    plots = user.home / "plots"
    told = user.types(
        "analyze", trials, "--method", "bias", "--response", "seconds", "--factors", "level",
        "--plots", str(plots),
    )  # fmt: skip
    assert told.status == 0, told.err
    assert sorted(path.name for path in plots.iterdir()) == [
        "histogram-2.png", "histogram-2.svg", "violins-1.png", "violins-1.svg"
    ]  # fmt: skip
    (user.home / "taken").write_text("")
    told = user.types(
        "analyze", trials, "--method", "bias", "--response", "seconds", "--factors", "level",
        "--plots", str(user.home / "taken"),
    )  # fmt: skip
    assert told.status == 2
    assert "cannot be written" in told.err


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (("--method", "anova"), "--method anova needs --response"),
        (("--method", "groups", "--response", "seconds"), "needs --factors"),
        (("--method", "anova", "--response", "time", "--factors", "flag"), "no column 'time'"),
        (("--method", "anova", "--response", "flag", "--factors", "size_MB"), "wants numbers"),
        (("--method", "anova", *ASKED, "--option", "speed=1"), "no option 'speed'"),
        (
            ("--method", "bias", "--response", "seconds", "--factors", "flag"),
            "no column 'setup' for --option setup",
        ),
        (("--method", "anovva", *ASKED), "no analysis called 'anovva'"),
    ],
)
def test_a_wrong_call_is_told_in_one_line(user, asked, message):
    told = user.types("analyze", EXAMPLE, *asked)
    assert told.status == 2
    assert message in told.err
    assert len(told.err.splitlines()) == 1
