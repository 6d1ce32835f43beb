"""Which function of a new version is which of the old one: by name, then by likeness."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence

from steelyard.predict.commits.program_code import ProgramCode, plain_name

# Of eight values of a sketch: half of them equal is more than chance gives two functions.
_LEAST_ALIKE = 4
_LEAST_SIZE_RATIO = 0.5
# A value that this many functions share says nothing of any.
_MOST_SHARING = 50
_LEAST_INSTRUCTIONS = 6


def match_functions(old: ProgramCode, new: ProgramCode) -> list[int]:
    """For each function of the old program its place in the new one; -1 where it has none.

    Names come first, then names without what compilers append, equal bodies, the order between
    functions that are known, and last the likeness of bodies.
    """
    matching = _Matching(old, new)
    matching.by_key(lambda code: code.names)
    matching.by_key(_plain_names)
    matching.by_key(lambda code: code.digests)
    matching.by_order()
    matching.by_likeness()
    return matching.partner


class _Matching:
    """The partners found so far."""

    def __init__(self, old: ProgramCode, new: ProgramCode) -> None:
        self.old, self.new = old, new
        self.partner = [-1] * len(old)
        self.taken = [False] * len(new)

    def pair(self, one: int, other: int) -> None:
        self.partner[one] = other
        self.taken[other] = True

    def free(self) -> tuple[list[int], list[int]]:
        """The functions of either program that have no partner yet."""
        left = [place for place, partner in enumerate(self.partner) if partner < 0]
        return left, [place for place, taken in enumerate(self.taken) if not taken]

    def by_key(self, keys: Callable[[ProgramCode], Sequence[str] | Sequence[int]]) -> None:
        """Pair functions with the same key; of several the same bodies first, then in order.

        An empty key and 0 are of nobody.
        """
        left, right = self.free()
        if not (left and right):
            return
        here, there = _groups(keys(self.old), left), _groups(keys(self.new), right)
        for value, ones in here.items():
            others = there.get(value)
            if others is None:
                continue
            if len(ones) == 1 == len(others):
                self.pair(ones[0], others[0])
            else:
                self._pair_group(ones, others)

    def _pair_group(self, ones: Sequence[int], others: Sequence[int]) -> None:
        same: dict[int, list[int]] = {}
        for other in reversed(others):
            same.setdefault(self.new.digests[other], []).append(other)
        for one in ones:
            if same.get(self.old.digests[one]):
                self.pair(one, same[self.old.digests[one]].pop())
        left = [one for one in ones if self.partner[one] < 0]
        right = [other for other in others if not self.taken[other]]
        for one, other in zip(left, right, strict=False):
            self.pair(one, other)

    def by_order(self) -> None:
        """Between two known neighbours as many without a name as in the new program: in order."""
        known = [(place, other) for place, other in enumerate(self.partner) if other >= 0]
        borders = [(-1, -1), *known, (len(self.old), len(self.new))]
        for (begin, at), (end, until) in itertools.pairwise(borders):
            if until - at != end - begin or end - begin < 2:
                continue
            for one, other in zip(range(begin + 1, end), range(at + 1, until), strict=True):
                nameless = not (self.old.names[one] and self.new.names[other])
                if nameless and not self.taken[other] and self._alike(one, other) >= 1:
                    self.pair(one, other)

    def by_likeness(self) -> None:
        """The most alike first, among functions with a value of their sketches in common."""
        left, right = self.free()
        sharing: dict[tuple[int, int], list[int]] = {}
        for other in right:
            if self.new.instructions[other] >= _LEAST_INSTRUCTIONS:
                for hash_, value in enumerate(self.new.sketches[other]):
                    sharing.setdefault((hash_, value), []).append(other)
        found: list[tuple[int, int, int]] = []
        for one in left:
            for other in self._candidates(one, sharing):
                alike = self._alike(one, other)
                if alike >= _LEAST_ALIKE:
                    found.append((-alike, one, other))
        for _, one, other in sorted(found):
            if self.partner[one] < 0 and not self.taken[other]:
                self.pair(one, other)

    def _candidates(self, one: int, sharing: dict[tuple[int, int], list[int]]) -> Iterable[int]:
        found: set[int] = set()
        for hash_, value in enumerate(self.old.sketches[one]):
            others = sharing.get((hash_, value), ())
            if len(others) <= _MOST_SHARING:
                found.update(others)
        return sorted(found)

    def _alike(self, one: int, other: int) -> int:
        """How many values of two sketches are equal; 0 where the sizes are too different."""
        here, there = self.old.instructions[one], self.new.instructions[other]
        if min(here, there) < _LEAST_SIZE_RATIO * max(here, there):
            return 0
        pairs = zip(self.old.sketches[one], self.new.sketches[other], strict=True)
        return sum(a == b for a, b in pairs)


def _plain_names(code: ProgramCode) -> Sequence[str]:
    # Expressions are slow, and most names have nothing that they look for.
    return [plain_name(name) if "." in name or "17h" in name else name for name in code.names]


def _groups(
    keys: Sequence[str] | Sequence[int], places: Iterable[int]
) -> dict[str | int, list[int]]:
    found: dict[str | int, list[int]] = {}
    for place in places:
        key = keys[place]
        if not key:
            continue
        group = found.get(key)
        if group is None:
            found[key] = [place]
        else:
            group.append(place)
    return found
