"""Make frames of a program larger, so that heights tell its call paths apart."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace

from steelyard.analysis.paths.markable_calls import MarkableCalls, markable_calls
from steelyard.analysis.paths.path_map import PathMap, check_build, refuse_call_sites
from steelyard.analysis.paths.resizing import (
    MOST_WRAPPED_RATIO,
    Resizing,
    ResizingRules,
    calls_learnt,
    resized,
)
from steelyard.analysis.paths.wrappable_calls import Call, ProgramCalls, wrappable_calls
from steelyard.app.profile.program_check import check_program
from steelyard.core.errors import DataError
from steelyard.profile.paths.frame_sizes import (
    ProgramFrames,
    read_frames,
    with_larger_frames,
    write_program,
)
from steelyard.profile.paths.learning_run import build_of
from steelyard.profile.paths.map_file import read_map, write_map
from steelyard.profile.paths.marked_program import check_mark_carrier
from steelyard.profile.paths.wrapped_program import read_calls, with_wrappers


@dataclass(frozen=True)
class ResizingRequest:
    """What is asked for.

    Parameters
    ----------
    map_path : str
    seed : int
    wraps_calls, marks_calls : bool
    budget_ratio, goal, most_wrapped_ratio : float
        As `analysis.paths.resizing.ResizingRules` has them.
    program, output : str, optional
        A program, of whose frames some can grow, and where it is written with larger ones; its map
        is written beside it.
    """

    map_path: str
    seed: int
    wraps_calls: bool
    marks_calls: bool
    budget_ratio: float
    goal: float
    most_wrapped_ratio: float = MOST_WRAPPED_RATIO
    program: str | None = None
    output: str | None = None


def resize_paths(request: ResizingRequest) -> Resizing:
    """Search sizes of frames that tell the paths of a map apart, and make a program have them.

    Raises
    ------
    DataError
        The map is damaged or empty, or of another build.
    UsageError
        The program cannot be read.
    """
    path_map = read_map(request.map_path)
    if not path_map.nodes:
        raise DataError(f"The map {request.map_path} has no paths.", field="map")
    refuse_call_sites(path_map, "resize")
    program = None
    if request.program is not None:
        check_program(request.program)
        build = build_of(request.program)
        check_build(path_map, build, os.path.basename(request.program))
        program = _program(request.program, path_map, request.wraps_calls or request.marks_calls)
    rules = ResizingRules(
        request.seed,
        frames=None if program is None else program.frames.most_bytes(),
        wraps_calls=request.wraps_calls,
        budget_ratio=request.budget_ratio,
        goal=request.goal,
        marks_calls=request.marks_calls,
        calls=None if program is None else program.wrappable,
        markable=None if program is None else program.markable,
        most_wrapped_ratio=request.most_wrapped_ratio,
    )
    found = resized(path_map, rules)
    if program is None:
        return found
    found = replace(
        found,
        rigid=_rigid(found, program.frames),
        unwrapped=program.unwrapped if request.wraps_calls else {},
        unmarked=program.unmarked if request.marks_calls else {},
    )
    if request.output is not None:
        _write(found, program, request.output)
    return found


@dataclass(frozen=True)
class _Program:
    """A program, with what of it can be made higher."""

    path: str
    frames: ProgramFrames
    calls: ProgramCalls
    wrappable: frozenset[Call]
    unwrapped: dict[tuple[str, str], str]
    markable: tuple[MarkableCalls, ...] = ()
    unmarked: dict[tuple[str, str], str] = field(default_factory=dict[tuple[str, str], str])


def _program(path: str, path_map: PathMap, changes_calls: bool) -> _Program:
    frames = read_frames(path)
    if not changes_calls:
        return _Program(path, frames, ProgramCalls((), {}), frozenset(), {})
    calls, names = read_calls(path), path_map.functions
    learnt = calls_learnt(path_map)
    wrappable, unwrappable = wrappable_calls(calls, learnt)
    markable, unmarkable = markable_calls(calls, learnt)
    unwrapped, unmarked = (
        {(names[one], names[other]): why for (one, other), why in refused.items()}
        for refused in (unwrappable, unmarkable)
    )
    return _Program(path, frames, calls, wrappable, unwrapped, markable, unmarked)


def _write(found: Resizing, program: _Program, output: str) -> None:
    """Write the program with what was found, and its map."""
    data = with_larger_frames(program.frames, found.frame_bytes)
    numbers = {} if found.marks is None else found.marks.numbers
    if found.call_bytes or numbers:
        names = found.path_map.functions
        check_mark_carrier(program.path, numbers)
        data = with_wrappers(bytes(data), program.calls, found.call_bytes, names, numbers)
    write_program(data, program.path, output)
    resized_map = replace(found.path_map, program=os.path.basename(output), build=build_of(output))
    write_map(resized_map, map_of_output(output))


def map_of_output(output: str) -> str:
    """Where the map of a program with larger frames is written."""
    return f"{output}.paths"


def _rigid(found: Resizing, frames: ProgramFrames) -> dict[str, str]:
    return {
        name: frames.reasons[function]
        for function, name in found.path_map.functions.items()
        if function in frames.reasons
    }
