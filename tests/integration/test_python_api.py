"""`import steelyard`, as a program of the user's."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

import steelyard

ROOT = Path(__file__).parents[2]
COST = r"cost=regex:cost (\d+):count"


@pytest.fixture
def store(tmp_path, monkeypatch):
    monkeypatch.setenv("STEELYARD_LOCK", str(tmp_path / "lock"))
    return str(tmp_path / "store.sqlite")


@pytest.fixture
def compared(store):
    return steelyard.compare(
        "echo cost 10",
        ["sh", "-c", "echo cost 20"],
        name=["old", "new"],
        runs=10,
        metric=COST,
        fail_if="slower:2%",
        store=store,
    )


def test_a_comparison_has_verdict_ratio_and_gate(compared):
    assert compared.verdicts == {"new": "slower"}
    ratio = compared.ratios[0]
    assert (ratio.baseline, ratio.candidate, ratio.metric) == ("old", "new", "cost")
    assert (ratio.low, ratio.ratio, ratio.high) == (2.0, 2.0, 2.0)
    assert not compared.passed
    assert compared.stopped == "runs"
    assert "few-blocks" in compared.cautions


def test_it_says_what_the_command_says(compared):
    assert "2.00 times as many" in str(compared)
    assert repr(compared) == f"<Weighed {compared.experiment}: new: slower>"
    document = compared.document()
    assert document["kind"] == "comparison"
    assert document["comparisons"][0]["ratio"]["estimate"] == 2.0


def test_its_page_is_shown_in_a_frame_of_its_own_and_saved(compared, tmp_path):
    shown = compared._repr_html_()
    assert shown.startswith("<iframe srcdoc=")
    assert 'sandbox="allow-scripts"' in shown
    assert "<script>" not in shown
    compared.save_html(str(tmp_path / "page.html"))
    assert (tmp_path / "page.html").read_text() == compared.html()


def test_its_measurements_are_an_arrow_table(compared):
    table = compared.table()
    costs = [row["value"] for row in table.to_pylist() if row["metric"] == "cost"]
    assert sorted(costs) == [10.0] * 10 + [20.0] * 10


def test_a_package_that_is_not_there_is_named(compared, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(steelyard.SteelyardError, match="pip install pandas"):
        compared.to_pandas()
    with pytest.raises(steelyard.SteelyardError, match="pip install polars"):
        compared.to_polars()


def test_one_goes_on_with_what_was_measured_in_its_own_store(compared, store):
    further = steelyard.resume(compared, runs="+5")
    assert further.experiment == compared.experiment
    assert [len(mean.values) for mean in further.means if mean.metric == "cost"] == [15, 15]
    found = steelyard.open_store(store)
    assert [(e.experiment, e.trials) for e in found.experiments()] == [(compared.experiment, 30)]
    assert found.load().verdicts == {"new": "slower"}
    assert found.load("latest", metric="wall_time").ratios[0].metric in ("cost", "wall_time")


def test_a_measurement_has_means_with_values(store):
    found = steelyard.measure(["true"], runs=5, store=store)
    assert found.verdicts == {}
    assert found.means[0].metric == "wall_time"
    assert found.means[0].unit == "s"
    assert len(found.means[0].values) == 5


WRONG = {
    "one command": (lambda s: steelyard.compare("true", store=s), "two commands"),
    "no program": (lambda s: steelyard.measure("no-such-program", store=s), "no-such-program"),
    "too many": (lambda s: steelyard.measure("true", runs=10**30, store=s), "runs"),
    "no number": (lambda s: steelyard.measure("true", runs="x", store=s), "runs"),
    "fails": (lambda s: steelyard.measure("false", runs=3, store=s), "exit code 1"),
    "no experiment": (lambda s: steelyard.open_store(s).load(), "experiment"),
    "nothing to resume": (lambda s: steelyard.resume("latest", store=s), "experiment"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_the_command_refuses_is_an_error_in_its_words(store, name):
    call, message = WRONG[name]
    with pytest.raises(steelyard.SteelyardError, match=message):
        call(store)


def test_an_interruption_is_raised_once_all_is_kept(store, tmp_path):
    script = (
        "import os, signal, steelyard\n"
        # A test run in the background ignores it.
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        f"store = {store!r}\n"
        "def stop(progress):\n"
        "    os.kill(os.getpid(), signal.SIGINT)\n"
        "try:\n"
        "    steelyard.measure('true', store=store, watch=stop)\n"
        "except KeyboardInterrupt as error:\n"
        "    print(error)\n"
        "print(steelyard.open_store(store).experiments()[0].stopped)\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    said, stopped = ran.stdout.splitlines()
    assert "what was measured is kept as" in said
    assert stopped == "interrupted"


def test_importing_the_package_loads_nothing_but_the_version(tmp_path):
    script = "import sys, steelyard; print(*[m for m in sys.modules if 'steelyard.' in m])"
    ran = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    assert ran.stdout.split() == ["steelyard.core", "steelyard.core.version"]


def test_the_notebook_of_the_examples_runs_as_it_stands(store, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("STEELYARD_STORE", store)
    notebook = json.loads((ROOT / "examples" / "weigh.ipynb").read_text())
    names: dict[str, object] = {}
    shown = []
    for cell in notebook["cells"]:
        if cell["cell_type"] != "code":
            continue
        body = ast.parse("".join(cell["source"])).body
        last = body.pop() if body and isinstance(body[-1], ast.Expr) else None
        exec(compile(ast.Module(body, []), "cell", "exec"), names)
        if last is not None:
            shown.append(eval(compile(ast.Expression(last.value), "cell", "eval"), names))
    assert any(isinstance(value, steelyard.Weighed) for value in shown)
