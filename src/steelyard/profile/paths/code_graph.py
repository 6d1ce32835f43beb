"""The call graph of a program, read from its code, and what the C library has below it."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from steelyard.analysis.paths.call_graph import (
    FUNCTION,
    HELD,
    LIBRARY,
    MOST_ARGUMENTS,
    POINTER,
    CallGraph,
    Transfer,
    Underneath,
)
from steelyard.analysis.paths.path_map import ROOT
from steelyard.core.errors import SteelyardError, UsageError
from steelyard.core.native_program import native_program
from steelyard.core.program_loader import has_other_loader, loader_of
from steelyard.profile.paths.declared_arguments import declared_arguments
from steelyard.profile.paths.learning_run import Surroundings, learning_run
from steelyard.profile.paths.planner_output import PLANNER_ADVICE, planner_lines

_JUMP = "jump-"
_UNKNOWN = "-"


def read_call_graph(program: str, field: str = "--static") -> CallGraph:
    """The call graph of a program.

    Parameters
    ----------
    program : str
        Its file.
    field : str
        The option that names it.

    Raises
    ------
    UsageError
        It is no program that can be read.
    MissingCapabilityError
        The planner was not built.
    """
    lines = planner_lines("--graph", program, "calls", field)
    graph = _graph([line.split("\t") for line in lines])
    counts = [graph.reads, declared_arguments(program, graph.taken - graph.virtual.keys())]
    passed = {at: max(one.get(at, 0) for one in counts) for one in counts for at in one}
    return replace(graph, reads={at: min(n, MOST_ARGUMENTS) for at, n in passed.items()})


def _graph(rows: list[list[str]]) -> CallGraph:
    def addresses(kind: str) -> tuple[int, ...]:
        return tuple(int(row[1], 16) for row in rows if row[0] == kind)

    kinds = (FUNCTION, HELD, POINTER, LIBRARY)
    return CallGraph(
        functions=addresses("function"),
        parts={int(row[1], 16): int(row[2], 16) for row in rows if row[0] == "part"},
        transfers=tuple(_transfer(row) for row in rows if row[0].removeprefix(_JUMP) in kinds),
        taken=frozenset(addresses("taken")),
        exported=frozenset(addresses("exported")),
        varying={int(row[1], 16): row[2] for row in rows if row[0] == "varying"},
        first=next(iter(addresses("first")), None),
        initial=addresses("initial"),
        final=addresses("final"),
        virtual=_virtual(rows),
        reads={int(row[1], 16): int(row[2]) for row in rows if row[0] == "reads"},
    )


def _virtual(rows: list[list[str]]) -> dict[int, frozenset[int]]:
    found: dict[int, set[int]] = {}
    for row in rows:
        if row[0] == "virtual":
            found.setdefault(int(row[1], 16), set()).add(int(row[2], 16))
    return {function: frozenset(offsets) for function, offsets in found.items()}


def _transfer(row: list[str]) -> Transfer:
    kind = row[0].removeprefix(_JUMP)
    is_library = kind == LIBRARY
    return Transfer(
        caller=int(row[1], 16),
        kind=kind,
        is_jump=kind != row[0],
        height_bytes=None if row[2] == _UNKNOWN else int(row[2]),
        callee=None if is_library or row[3] == _UNKNOWN else int(row[3], 16),
        symbol=row[3] if is_library else "",
        arguments=int(row[4]) if kind == POINTER else MOST_ARGUMENTS,
    )


def read_underneath(program: str) -> Underneath:
    """How high the stack is where the C library first calls functions of a program.

    Another program that loads the same library is run for a moment, and its paths are noted.

    Raises
    ------
    UsageError
        The program is loaded by another library than that one.
    SteelyardError
        That program did not run.
    MissingCapabilityError
        It was not built.
    """
    probe = native_program("steelyard-path-probe", "the probe of stacks", advice=PLANNER_ADVICE)
    own, known = loader_of(program), loader_of(probe)
    if own != known:
        other = has_other_loader(program)
        advice = "Only --paths auto finds paths of it." if other else "Give a learnt map of it."
        raise UsageError(
            f"How high the stack is in the first function of {program} is not known.\n"
            f"It is loaded by {own or 'nothing'}, and the probe of stacks by {known}. {advice}",
            field="--static",
        )
    return _probed(probe)


@cache
def _probed(probe: str) -> Underneath:
    graph = read_call_graph(probe)
    learnt = learning_run([probe], probe, Surroundings()).path_map
    heights = {node.function: node.height_bytes for node in learnt.nodes if node.parent == ROOT}
    threads = graph.taken - {graph.first, *graph.initial, *graph.final}
    first, initial, thread = (
        next((heights[one] for one in kind if one in heights), None)
        for kind in ((graph.first,), graph.initial, sorted(threads))
    )
    if first is None or initial is None or thread is None:
        raise SteelyardError(
            "The probe of stacks was not followed.\nGive a learnt map of the program, which says "
            "how high the stack is in its first function.",
            field="--static",
        )
    return Underneath(first, initial, thread)
