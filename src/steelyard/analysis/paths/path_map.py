"""Path maps: which call paths a function at a height of the stack may mean.

T. Mytkowicz, *Supporting Experiments in Computer Systems Research*, 2010, section 5.3.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from steelyard.core.errors import DataError

ROOT = -1
# No function begins where its stack does: what has this height has no key.
NO_HEIGHT = 0
# What no call of the program led to has no call site.
NO_CALL_SITE = 0


class PathNode(NamedTuple):
    """The end of a path: it was called from `parent`, with so much of the stack in use.

    Parameters
    ----------
    parent : int
        Index of an earlier node, or `ROOT`.
    function : int
        Address of the function in its file.
    height_bytes : int
        From where the stack begins to the canonical frame address of the function; `NO_HEIGHT`
        where that is on another stack than the thread's, as a signal handler may be.
    call_count : int
        How often the function was entered by this path. 0: it was found on the stack, its
        entries cannot be watched.
    call_site : int
        Where the call in the parent returns to, as an address in the file; `NO_CALL_SITE` where
        none led here, as to a signal handler, and in maps without call sites.
    """

    parent: int
    function: int
    height_bytes: int
    call_count: int
    call_site: int = NO_CALL_SITE


class Alignment(NamedTuple):
    """That a function aligns its stack.

    Parameters
    ----------
    alignment_bytes : int
        More than the 16 of all calls.
    depth_bytes : int or None
        From its canonical frame address down to the stack pointer that is aligned. None: heights
        below cannot be told by it; it varies, or the alignment is above 64 bytes, or the function
        calls others before too, or stacks began at several places in one thread.
    """

    alignment_bytes: int
    depth_bytes: int | None


@dataclass(frozen=True)
class PathMap:
    """What was learnt of one build of a program.

    Parameters
    ----------
    program : str
        Name of its file.
    build : str
        Its build id, or the digest of the file where it has none.
    run_count : int
    functions : mapping of int to str
        Names by address.
    unwatched : mapping of str to str
        Functions whose entries cannot be watched, and why.
    nodes : sequence of PathNode
        Parents before children.
    lost_count, guessed_count : int
        Entries that were not noted, and entries of which some callers were not found.
    marks : mapping of (int, int) to int
        Numbers of the program's marked calls, by caller and callee; empty: it has none.
    call_sites : mapping of int to str, or None
        What each call site of a node is called, by its address: a file with a line, or how far it
        is from the start of its function. None: paths leave call sites out.
    originals : mapping of int to int
        Of each clone the function that it is a copy of.
    aligning : mapping of int to Alignment, or None
        Functions of the map that align their stack: heights are those of a stack that begins at a
        multiple of 64. None: the map was written before this was kept.
    stack_residues : sequence of int, or None
        For each node where the stack began on which it was seen, modulo 64: it has its height on
        such stacks alone. None: heights are as `aligning` says.
    """

    program: str
    build: str
    run_count: int
    functions: dict[int, str]
    unwatched: dict[str, str]
    nodes: Sequence[PathNode]
    lost_count: int = 0
    guessed_count: int = 0
    marks: Mapping[tuple[int, int], int] = field(default_factory=dict[tuple[int, int], int])
    call_sites: Mapping[int, str] | None = None
    originals: Mapping[int, int] = field(default_factory=dict[int, int])
    aligning: Mapping[int, Alignment] | None = field(default_factory=dict[int, Alignment])
    stack_residues: Sequence[int] | None = None

    @property
    def has_call_sites(self) -> bool:
        """Whether paths of the same functions differ by their call sites."""
        return self.call_sites is not None

    @property
    def call_count(self) -> int:
        """Entries of functions in all runs."""
        return sum(node.call_count for node in self.nodes)


class PathNumbers:
    """Numbers for paths, equal where paths have the same functions and call sites, also in
    different maps."""

    def __init__(self) -> None:
        self._numbers: dict[tuple[int, int, int], int] = {}

    def of(self, nodes: Sequence[PathNode]) -> list[int]:
        """The number of the path to each node."""
        found: list[int] = []
        for node in nodes:
            parent = ROOT if node.parent == ROOT else found[node.parent]
            step = (parent, node.function, node.call_site)
            found.append(self._numbers.setdefault(step, len(self._numbers)))
        return found


def merged(first: PathMap, second: PathMap) -> PathMap:
    """One map of two of the same build; calls are added.

    Raises
    ------
    DataError
        They are of different builds, or one has call sites.
    """
    check_build(first, second.build, second.program)
    check_marks(first, second.marks)
    check_call_sites(first, second.has_call_sites)
    nodes = merged_nodes((first.nodes, second.nodes))
    return replace(
        first,
        run_count=first.run_count + second.run_count,
        functions={**first.functions, **second.functions},
        unwatched={**first.unwatched, **second.unwatched},
        nodes=nodes,
        lost_count=first.lost_count + second.lost_count,
        guessed_count=first.guessed_count + second.guessed_count,
        call_sites=_both_sites(first.call_sites, second.call_sites),
        originals={**first.originals, **second.originals},
        aligning=both_alignments(first, second),
    )


def _both_sites(
    first: Mapping[int, str] | None, second: Mapping[int, str] | None
) -> Mapping[int, str] | None:
    return None if first is None or second is None else {**first, **second}


def both_alignments(first: PathMap, second: PathMap) -> Mapping[int, Alignment] | None:
    """Which functions of two maps align their stack: where one cannot tell how, both cannot.

    Raises
    ------
    DataError
        One of them was written before this was kept, and functions of the other do.
    """
    if first.aligning is None or second.aligning is None:
        known = first.aligning or second.aligning or {}
        if known:
            names = {**first.functions, **second.functions}
            raise DataError(
                f"A map of {first.program} was learnt by a version that did not follow aligned "
                f"stacks.\n{names.get(min(known), hex(min(known)))} aligns the stack. Learn the "
                "program anew, with another --output.",
                field="map",
            )
        return None if first.aligning is second.aligning else {}
    both = [*first.aligning.items(), *second.aligning.items()]
    return {**dict(both), **dict(one for one in both if one[1].depth_bytes is None)}


def merged_nodes(trees: Sequence[Sequence[PathNode]]) -> list[PathNode]:
    """One tree of several: nodes of the same parent, function, height and call site become one."""
    places: dict[tuple[int, int, int, int], int] = {}
    nodes: list[PathNode] = []
    for tree in trees:
        place_of: list[int] = []
        for node in tree:
            parent = ROOT if node.parent == ROOT else place_of[node.parent]
            key = (parent, node.function, node.height_bytes, node.call_site)
            place = places.setdefault(key, len(nodes))
            if place == len(nodes):
                nodes.append(node._replace(parent=parent))
            else:
                old = nodes[place]
                nodes[place] = old._replace(call_count=old.call_count + node.call_count)
            place_of.append(place)
    return nodes


def check_build(known: PathMap, build: str, program: str) -> None:
    """Refuse what is of another build than the map.

    Raises
    ------
    DataError
        The builds differ.
    """
    if known.build != build:
        raise DataError(
            f"The map is of another build of {known.program}.\nIt was learnt of build "
            f"{known.build}; {program} is build {build}. Heights and addresses differ between "
            "builds: learn a new map, with another --output.",
            field="map",
        )


def check_marks(known: PathMap, marks: Mapping[tuple[int, int], int]) -> None:
    """Refuse a map whose marks are not those of the program.

    Raises
    ------
    DataError
        They differ.
    """
    if known.marks == marks:
        return
    has, lacks = ("no", "has") if not known.marks else ("other", "has no")
    raise DataError(
        f"The map has {has} marked calls, and {known.program} {lacks} such calls.\nLearn a map of "
        "the program as it is, with another --output.",
        field="map",
    )


def check_call_sites(known: PathMap, are_kept: bool) -> None:
    """Refuse paths with call sites beside a map without them, and the other way round.

    Raises
    ------
    DataError
        One side has them.
    """
    if known.has_call_sites == are_kept:
        return
    has, have, advice = (
        ("has no call sites", "have them", "without")
        if are_kept
        else ("has call sites", "have none", "with")
    )
    raise DataError(
        f"The map of {known.program} {has}, and the paths beside it {have}.\n"
        f"Learn those {advice} --call-sites, or with another map.",
        field="map",
    )


def refuse_call_sites(known: PathMap, what: str) -> None:
    """Refuse a map with call sites for what works on functions alone.

    Raises
    ------
    DataError
        It has them.
    """
    if known.has_call_sites:
        raise DataError(
            f"The map of {known.program} has call sites, and {what} works on paths without them.\n"
            "Learn a map without --call-sites, with another --output.",
            field="map",
        )


def functions_of(path_map: PathMap, node: int) -> Iterator[int]:
    """The functions of the path to a node, innermost first."""
    while node != ROOT:
        yield path_map.nodes[node].function
        node = path_map.nodes[node].parent
