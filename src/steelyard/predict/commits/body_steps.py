"""Which instructions of a function differ between two versions, and which only moved.

Operations are aligned by the shortest edit script (Myers, "An O(ND) difference algorithm and its
variations", Algorithmica 1 (1986) 251). Operands do not count for it: compilers choose other
registers after small edits.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

# Of so many edits the alignment is not looked for: all between the equal ends counts as rewritten.
_MOST_EDITS = 800
# A jump by a table, or what reads its address.
_TABLE = 1


@dataclass(frozen=True)
class BodySteps:
    """The instructions of one function, those that do nothing left out.

    Parameters
    ----------
    addresses, operations, tokens : sequence of int, of one length
        Equal operations do the same; equal tokens do it to operands of the same kinds.
    targets : sequence of int
        The address in this function that each jumps to; 0: none, 1: by a table.
    references : sequence of int, one longer
        How many of the function's references come before each, and how many it has.
    """

    addresses: Sequence[int]
    operations: Sequence[int]
    tokens: Sequence[int]
    targets: Sequence[int]
    references: Sequence[int]


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
        Addresses of instructions that have other operands, refer to other things or to data with
        other contents, or jump to another place or by a table.
    """

    removed: tuple[int, ...]
    added: Mapping[tuple[int, int], int]
    altered: tuple[int, ...]


# Whether references of an old and a new function, by their numbers, are to the same.
SameReference = Callable[[int, int], bool]


def step_edits(old: BodySteps, new: BodySteps, same: SameReference) -> StepEdits:
    """The edits that lead from one version of a function to another.

    Where no run executes an instruction that is removed or altered, or a neighbour of an added one,
    every run takes the same path through both versions.
    """
    removed: list[int] = []
    added: dict[tuple[int, int], int] = {}
    equal: dict[int, int] = {}
    one = other = 0
    ends = len(old.operations), len(new.operations)
    for at, there, count in [*_equal_runs(old.operations, new.operations), (*ends, 0)]:
        removed += old.addresses[one:at]
        if there > other and old.addresses:
            # What was taken out there is the best witness of how often the place is reached.
            before, after = (one, at - 1) if at > one else (max(one - 1, 0), min(at, ends[0] - 1))
            place = old.addresses[before], old.addresses[after]
            added[place] = added.get(place, 0) + there - other
        equal.update(zip(range(at, at + count), range(there, there + count), strict=True))
        one, other = at + count, there + count
    altered = _altered(old, new, equal, same)
    return StepEdits(tuple(removed), added, tuple(altered))


def _altered(
    old: BodySteps, new: BodySteps, equal: Mapping[int, int], same: SameReference
) -> Iterator[int]:
    for one, other in equal.items():
        here, there = _references_of(old, one), _references_of(new, other)
        is_same = (
            old.tokens[one] == new.tokens[other]
            and _same_target(old, new, equal, (one, other))
            and len(here) == len(there)
            and all(same(*pair) for pair in zip(here, there, strict=True))
        )
        if not is_same:
            yield old.addresses[one]


def _references_of(body: BodySteps, step: int) -> range:
    """The numbers of its references; the last step of a function has one more at its end."""
    return range(body.references[step], body.references[step + 1])


def _same_target(
    old: BodySteps, new: BodySteps, equal: Mapping[int, int], pair: tuple[int, int]
) -> bool:
    """Whether two jumps go to one place; of tables nobody knows."""
    here, there = old.targets[pair[0]], new.targets[pair[1]]
    if not (here and there):
        return here == there
    if _TABLE in (here, there):
        return False
    # A target that does nothing was left out: the next step stands for it.
    target = bisect_left(old.addresses, here), bisect_left(new.addresses, there)
    at_ends = target == (len(old.addresses), len(new.addresses))
    return at_ends or equal.get(target[0]) == target[1]


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
