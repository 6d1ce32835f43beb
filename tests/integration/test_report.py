"""`steelyard report` on a store, from the experiment to the files."""

import json
import random

import pytest
from jsonschema import Draft202012Validator
from referencing import Registry, Resource

from steelyard.app.results.library import open_library
from steelyard.cli.main import run
from steelyard.core.experiment_results import Experiment, Trial
from steelyard.core.experiment_spec import ExperimentSpec, LaunchSpec, MetricSpec, Variant
from steelyard.report.documents.schemas import schema

IDENTIFIER = "01JD5T9V0Q8M4N7K2R3W6XABCD"


def experiment(kind="comparison", names=("old", "new"), blocks=25):
    noise = random.Random(1)
    metrics = (MetricSpec("wall_time", "s"), MetricSpec("max_rss", "bytes"))
    variants = tuple(Variant(name, LaunchSpec((name, "--work"))) for name in names)
    spec = ExperimentSpec(IDENTIFIER, kind, variants, metrics, seed=7)
    trials = [
        Trial(
            block * len(names) + index,
            block,
            index,
            False,
            "ok",
            None,
            1.75e9 + block,
            0.1,
            {
                "wall_time": (0.1 * 0.9**index * noise.gauss(1, 0.01),),
                "max_rss": (2e6 * noise.gauss(1, 0.001),),
            },
        )
        for block in range(blocks)
        for index in range(len(names))
    ]
    return Experiment(spec, {"host": {"kernel": "6.1"}}, 1.75e9, tuple(trials), "runs")


@pytest.fixture
def store(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    path = str(tmp_path / "store.db")
    with open_library(path) as library:
        library.save(experiment())
    return path


def validated(text):
    document = json.loads(text)
    shared = Registry().with_resource(
        "definitions.json", Resource.from_contents(schema("definitions"))
    )
    Draft202012Validator(schema(document["kind"]), registry=shared).validate(document)
    return document


def test_a_page_is_written_to_the_named_file(store, tmp_path, capfd):
    assert run(["report", IDENTIFIER[:6], "--store", store, "-o", "page.html"]) == 0
    page = (tmp_path / "page.html").read_text()
    assert "new is faster than old: " in page
    assert "wrote page.html" in capfd.readouterr().err


def test_without_a_name_the_page_is_named_by_its_experiment(store, tmp_path):
    assert run(["report", "--store", store]) == 0
    assert (tmp_path / f"steelyard-{IDENTIFIER}.html").stat().st_size > 1_000_000


def test_the_suffix_of_the_file_chooses_the_format(store, tmp_path):
    assert run(["report", "latest", "--store", store, "-o", "table.md"]) == 0
    assert (tmp_path / "table.md").read_text().startswith("- **faster**: new is faster than old")


@pytest.mark.parametrize("name", ["text", "markdown", "json"])
def test_other_formats_go_to_standard_output(store, tmp_path, capfd, name):
    before = sorted(tmp_path.iterdir())
    assert run(["report", "latest", "--store", store, "--format", name]) == 0
    assert "faster" in capfd.readouterr().out
    assert sorted(tmp_path.iterdir()) == before


def test_the_json_keeps_its_schema(store, capfd):
    assert run(["report", "latest", "--store", store, "--json", "-"]) == 0
    document = validated(capfd.readouterr().out)
    assert document["comparisons"][0]["verdict"] == "faster"
    assert document["other_comparisons"][0]["metric"] == "max_rss"


def test_plots_alone_make_no_page(store, tmp_path):
    assert run(["report", "latest", "--store", store, "--plots", "figures"]) == 0
    names = {path.name for path in (tmp_path / "figures").iterdir()}
    kinds = ("forest", "violin", "sequence", "acf", "lag", "qq")
    assert names == {f"{kind}.{suffix}" for kind in kinds for suffix in ("png", "svg")}
    assert not list(tmp_path.glob("*.html"))


def test_plots_that_have_nothing_to_show_are_not_passed_over_in_silence(
    tmp_path, monkeypatch, capfd
):
    monkeypatch.chdir(tmp_path)
    path = str(tmp_path / "one.db")
    with open_library(path) as library:
        library.save(experiment("measurement", ("only",), blocks=1))
    assert run(["report", "latest", "--store", path, "--plots", "figures"]) == 0
    assert "no plot has anything to show" in capfd.readouterr().err


def test_another_metric_can_come_first(store, capfd):
    arguments = ["report", "latest", "--store", store, "--format", "text", "--metric", "max_rss"]
    assert run(arguments) == 0
    assert capfd.readouterr().out.startswith("max_rss [MiB]")


def test_an_unknown_metric_is_named_with_those_that_there_are(store, capfd):
    assert run(["report", "latest", "--store", store, "--metric", "joy"]) == 2
    assert "It has: wall_time, max_rss." in capfd.readouterr().err


def test_an_unknown_format_is_a_wrong_call(store, capfd):
    assert run(["report", "latest", "--store", store, "--format", "pdf"]) == 2
    assert "Known: html, json, junit, markdown, text." in capfd.readouterr().err


def test_a_page_that_cannot_be_written_is_one_clear_error(store, capfd):
    assert run(["report", "latest", "--store", store, "-o", "no/such/page.html"]) == 2
    message = capfd.readouterr().err
    assert "no/such/page.html" in message
    assert "cannot be written" in message


def test_an_error_is_a_document_too(store, capfd):
    assert run(["report", "nonsense", "--store", store, "--json", "-"]) == 2
    assert validated(capfd.readouterr().out)["kind"] == "error"


@pytest.mark.parametrize("blocks", [1, 2, 3])
def test_a_few_blocks_make_every_report(tmp_path, monkeypatch, capfd, blocks):
    monkeypatch.chdir(tmp_path)
    path = str(tmp_path / "few.db")
    with open_library(path) as library:
        library.save(experiment(blocks=blocks))
    for name in ("html", "text", "markdown", "json"):
        assert run(["report", "latest", "--store", path, "--format", name, "-o", f"r.{name}"]) == 0
    assert run(["report", "latest", "--store", path, "--plots", "figures"]) == 0
    validated((tmp_path / "r.json").read_text())


def test_a_measurement_has_a_page_and_a_document(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    path = str(tmp_path / "one.db")
    with open_library(path) as library:
        library.save(experiment("measurement", ("only",)))
    assert run(["report", "latest", "--store", path, "--json", "answer.json"]) == 0
    assert validated((tmp_path / "answer.json").read_text())["kind"] == "measurement"
    assert run(["report", "latest", "--store", path, "-o", "page.html"]) == 0
    assert "Measurement of only" in (tmp_path / "page.html").read_text()
