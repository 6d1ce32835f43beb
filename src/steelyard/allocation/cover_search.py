"""A set of as few workers or fewer, found by taking some away at random and covering anew.

It draws among sets of one size, and finds smaller ones where no solver proves an optimum in
seconds, such as for eighty levels that three hundred workers provide at random. What is proved is
the solver's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from steelyard.allocation.cover_program import CoverProgram

if TYPE_CHECKING:
    import numpy as np

_ROUNDS = 600
_MOST_TAKEN_AWAY = 4


def smaller_cover(program: CoverProgram, start: tuple[int, ...], seed: int) -> tuple[int, ...]:
    """Counts of each kind that meet the same demand with as many workers as `start` or fewer."""
    import numpy as np

    generator = np.random.default_rng(seed)
    cover = _Cover(program)
    best = [kind for kind, count in enumerate(start) for _ in range(count)]
    for _ in range(_ROUNDS):
        away = int(generator.integers(1, min(_MOST_TAKEN_AWAY, len(best)) + 1))
        kept = sorted(generator.permutation(len(best))[away:].tolist())
        found = cover.completed([best[item] for item in kept], len(best), generator)
        if found is not None:
            best = found
    counts = [0] * len(program.kinds)
    for kind in best:
        counts[kind] += 1
    return tuple(counts)


class _Cover:
    """Which groups of levels workers still lack."""

    def __init__(self, program: CoverProgram) -> None:
        import numpy as np

        self._program = program
        self._groups = np.zeros((program.provided.shape[1], len(program.groups)), dtype=np.int32)
        for place, (columns, _) in enumerate(program.groups):
            self._groups[list(columns), place] = 1
        self._needs = np.array([need for _, need in program.groups], dtype=np.int32)
        self._members = np.array([len(kind) for kind in program.kinds])

    def completed(
        self, kinds: list[int], size: int, generator: np.random.Generator
    ) -> list[int] | None:
        """`kinds` with those that meet the demand, if `size` in all are enough."""
        import numpy as np

        provided = self._program.provided
        there = provided[kinds].any(axis=0)
        chosen = list(kinds)
        while True:
            lacking = np.maximum(self._needs - there @ self._groups, 0)
            done = not lacking.any()
            if done and len(chosen) >= self._program.least:
                return chosen
            if len(chosen) >= size:
                return None
            gains = np.minimum((provided & ~there) @ self._groups, lacking).sum(axis=1)
            left = self._members - np.bincount(chosen, minlength=len(self._members))
            gains = np.where(left > 0, gains, -1)
            ties = np.flatnonzero(gains == gains.max())
            kind = int(ties[generator.integers(len(ties))])
            chosen.append(kind)
            there = there | provided[kind]
