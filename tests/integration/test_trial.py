"""One trial through `steelyard trial run`, as an executor runs it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from steelyard.cli.main import run
from steelyard.core.errors import DataError
from steelyard.core.json_codec import trial_from_json
from steelyard.measure.trial import run_trial
from tests.integration.conftest import validate


def spec(*argv: str, **changes: Any) -> dict[str, Any]:
    return {"kind": "trial-spec", "variant": {"name": "a", "launch": {"argv": [*argv]}}, **changes}


def trial_run(tmp_path: Path, document: Any) -> tuple[int, dict[str, Any] | None]:
    """The exit status of the command, and what it wrote."""
    given, result = tmp_path / "spec.json", tmp_path / "result.json"
    given.write_text(json.dumps(document))
    status = run(["trial", "run", str(given), "--result", str(result)])
    return status, json.loads(result.read_text()) if result.exists() else None


def test_a_trial_is_run_from_a_file_into_a_file(tmp_path: Path) -> None:
    place = {"position": 7, "block": 3, "variant_index": 1, "build": 2, "warmup": True}
    status, result = trial_run(tmp_path, spec("true", **place))
    assert (status, result is not None) == (0, True)
    assert result is not None
    validate(result)
    trial = trial_from_json(result["trial"])
    assert (trial.position, trial.block, trial.variant, trial.build) == (7, 3, 1, 2)
    assert (trial.warmup, trial.status) == (True, "ok")
    assert trial.measurements["wall_time"][0] > 0
    assert len(result["provenance"]["programs"][0]["sha256"]) == 64


def test_a_failed_trial_is_a_result(tmp_path: Path) -> None:
    status, result = trial_run(tmp_path, spec("sh", "-c", "echo why >&2; exit 4"))
    assert status == 0
    assert result is not None
    validate(result)
    assert (result["trial"]["status"], result["trial"]["reason"]) == ("failed", "exit")
    assert result["trial"]["details"] == {"exit_code": 4, "stderr_tail": "why\n"}


def test_values_that_the_program_prints_are_taken(tmp_path: Path) -> None:
    metrics = [{"name": "t", "unit": "s", "source": "json", "pattern": "t"}]
    _, result = trial_run(tmp_path, spec("echo", '{"t": [1, 2]}', metrics=metrics))
    assert result is not None
    assert result["trial"]["measurements"] == {"t": [1.0, 2.0]}


@pytest.mark.parametrize(
    ("document", "why"),
    [
        ([], "must be a JSON object"),
        ({"kind": "trial-spec"}, "lacks the field 'variant'"),
        (spec("true", colour="blue"), "unknown field 'colour'"),
        (spec("true", kind="plan"), "kind must be 'trial-spec'"),
        (spec("true", position="first"), "position must be of type int"),
        (spec("true", metrics=7), "metrics must be a list"),
        ({"variant": {"name": "a"}}, "lacks the field 'launch'"),
    ],
)
def test_what_is_wrong_in_a_specification_is_told(document: Any, why: str) -> None:
    with pytest.raises(DataError, match=why):
        run_trial(document)


def test_a_specification_that_is_no_json_is_refused(tmp_path: Path) -> None:
    given = tmp_path / "spec.json"
    given.write_bytes(b"\xff")
    assert run(["trial", "run", str(given)]) == 2
