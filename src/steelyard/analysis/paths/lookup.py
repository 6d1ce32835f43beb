"""The call paths that a key, a function and a height of the stack, may mean."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from steelyard.analysis.paths.path_map import PathMap, PathNumbers, functions_of


@dataclass(frozen=True)
class Candidate:
    """A path that a key may mean.

    Parameters
    ----------
    functions : tuple of str
        Names, outermost first; with the address of what has no name of its own.
    share : float
        Part of the key's learnt calls that came by this path, from 0 to 1; where none of them was
        counted, the candidates have equal parts.
    """

    functions: tuple[str, ...]
    share: float


def candidates(
    path_map: PathMap, parts: frozenset[int], height_bytes: int
) -> tuple[Candidate, ...]:
    """The paths of a key, the most frequent first; none where it was never learnt.

    Parameters
    ----------
    path_map : PathMap
    parts : frozenset of int
        Addresses of the function: one, or those of its parts.
    height_bytes : int
    """
    calls: Counter[int] = Counter()
    ends: dict[int, int] = {}
    for index, number in enumerate(PathNumbers().of(path_map.nodes)):
        node = path_map.nodes[index]
        if node.function in parts and node.height_bytes == height_bytes:
            calls[number] += node.call_count
            ends.setdefault(number, index)
    total = sum(calls.values())
    return tuple(
        Candidate(_named(path_map, ends[number]), count / total if total else 1 / len(calls))
        for number, count in calls.most_common()
    )


def _named(path_map: PathMap, end: int) -> tuple[str, ...]:
    names = [_name(path_map, function) for function in functions_of(path_map, end)]
    return tuple(reversed(names))


def _name(path_map: PathMap, function: int) -> str:
    name = path_map.functions[function]
    return f"{name}+{function:#x}" if name.startswith("[") else name
