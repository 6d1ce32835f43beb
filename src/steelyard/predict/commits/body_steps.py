"""Which instructions of a function differ between two versions, and which only moved.

Operations are aligned by the shortest edit script (Myers, "An O(ND) difference algorithm and its
variations", Algorithmica 1 (1986) 251). Operands do not count for it: compilers choose other
registers after small edits.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

# Of so many edits the alignment is not looked for: all between the equal ends counts as rewritten.
_MOST_EDITS = 800


@dataclass(frozen=True)
class BodySteps:
    """The instructions of one function, those that do nothing left out.

    Parameters
    ----------
    addresses, operations, tokens : sequence of int, of one length
        Equal operations do the same; equal tokens do it to the same operands.
    """

    addresses: Sequence[int]
    operations: Sequence[int]
    tokens: Sequence[int]


@dataclass(frozen=True)
class StepEdits:
    """How one function's instructions differ between two versions.

    Parameters
    ----------
    removed : tuple of int
        Addresses of instructions that are gone.
    added : mapping of (int, int) to int
        How many are new between two neighbours of the old version, by the addresses of these.
    altered : tuple of int
        Addresses of instructions that have other operands.
    """

    removed: tuple[int, ...]
    added: Mapping[tuple[int, int], int]
    altered: tuple[int, ...]


def step_edits(old: BodySteps, new: BodySteps) -> StepEdits:
    """The edits that lead from one version of a function to another."""
    removed: list[int] = []
    added: dict[tuple[int, int], int] = {}
    altered: list[int] = []
    one = other = 0
    ends = len(old.operations), len(new.operations)
    for at, there, count in [*_equal_runs(old.operations, new.operations), (*ends, 0)]:
        removed += old.addresses[one:at]
        if there > other and old.addresses:
            # What was taken out there is the best witness of how often the place is reached.
            before, after = (one, at - 1) if at > one else (max(one - 1, 0), min(at, ends[0] - 1))
            place = old.addresses[before], old.addresses[after]
            added[place] = added.get(place, 0) + there - other
        altered += [
            old.addresses[at + more]
            for more in range(count)
            if old.tokens[at + more] != new.tokens[there + more]
        ]
        one, other = at + count, there + count
    return StepEdits(tuple(removed), added, tuple(altered))


def _equal_runs(old: Sequence[int], new: Sequence[int]) -> Iterator[tuple[int, int, int]]:
    """Where equal runs begin in both, and how long they are, in order."""
    shorter = min(len(old), len(new))
    head = 0
    while head < shorter and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < shorter - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    yield 0, 0, head
    middle = old[head : len(old) - tail], new[head : len(new) - tail]
    for at, there, count in _shortest_script(*middle):
        yield head + at, head + there, count
    yield len(old) - tail, len(new) - tail, tail


def _shortest_script(old: Sequence[int], new: Sequence[int]) -> list[tuple[int, int, int]]:
    """The equal runs of the shortest edit script; none where it has more than `_MOST_EDITS`."""
    furthest = {1: 0}
    traces: list[dict[int, int]] = []
    for edits in range(min(len(old) + len(new), _MOST_EDITS) + 1):
        reached = dict[int, int]()
        for diagonal in range(-edits, edits + 1, 2):
            goes_down = diagonal == -edits or (
                diagonal != edits and furthest[diagonal - 1] < furthest[diagonal + 1]
            )
            at = furthest[diagonal + 1] if goes_down else furthest[diagonal - 1] + 1
            there = at - diagonal
            while at < len(old) and there < len(new) and old[at] == new[there]:
                at, there = at + 1, there + 1
            reached[diagonal] = at
            if at >= len(old) and there >= len(new):
                return _walk_back([*traces, reached], (at, there))
        traces.append(reached)
        furthest = reached
    return []


def _walk_back(traces: list[dict[int, int]], end: tuple[int, int]) -> list[tuple[int, int, int]]:
    runs: list[tuple[int, int, int]] = []
    at, there = end
    for edits in range(len(traces) - 1, 0, -1):
        before = traces[edits - 1]
        diagonal = at - there
        goes_down = diagonal == -edits or (
            diagonal != edits and before[diagonal - 1] < before[diagonal + 1]
        )
        from_diagonal = diagonal + 1 if goes_down else diagonal - 1
        from_at = before[from_diagonal]
        begin = from_at if goes_down else from_at + 1
        if at > begin:
            runs.append((begin, begin - diagonal, at - begin))
        at, there = from_at, from_at - from_diagonal
    if at > 0:
        runs.append((0, 0, at))
    return runs[::-1]
