"""Make frames of a program larger, so that heights tell its call paths apart."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace

from steelyard.analysis.paths.markable_calls import (
    MarkableCalls,
    markable_calls,
    other_calls,
)
from steelyard.analysis.paths.path_map import PathMap, check_build, refuse_call_sites
from steelyard.analysis.paths.resizing import (
    MOST_WRAPPED_RATIO,
    Resizing,
    ResizingRules,
    calls_learnt,
    resized,
)
from steelyard.analysis.paths.unlearnt_frames import unlearnt_frames
from steelyard.analysis.paths.wrappable_calls import Call, ProgramCalls, wrappable_calls
from steelyard.app.profile.path_cloning import ClonedProgram, cloned
from steelyard.app.profile.program_check import check_program
from steelyard.core.errors import DataError
from steelyard.profile.executable import FunctionNames
from steelyard.profile.paths.aligned_stacks import with_alignments
from steelyard.profile.paths.code_graph import read_call_graph
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
    marks_unlearnt : bool
        Calls of the program that no learnt path has are marked too.
    budget_ratio, goal, most_wrapped_ratio : float
        As `analysis.paths.resizing.ResizingRules` has them.
    most_cloned_ratio : float or None
        Functions are cloned too, whose code beside that of the program is so much at most.
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
    most_cloned_ratio: float | None = None
    program: str | None = None
    output: str | None = None
    marks_unlearnt: bool = False


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
    return resize_map(path_map, request)


def resize_map(path_map: PathMap, request: ResizingRequest) -> Resizing:
    """The same for a map that is already read, whatever file the request names.

    Raises
    ------
    DataError
        The map is of another build, or code cannot be added to the program.
    UsageError
        The program cannot be read.
    """
    rules = ResizingRules(
        request.seed,
        wraps_calls=request.wraps_calls,
        budget_ratio=request.budget_ratio,
        goal=request.goal,
        marks_calls=request.marks_calls,
        most_wrapped_ratio=request.most_wrapped_ratio,
    )
    if request.program is None:
        return resized(path_map, rules)
    check_program(request.program)
    build = build_of(request.program)
    check_build(path_map, build, os.path.basename(request.program))
    path_map = with_alignments(path_map, request.program)
    frames = read_frames(request.program)
    rules = replace(rules, frames=frames.most_bytes())
    clones = None
    changes_calls = request.wraps_calls or request.marks_calls
    calls = ProgramCalls((), {})
    if changes_calls or request.most_cloned_ratio is not None:
        calls = read_calls(request.program)
    if request.most_cloned_ratio is not None:
        clones = cloned(request.program, path_map, frames, calls, rules, request.most_cloned_ratio)
        path_map, calls = clones.path_map, clones.calls
        rules = replace(
            rules, frames=clones.clones.most_bytes(), first_bytes=clones.outcome.choice.frame_bytes
        )
    program = _program(request, frames, calls, path_map)
    rules = replace(
        rules, calls=program.wrappable, markable=program.markable, others=program.others
    )
    found = resized(path_map, rules)
    found = replace(
        found,
        rigid=_rigid(found, program.frames),
        unwrapped=program.unwrapped if request.wraps_calls else {},
        unmarked=program.unmarked if request.marks_calls else {},
        before=found.before if clones is None else clones.outcome.before,
        cloning=None if clones is None else clones.outcome,
        unlearnt_frame_bytes=program.unlearnt,
    )
    if request.output is not None:
        _write(found, program, request.output, clones)
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
    others: tuple[MarkableCalls, ...] = ()
    unlearnt: dict[int, int] = field(default_factory=dict[int, int])


def _program(
    request: ResizingRequest, frames: ProgramFrames, calls: ProgramCalls, path_map: PathMap
) -> _Program:
    path = request.program or ""
    if not request.wraps_calls and not request.marks_calls:
        return _Program(path, frames, calls, frozenset(), {})
    names = path_map.functions
    learnt = calls_learnt(path_map)
    wrappable, unwrappable = wrappable_calls(calls, learnt)
    markable, unmarkable = markable_calls(calls, learnt)
    unwrapped, unmarked = (
        {(names[one], names[other]): why for (one, other), why in refused.items()}
        for refused in (unwrappable, unmarkable)
    )
    others: tuple[MarkableCalls, ...] = ()
    unlearnt: dict[int, int] = {}
    if request.marks_unlearnt:
        unseen = [at for at, name in _names_of(path, calls).items() if name in path_map.unwatched]
        graph = read_call_graph(path, "--program")
        others = other_calls(calls, learnt, unseen, graph.varying)
        run = {node.function for node in path_map.nodes} | set(unseen)
        unlearnt = unlearnt_frames(graph, run, frames.most_bytes())
    return _Program(path, frames, calls, wrappable, unwrapped, markable, unmarked, others, unlearnt)


def _names_of(path: str, calls: ProgramCalls) -> dict[int, str]:
    names = FunctionNames(path)
    return {function: names.at(function) for function in calls.functions}


def _write(found: Resizing, program: _Program, output: str, clones: ClonedProgram | None) -> None:
    """Write the program with what was found, and its map."""
    originals = found.path_map.originals
    own = {at: size for at, size in found.frame_bytes.items() if at not in originals}
    data = with_larger_frames(program.frames, {**own, **program.unlearnt})
    numbers = {} if found.marks is None else found.marks.numbers
    added = None
    if clones is not None and clones.outcome.choice.clones.clones:
        added = clones.clones.added(program.path, found.frame_bytes)
    if found.call_bytes or numbers or added is not None:
        names = {**_names_of(program.path, program.calls), **found.path_map.functions}
        check_mark_carrier(program.path, numbers)
        data = with_wrappers(bytes(data), program.calls, found.call_bytes, names, numbers, added)
    write_program(data, program.path, output)
    resized_map = replace(found.path_map, program=os.path.basename(output), build=build_of(output))
    write_map(resized_map, map_of_output(output))


def map_of_output(output: str) -> str:
    """Where the map of a program with larger frames is written."""
    return f"{output}.paths"


def _rigid(found: Resizing, frames: ProgramFrames) -> dict[str, str]:
    originals = found.path_map.originals
    return {
        name: frames.reasons[originals.get(function, function)]
        for function, name in found.path_map.functions.items()
        if originals.get(function, function) in frames.reasons
    }
