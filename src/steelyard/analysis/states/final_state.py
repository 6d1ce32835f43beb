"""Where the final state begins, going back from the end over levels that differ or do not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from steelyard.analysis.states.segment_levels import Level
from steelyard.analysis.states.steady_part import latest_start

# An excursion from a state comes back after at most a tenth of the part that has to be steady,
# and all of them are at most a quarter of the state.
_EXCURSION_LENGTH = 0.1
EXCURSION_SHARE = 0.25


@dataclass(frozen=True)
class _Run:
    """Successive levels that all surely differ from the final one, or all do not."""

    differs: bool
    start: int
    stop: int

    @property
    def count(self) -> int:
        return self.stop - self.start


def state_begin(marks: Sequence[int], levels: Sequence[Level]) -> int | None:
    """The iteration at which the final state begins; None where it is not seen long enough.

    Parameters
    ----------
    marks : sequence of int
        For each level, how it lies beside the final one (`Differences.marks`).

    Notes
    -----
    Going back, the state goes on until a level surely differs. A run of levels that differ is
    passed as an excursion, such as a disturbance from elsewhere that comes and goes, if it takes
    at most a tenth of the part that has to be steady, if the state was there before it and after
    it for at least as long, and if all excursions together are at most a quarter of the state.

    Whether it is seen long enough is asked of the part between the first and the last level that
    lie within the tolerance: levels before them that lie beyond it, surely or not, do not count,
    and those after them may take a tenth of the part that has to be steady.
    """
    count = levels[-1].stop
    longest = _EXCURSION_LENGTH * (count - latest_start(count))
    last = max(index for index, mark in enumerate(marks) if not mark)
    excursions = count - levels[last].stop
    if excursions > longest:
        return None
    runs = _runs(marks[: last + 1], levels[: last + 1])
    begin, after = runs[-1].start, runs[-1].count
    for earlier, away in zip(runs[-3::-2], runs[-2::-2], strict=False):
        excursions += away.count
        passed = away.count <= min(earlier.count, after, longest)
        if not passed or excursions > EXCURSION_SHARE * (count - earlier.start):
            break
        begin, after = earlier.start, earlier.count
    surely = next(
        level.start
        for level, mark in zip(levels, marks, strict=True)
        if level.start >= begin and not mark
    )
    return begin if surely <= latest_start(count) else None


def _runs(marks: Sequence[int], levels: Sequence[Level]) -> list[_Run]:
    found: list[_Run] = []
    for sure, group in groupby(zip(marks, levels, strict=True), key=lambda pair: abs(pair[0]) > 1):
        members = [level for _, level in group]
        found.append(_Run(sure, members[0].start, members[-1].stop))
    return found
