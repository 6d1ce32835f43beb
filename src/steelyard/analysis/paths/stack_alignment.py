"""Heights of the stack below functions that align it, for any place where the stack begins.

A function that aligns its stack to A bytes clears the lower bits of the stack pointer at an address
B - h - d: the stack begins at B, the function is h bytes high and has d bytes in use by then. So it
takes (B - h - d) mod A bytes more, and what it calls is so much higher. B mod A is all that the
heights below depend on (System V ABI, AMD64 supplement, 3.2.2 and 3.4.1: B is a multiple of 16).

A map has the heights for a stack that begins at a multiple of `LONGEST_BYTES`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from steelyard.analysis.paths.path_map import (
    NO_HEIGHT,
    ROOT,
    Alignment,
    PathMap,
    PathNode,
    both_alignments,
    merged_nodes,
)
from steelyard.analysis.paths.path_marks import NO_MARK

# What all calls keep, and the alignment up to which heights are told.
KEPT_BYTES, LONGEST_BYTES = 16, 64
# Where the stack of a map begins.
CANONICAL_START = 0
ANY_STACK = -1


class Key(NamedTuple):
    """What a sample says of its path.

    Parameters
    ----------
    function, height_bytes, mark : int
    residue_bytes : int
        Where the stack begins, modulo the largest alignment of the map's functions; `ANY_STACK`
        where that is not known.
    """

    function: int
    height_bytes: int
    mark: int = NO_MARK
    residue_bytes: int = CANONICAL_START


def known_alignment(alignment_bytes: int, depth_bytes: int | None) -> Alignment:
    """An alignment, whose depth is kept where heights below can be told by it."""
    is_known = depth_bytes is not None and alignment_bytes <= LONGEST_BYTES
    return Alignment(alignment_bytes, depth_bytes if is_known else None)


def modulus_bytes(path_map: PathMap) -> int:
    """The heights of a map are the same for stacks that begin alike modulo this."""
    if path_map.stack_residues is not None:
        return LONGEST_BYTES
    known = (one for one in _aligning(path_map).values() if one.depth_bytes is not None)
    return max((one.alignment_bytes for one in known), default=KEPT_BYTES)


def residues(path_map: PathMap) -> range:
    """Where stacks may begin, modulo `modulus_bytes`."""
    return range(0, modulus_bytes(path_map), KEPT_BYTES)


def moved(
    nodes: Sequence[PathNode], aligning: Mapping[int, Alignment], start: int, to: int
) -> list[PathNode]:
    """The nodes of a stack that begins at `start`, with their heights where it begins at `to`."""
    if not aligning or start % LONGEST_BYTES == to % LONGEST_BYTES:
        return list(nodes)
    found: list[PathNode] = []
    # By how much what a node calls is higher.
    higher: list[int] = []
    for node in nodes:
        more = 0 if node.parent == ROOT else higher[node.parent]
        height = node.height_bytes
        if height != NO_HEIGHT:
            alignment = aligning.get(node.function)
            found.append(node._replace(height_bytes=height + more))
            if alignment is not None and alignment.depth_bytes is not None:
                taken = height + alignment.depth_bytes
                more += (to - taken - more) % alignment.alignment_bytes
                more -= (start - taken) % alignment.alignment_bytes
        else:
            found.append(node)
        higher.append(more)
    return found


def more_by_alignment(path_map: PathMap, node: PathNode, higher_bytes: int) -> int:
    """How much more the alignment of a node's function takes where the node is so much higher."""
    alignment = _aligning(path_map).get(node.function)
    if alignment is None or alignment.depth_bytes is None or node.height_bytes == NO_HEIGHT:
        return 0
    taken = node.height_bytes + alignment.depth_bytes
    size = alignment.alignment_bytes
    return (CANONICAL_START - taken - higher_bytes) % size - (CANONICAL_START - taken) % size


def beyond_telling(path_map: PathMap, whole: Mapping[int, int] | None = None) -> dict[int, int]:
    """Functions whose heights are not known for every stack, each with a function above it that
    aligns its stack in a way that cannot be told.

    Parameters
    ----------
    path_map : PathMap
    whole : mapping of int to int, optional
        The function that a function is a part of.
    """
    whole = whole or {}
    unknown = {at for at, one in _aligning(path_map).items() if one.depth_bytes is None}
    found: dict[int, int] = {}
    if not unknown:
        return found
    above: list[int | None] = []
    for node in path_map.nodes:
        by = None if node.parent == ROOT else above[node.parent]
        if by is not None:
            found.setdefault(whole.get(node.function, node.function), by)
        above.append(node.function if by is None and node.function in unknown else by)
    return found


def at_stack(path_map: PathMap, residue_bytes: int) -> list[PathNode]:
    """The nodes of a map for a stack."""
    if path_map.stack_residues is not None:
        pairs = zip(path_map.nodes, path_map.stack_residues, strict=True)
        return [
            node if residue == residue_bytes else node._replace(height_bytes=NO_HEIGHT)
            for node, residue in pairs
        ]
    return moved(path_map.nodes, _aligning(path_map), CANONICAL_START, residue_bytes)


def alike(first: PathMap, second: PathMap) -> tuple[PathMap, PathMap]:
    """Two maps of a build with the same functions that align their stack, so that their keys are of
    the same stacks.

    Raises
    ------
    DataError
        As `both_alignments`.
    """
    aligning = both_alignments(first, second)
    return replace(first, aligning=aligning), replace(second, aligning=aligning)


def each_stack(path_map: PathMap) -> Iterator[tuple[int, PathMap]]:
    """The map for each of the stacks that differ, with where that begins."""
    for residue in residues(path_map):
        yield residue, replace(path_map, nodes=at_stack(path_map, residue))


def of_any_stack(path_map: PathMap) -> PathMap:
    """A map with the heights for all stacks, each path with its calls at each."""
    if len(residues(path_map)) == 1:
        return path_map
    return replace(
        path_map,
        stack_residues=None,
        aligning={},
        nodes=merged_nodes([one.nodes for _, one in each_stack(path_map)]),
    )


def _aligning(path_map: PathMap) -> Mapping[int, Alignment]:
    # Of maps that were written before alignments were kept there is nothing to tell.
    return path_map.aligning or {}
