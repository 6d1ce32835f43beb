"""Which instructions of a function's new version are those of its old one.

Operations are aligned by the shortest edit script (Myers, "An O(ND) difference algorithm and its
variations", Algorithmica 1 (1986) 251). Operands do not count for it: compilers choose other
registers after small edits. They also put blocks into another order, which an edit script cannot
say: blocks that are left over on both sides and do the same are the same block at another place.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeVar

from steelyard.predict.commits.basic_blocks import BodySteps

_Content = TypeVar("_Content", int, tuple[int, ...])
# Of so many edits an alignment is not looked for: whole blocks are aligned first.
_MOST_EDITS = 800
_MOST_EDITS_BETWEEN_BLOCKS = 200
# A shorter block can be any other one.
_LEAST_MOVED = 3


def align_steps(old: BodySteps, new: BodySteps) -> dict[int, int]:
    """For each old instruction that is still there its place in the new version."""
    script, is_shortest = _equal_runs(old.operations, new.operations, _MOST_EDITS)
    if not is_shortest:
        script = _by_blocks(old, new)
    equal: dict[int, int] = {}
    for at, there, count in script:
        equal.update(zip(range(at, at + count), range(there, there + count), strict=True))
    _add_moved(old, new, equal)
    return equal


def _by_blocks(old: BodySteps, new: BodySteps) -> list[tuple[int, int, int]]:
    """Equal runs of two long bodies: whole blocks, and instructions between these."""
    contents = [old.content(block) for block in range(len(old.blocks))]
    others = [new.content(block) for block in range(len(new.blocks))]
    runs, _ = _equal_runs(contents, others, _MOST_EDITS)
    found: list[tuple[int, int, int]] = []
    one = other = 0
    for at, there, count in [*runs, (len(contents), len(others), 0)]:
        begin, end = _start(old, at), _start(old, at + count)
        new_begin, new_end = _start(new, there), _start(new, there + count)
        gap = old.operations[one:begin], new.operations[other:new_begin]
        between, _ = _equal_runs(*gap, _MOST_EDITS_BETWEEN_BLOCKS)
        found += [(one + place, other + new_place, length) for place, new_place, length in between]
        found.append((begin, new_begin, end - begin))
        one, other = end, new_end
    return found


def _start(body: BodySteps, block: int) -> int:
    return body.blocks[block].start if block < len(body.blocks) else len(body.addresses)


def _add_moved(old: BodySteps, new: BodySteps, equal: dict[int, int]) -> None:
    """Pair blocks that are left over, the longest first, and what stands beside them."""
    partner = {there: one for one, there in equal.items()}
    if len(partner) in (len(old.addresses), len(new.addresses)):
        return
    waiting: dict[tuple[int, ...], list[int]] = {}
    for block in _left_over(new, partner):
        waiting.setdefault(new.content(block), []).append(block)
    for block in sorted(_left_over(old, equal), key=lambda one: -len(old.blocks[one])):
        found = waiting.get(old.content(block))
        if not found:
            continue
        for one, there in zip(old.blocks[block], new.blocks[found.pop(0)], strict=True):
            _pair(equal, partner, one, there)
    _extend(old, new, equal, partner)


def _pair(equal: dict[int, int], partner: dict[int, int], one: int, there: int) -> None:
    """Pair two instructions, and end the pairs that they were in."""
    if one in equal:
        del partner[equal[one]]
    if there in partner:
        del equal[partner[there]]
    equal[one], partner[there] = there, one


def _left_over(body: BodySteps, paired: Mapping[int, int]) -> list[int]:
    """The blocks of which less than half is paired; single instructions can be by chance."""
    return [
        number
        for number, block in enumerate(body.blocks)
        if len(block) >= _LEAST_MOVED and 2 * sum(place in paired for place in block) < len(block)
    ]


def _extend(old: BodySteps, new: BodySteps, equal: dict[int, int], partner: dict[int, int]) -> None:
    """Pairs go on before and behind, as long as both sides do the same."""
    for step in (1, -1):
        for one in sorted(equal, reverse=step < 0):
            at, there = one + step, equal[one] + step
            while (
                0 <= at < len(old.operations)
                and 0 <= there < len(new.operations)
                and at not in equal
                and there not in partner
                and old.operations[at] == new.operations[there]
            ):
                equal[at], partner[there] = there, at
                at, there = at + step, there + step


def _equal_runs(
    old: Sequence[_Content], new: Sequence[_Content], most: int
) -> tuple[list[tuple[int, int, int]], bool]:
    """Where equal runs begin in both, and how long they are, in order.

    The flag says whether they are those of a shortest script; where that has more than `most`
    edits, only equal ends are told.
    """
    shorter = min(len(old), len(new))
    head = 0
    while head < shorter and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < shorter - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    middle = old[head : len(old) - tail], new[head : len(new) - tail]
    script = _shortest_script(*middle, most)
    runs = [
        (0, 0, head),
        *((head + at, head + there, count) for at, there, count in script or ()),
        (len(old) - tail, len(new) - tail, tail),
    ]
    return runs, script is not None


def _shortest_script(
    old: Sequence[_Content], new: Sequence[_Content], most: int
) -> list[tuple[int, int, int]] | None:
    """The equal runs of the shortest edit script; None where it has more than `most` edits."""
    furthest = {1: 0}
    traces: list[dict[int, int]] = []
    for edits in range(min(len(old) + len(new), most) + 1):
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
                return list(_walk_back([*traces, reached], (at, there)))[::-1]
        traces.append(reached)
        furthest = reached
    return None


def _walk_back(
    traces: list[dict[int, int]], end: tuple[int, int]
) -> Iterator[tuple[int, int, int]]:
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
            yield begin, begin - diagonal, at - begin
        at, there = from_at, from_at - from_diagonal
    if at > 0:
        yield 0, 0, at
