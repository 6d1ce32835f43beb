"""A trial whose output is not what it must be has failed, and says where it differs."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from steelyard.core.experiment_results import Trial
from steelyard.core.experiment_spec import (
    ExperimentSpec,
    IterationsSpec,
    LaunchSpec,
    MetricSpec,
    OutputCheck,
    Variant,
)
from steelyard.core.stopping_spec import StoppingSpec
from steelyard.design.plan_part import plan_part
from steelyard.measure.journal_reader import read_journal
from steelyard.run.run_experiment import Place, run_experiment
from steelyard.run.run_part import run_part
from tests.plans import IDENTIFIER

FINE = OutputCheck("sha256", hashlib.sha256(b"fine\n").hexdigest())
WALL_TIME = MetricSpec("wall_time", "s")


def variant(script: str, *checks: OutputCheck, **changes) -> Variant:
    return Variant("program", LaunchSpec(("/bin/sh", "-c", script)), checks=checks, **changes)


def trials_of(tmp_path: Path, *variants: Variant, runs: int = 3, **changes) -> list[Trial]:
    """The trials of an experiment, which its journal has too."""
    metrics = changes.pop("metrics", (WALL_TIME,))
    spec = ExperimentSpec(
        IDENTIFIER,
        "measurement",
        variants,
        metrics,
        1,
        stopping=StoppingSpec(runs=runs),
        **changes,
    )
    store = tmp_path / "store"
    found = run_experiment(spec, Place(str(store)))
    journal = tmp_path / "store.journals" / f"{IDENTIFIER}.jsonl"
    kept = read_journal(str(journal))
    assert kept.trials == found.trials
    left = set(os.listdir(tmp_path / "store.journals" / f"{IDENTIFIER}.work")) - {
        "stderr",
        "started",
    }
    assert not left
    return list(found.trials)


def test_an_output_as_it_must_be_is_a_trial_that_counts(tmp_path):
    trials = trials_of(tmp_path, variant("echo fine", FINE), variant("echo whatever"))
    assert {trial.status for trial in trials} == {"ok"}
    assert len(trials) == 6


def test_an_output_that_differs_fails_its_trial_and_says_where(tmp_path):
    trials = trials_of(tmp_path, variant("echo wrong", FINE), variant("echo fine", FINE))
    assert {(trial.variant, trial.status, trial.reason) for trial in trials} == {
        (0, "failed", "check"),
        (1, "ok", None),
    }
    told = [trial.details["error"] for trial in trials if trial.status == "failed"]
    assert all(FINE.expected in error for error in told)


def test_a_file_is_compared_before_the_next_trial_writes_it_anew(tmp_path):
    counter, out = tmp_path / "count", tmp_path / "out"
    counter.write_text("")
    (tmp_path / "wanted").write_text("2\n")
    script = f"echo >> {counter}; wc -l < {counter} > {out}"
    check = OutputCheck("text", str(tmp_path / "wanted"), file=str(out))
    trials = trials_of(tmp_path, variant(script, check), runs=4)
    assert [trial.status for trial in trials] == ["failed", "ok", "failed", "failed"]
    assert "'1', not '2'" in trials[0].details["error"]


def test_a_file_of_a_former_trial_does_not_pass_for_that_of_this_one(tmp_path):
    flag, out = tmp_path / "flag", tmp_path / "out"
    (tmp_path / "wanted").write_text("fine\n")
    check = OutputCheck("text", str(tmp_path / "wanted"), file=str(out))
    script = f"[ -e {flag} ] || echo fine > {out}; touch {flag}"
    trials = trials_of(tmp_path, variant(script, check), runs=2)
    assert [trial.status for trial in trials] == ["ok", "failed"]


def test_the_clean_up_of_the_variant_is_run_after_the_comparison(tmp_path):
    out, cleaned = tmp_path / "out", tmp_path / "cleaned"
    (tmp_path / "wanted").write_text("fine\n")
    check = OutputCheck("text", str(tmp_path / "wanted"), file=str(out))
    after = ("/bin/sh", "-c", f"echo >> {cleaned}; rm -f {out}")
    trials = trials_of(tmp_path, variant(f"echo fine > {out}", check, cleanup=after), runs=2)
    assert [trial.status for trial in trials] == ["ok", "ok"]
    assert cleaned.read_text() == "\n\n"


def test_a_trial_that_failed_otherwise_keeps_its_reason(tmp_path):
    trials = trials_of(tmp_path, variant("echo wrong; exit 3", FINE), runs=1)
    assert trials[0].reason == "exit"


def test_checks_and_iterations_go_together(tmp_path):
    out = tmp_path / "out"
    (tmp_path / "wanted").write_text("fine\n")
    check = OutputCheck("text", str(tmp_path / "wanted"), file=str(out))
    script = f"""echo fine > {out}; echo '{{"value": 3}}' > $STEELYARD_ITERATIONS"""
    metric = MetricSpec("iteration_time", "s", source="iterations")
    trials = trials_of(
        tmp_path,
        variant(script, check),
        metrics=(metric, WALL_TIME),
        iterations=IterationsSpec("json-lines"),
    )
    assert [trial.status for trial in trials] == ["ok"] * 3
    assert trials[0].measurements["iteration_time"] == (3.0,)


@pytest.mark.parametrize(("said", "status"), [("fine", "ok"), ("wrong", "failed")])
def test_a_trial_of_a_part_is_checked(said, status):
    spec = ExperimentSpec(
        IDENTIFIER, "measurement", (variant(f"echo {said}", FINE),), (WALL_TIME,), seed=1
    )
    (trial,) = run_part(plan_part(spec, [4])).trials
    assert trial.status == status
    assert trial.reason == (None if status == "ok" else "check")
