"""What a trial must have written: compared by its clean-up, and read from what that says."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from steelyard.core.experiment_spec import OutputCheck, Variant
from steelyard.core.json_codec import to_json

SUFFIX = ".checked"
OUTPUT_SUFFIX = ".out"
_PROGRAM = os.path.join(os.path.dirname(__file__), "check_output.py")


def output_file(directory: str, position: int) -> str:
    """Where the launcher keeps what a trial printed."""
    return os.path.join(directory, f"{position}{OUTPUT_SUFFIX}")


def checked_variant(variant: Variant, directory: str, position: int) -> Variant:
    """`variant` with a clean-up that compares what the trial `position` wrote, if it has checks.

    Parameters
    ----------
    directory : str
        Where the launcher keeps the outputs.
    """
    if not variant.checks:
        return variant
    answer = answer_file(directory, position)
    with suppress(FileNotFoundError):  # A former session may have left one.
        os.unlink(answer)
    output = output_file(os.path.abspath(directory), position)
    start = variant.launch.working_directory or os.getcwd()
    checks = [
        {
            **to_json(check),
            "path": output if check.file is None else os.path.join(start, check.file),
        }
        for check in variant.checks
    ]
    compare = (sys.executable, "-IS", _PROGRAM, json.dumps(checks), answer)
    return replace(variant, cleanup=(*compare, *(variant.cleanup or ())))


def found_differences(record: Mapping[str, Any], checks: Sequence[OutputCheck]) -> list[str]:
    """Where the output of a trial differs from what it should be, a sentence each.

    Parameters
    ----------
    record : mapping
        The launcher's. A trial that failed otherwise has no differences.
    """
    if record.get("status") != "ok" or not checks:
        return []
    directory = os.path.dirname(record.get("output") or "")
    try:
        with open(answer_file(directory, record["trial"]), encoding="utf-8") as file:
            return list(map(str, json.load(file)))
    except (OSError, ValueError):
        return ["its output was not compared, because the comparison was interrupted"]


def answer_file(directory: str, position: int) -> str:
    """Where the clean-up of a trial says what it found."""
    return os.path.join(os.path.abspath(directory), f"{position}{SUFFIX}")
