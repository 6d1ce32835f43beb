"""Changes that were found beside those that people marked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

# Versions by which a change that is found may lie beside the one that is marked.
MARGIN = 5
_REDRAWS = 2000


@dataclass(frozen=True)
class Count:
    """Of one track, summed over its annotators.

    Parameters
    ----------
    hits : int
        Pairs of a change found and one marked, at most `MARGIN` apart, each in one pair only.
    found, marked : int
    delays : tuple of int
        Of the pairs: index found - index marked.
    doubled : int
        Changes found within `MARGIN` of a marked one that another found change has.
    """

    hits: int
    found: int
    marked: int
    delays: tuple[int, ...]
    doubled: int


@dataclass(frozen=True)
class Score:
    """Over tracks, with 95 % intervals by drawing tracks anew."""

    precision: float
    recall: float
    f1: float
    f1_interval: tuple[float, float]
    delay_median: float
    doubled_ratio: float
    found: int


def matched(
    found: Sequence[int], marked: Sequence[int], margin: int = MARGIN
) -> list[tuple[int, int]]:
    """Pairs at most `margin` apart, each index once, the nearest pairs first."""
    near = sorted(
        (abs(one - other), one, other)
        for one in found
        for other in marked
        if abs(one - other) <= margin
    )
    pairs: list[tuple[int, int]] = []
    used: set[int] = set()
    taken: set[int] = set()
    for _, one, other in near:
        if one not in used and other not in taken:
            pairs.append((one, other))
            used.add(one)
            taken.add(other)
    return pairs


def count_of(found: Sequence[int], annotators: Sequence[Sequence[int]]) -> Count:
    """The counts of a track, each annotator weighing the same."""
    hits = all_found = marked = doubled = 0
    delays: list[int] = []
    for marks in annotators:
        pairs = matched(found, marks)
        hits += len(pairs)
        all_found += len(found)
        marked += len(marks)
        delays += [one - other for one, other in pairs]
        paired = {one for one, _ in pairs}
        doubled += sum(
            1
            for one in found
            if one not in paired and any(abs(one - mark) <= MARGIN for mark in marks)
        )
    return Count(hits, all_found, marked, tuple(delays), doubled)


def f1_of(counts: Sequence[Count]) -> float:
    """2 hits / (found + marked), over all tracks and annotators."""
    total = sum(count.found + count.marked for count in counts)
    return 2 * sum(count.hits for count in counts) / total if total else 1.0


def score_of(counts: Sequence[Count], seed: int = 1) -> Score:
    """The score over tracks."""
    hits, found = sum(c.hits for c in counts), sum(c.found for c in counts)
    marked = sum(c.marked for c in counts)
    random = np.random.default_rng(seed)
    drawn = [
        f1_of([counts[i] for i in random.integers(0, len(counts), len(counts))])
        for _ in range(_REDRAWS)
    ]
    delays = [delay for count in counts for delay in count.delays]
    return Score(
        precision=hits / found if found else 1.0,
        recall=hits / marked if marked else 1.0,
        f1=f1_of(counts),
        f1_interval=(float(np.quantile(drawn, 0.025)), float(np.quantile(drawn, 0.975))),
        delay_median=float(np.median(np.abs(delays))) if delays else 0.0,
        doubled_ratio=sum(c.doubled for c in counts) / found if found else 0.0,
        found=found,
    )


def ratio_interval(
    ours: Sequence[Count], other: Sequence[Count], seed: int = 2
) -> tuple[float, ...]:
    """F1 of ours / that of another with its 95 % interval, both on the same drawn tracks."""
    random = np.random.default_rng(seed)
    drawn: list[float] = []
    for _ in range(_REDRAWS):
        chosen = random.integers(0, len(ours), len(ours))
        drawn.append(f1_of([ours[i] for i in chosen]) / f1_of([other[i] for i in chosen]))
    low, high = np.quantile(drawn, (0.025, 0.975))
    return f1_of(ours) / f1_of(other), float(low), float(high)


def ceiling(tracks: Sequence[Sequence[Sequence[int]]]) -> list[Count]:
    """Each annotator beside the others of the track: what people agree on."""
    counts: list[Count] = []
    for annotators in tracks:
        parts = [
            count_of(marks, [*annotators[:place], *annotators[place + 1 :]])
            for place, marks in enumerate(annotators)
        ]
        counts.append(
            Count(
                sum(part.hits for part in parts),
                sum(part.found for part in parts),
                sum(part.marked for part in parts),
                tuple(delay for part in parts for delay in part.delays),
                sum(part.doubled for part in parts),
            )
        )
    return counts
