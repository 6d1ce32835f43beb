"""Parts of a plan through `steelyard trial run`, as an executor runs them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from steelyard.cli.main import run
from steelyard.core.experiment_results import Trial
from steelyard.core.experiment_spec import ExperimentSpec
from steelyard.core.json_codec import trial_from_json
from steelyard.design.plan_part import part_document, plan_part
from steelyard.host.lock import machine_lock
from steelyard.run.run_experiment import Place, run_experiment
from tests.integration.conftest import User, validate
from tests.plans import PLANS, spec_of


def trial_run(tmp_path: Path, document: Any) -> tuple[int, dict[str, Any] | None]:
    """The exit status of the command, and what it wrote."""
    given, result = tmp_path / "part.json", tmp_path / "result.json"
    given.write_text(json.dumps(document))
    result.unlink(missing_ok=True)
    status = run(["trial", "run", str(given), "--result", str(result)])
    return status, json.loads(result.read_text()) if result.exists() else None


def ran(tmp_path: Path, spec: ExperimentSpec, *positions: int) -> list[Trial]:
    """The trials of a part of `spec`; every document keeps its schema."""
    part = part_document(plan_part(spec, positions, attempt=1))
    validate(part)
    status, result = trial_run(tmp_path, part)
    assert (status, result is not None) == (0, True)
    assert result is not None
    validate(result)
    assert (result["experiment"], result["attempt"]) == (spec.identifier, 1)
    assert (result["undone"], result["interrupted"]) == ([], False)
    return [trial_from_json(trial) for trial in result["trials"]]


def same(trial: Trial) -> tuple[Any, ...]:
    """What of a trial follows from its plan."""
    place = trial.block, trial.variant, trial.build, trial.warmup, trial.levels
    printed = tuple(trial.measurements.get("printed", ()))
    return trial.position, *place, trial.status, trial.reason, printed


@pytest.mark.parametrize("name", PLANS)
def test_parts_that_run_by_themselves_come_to_what_the_whole_comes_to(
    name: str, tmp_path: Path
) -> None:
    spec = PLANS[name]
    whole = run_experiment(spec, Place(str(tmp_path / "store"))).trials
    block = spec.trials_of_variant * len(spec.variants)
    positions = sorted(trial.position for trial in whole if not trial.warmup)
    parts = [positions[first : first + block] for first in range(0, len(positions), block)]
    warmups = [trial.position for trial in whole if trial.warmup]
    parts += [warmups] if warmups else []
    # In another order than the whole ran: a part depends on no other.
    apart = [trial for part in reversed(parts) for trial in ran(tmp_path, spec, *part)]
    assert sorted(map(same, apart)) == sorted(map(same, whole))


def test_what_exactly_was_run_is_in_the_result(tmp_path: Path) -> None:
    part = part_document(plan_part(PLANS["builds"], [0, 1]))
    _, result = trial_run(tmp_path, part)
    assert result is not None
    assert [line["build"] for line in result["provenance"]["builds"]] == [0, 0]
    assert len(result["provenance"]["programs"][0]["sha256"]) == 64
    assert result["provenance"]["host"]


def test_a_failed_trial_is_a_result(tmp_path: Path) -> None:
    (trial,) = ran(tmp_path, spec_of("echo why >&2; exit 4"), 3)
    assert (trial.status, trial.reason) == ("failed", "exit")
    assert trial.details == {"exit_code": 4, "stderr_tail": "why\n"}


@pytest.mark.usefixtures("unmeasured")  # The interruption may come where lines are counted.
def test_a_part_that_is_interrupted_says_what_was_not_run(
    user: User, script: Callable[[str], str]
) -> None:
    # The second program interrupts who runs it, as a terminal or a cluster does.
    first = "test -e once || { touch once; echo printed 1; exit; }"
    parent = "awk '/PPid/ {print $2}' /proc/$PPID/status"
    path = script(f'{first}; kill -INT "$({parent})"; exec sleep 900')
    spec = spec_of(f"exec {path}")
    (user.home / "part.json").write_text(json.dumps(part_document(plan_part(spec, range(10)))))
    told = user.types("trial", "run", "part.json")
    assert told.status == 130, told.err
    result = told.document()
    assert [trial["position"] for trial in result["trials"]] == [0]
    assert (result["undone"], result["interrupted"]) == (list(range(1, 10)), True)


def test_a_part_waits_for_no_machine_unless_it_is_told_to(tmp_path: Path) -> None:
    with machine_lock("something else"):
        status, result = trial_run(tmp_path, part_document(plan_part(PLANS["blocks"], [0])))
    assert (status, result) == (2, None)


@pytest.mark.parametrize("content", [b"\xff", b"{", b"[" * 100_000, b'{"kind": "trial-spec"}'])
def test_a_file_that_is_no_part_of_a_plan_is_refused(
    content: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = tmp_path / "part.json"
    given.write_bytes(content)
    assert run(["trial", "run", str(given)]) == 2
    assert "Traceback" not in capsys.readouterr().err
