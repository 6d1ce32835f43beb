"""What the runtime of a moving program did in a trial, as it tells when the program exits.

Each trial has a file of its own for that, so that the launcher may run ahead. Its name is as long
for each, because the environment moves the stack.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from steelyard.core.elf_file import section_start
from steelyard.core.errors import UsageError
from steelyard.core.experiment_spec import LaunchSpec, Variant
from steelyard.core.layout_level import PARTS_VARIABLE, REPORT_VARIABLE, LayoutLevel
from steelyard.core.layout_parts import ordered_parts
from steelyard.measure.left_file import remove_left
from steelyard.measure.program import environment_of, find_program

KIND = "layout-run"
NO_REPORT = {"problem": "the program wrote no report of its layout"}
_DAMAGED = {"problem": "the report of the program's layout is damaged"}
_TABLE = ".steelyard.layout"
_SUFFIX = ".layout"
_NUMBER_WIDTH = 10
_MOST_BYTES = 1 << 20
_SHELL = ("/bin/sh", "-c")


def moves(launch: LaunchSpec) -> bool:
    """Whether the program, or a file among its arguments, was linked by ``steelyard cc``."""
    start = launch.working_directory or ""
    try:
        program = find_program(launch.argv[0], environment_of(launch), launch.working_directory)
    except UsageError:
        return False
    files = (os.fsdecode(program), *launch.argv[1:])
    return any(_has_table(os.path.join(start, file)) for file in files)


def _has_table(path: str) -> bool:
    if not os.path.isfile(path):
        return False
    try:
        with open(path, "rb") as file:
            return section_start(file, _TABLE, 0) is not None
    except OSError:
        return False


def asks_for_layout(launch: LaunchSpec) -> bool:
    """Whether a layout is asked of the program, be it none."""
    return any(name == PARTS_VARIABLE for name, value in launch.environment if value is not None)


def tells_layout(launch: LaunchSpec) -> bool:
    """Whether a report is to be asked for: of a program that moves or should. A file that the
    variant names itself is left to whoever named it."""
    if any(name == REPORT_VARIABLE for name, _ in launch.environment):
        return False
    return asks_for_layout(launch) or moves(launch)


def check_layout(variant: Variant) -> None:
    """Refuse a layout that is asked of a program which was not linked to move.

    What a shell runs is not known before it runs; its trials tell.

    Raises
    ------
    UsageError
        The message names the program.
    """
    launch = variant.launch
    if not asks_for_layout(launch) or launch.argv[:2] == _SHELL or moves(launch):
        return
    raise UsageError(
        f"The layout of {variant.name} cannot be chosen, because {launch.argv[0]} was not built by "
        "`steelyard cc` or `steelyard c++`. Build it with CC='steelyard cc' and "
        "CXX='steelyard c++'; a program of the suite as 'suite:NAME@cc=steelyard cc'.",
        field="layout",
    )


def reporting_variant(variant: Variant, directory: str, position: int) -> Variant:
    """`variant` with a file for the report of the trial at `position`."""
    path = report_file(directory, position)
    remove_left(path)  # A former session may have left one.
    environment = (*variant.launch.environment, (REPORT_VARIABLE, path))
    return replace(variant, launch=replace(variant.launch, environment=environment))


def read_report(directory: str, position: int) -> dict[str, Any] | None:
    """What the program of a trial told, or the ``problem`` with that; None without a report."""
    try:
        with open(report_file(directory, position), "rb") as file:
            data = file.read(_MOST_BYTES + 1)
        told = json.loads(data)
        json.dumps(told, allow_nan=False)  # The program may have written what no answer can hold.
    except OSError:
        return None
    except (ValueError, RecursionError):
        return _DAMAGED
    if len(data) > _MOST_BYTES or not isinstance(told, dict) or told.get("kind") != KIND:
        return _DAMAGED
    return {name: value for name, value in told.items() if name not in ("schema", "kind")}


def realised_level(report: Mapping[str, Any]) -> str | None:
    """The level that a report tells of, in its normal form; None where it tells of none."""
    parts, interval_ns = report.get("parts"), report.get("interval_ns")
    if not isinstance(parts, dict) or not isinstance(interval_ns, int):
        return None
    on = ordered_parts(name for name, value in parts.items() if value)
    return str(LayoutLevel(on, interval_ns))


def report_file(directory: str, position: int) -> str:
    """Where the program of a trial tells of its layout."""
    return os.path.join(os.path.abspath(directory), f"{position:0{_NUMBER_WIDTH}}{_SUFFIX}")
