"""Whether runs that differ in their result differ in what happens inside them.

Larres (2012), section 4.5: how often each kind of event occurs in each run, in which order, and
whether either is correlated with the result.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from steelyard.analysis.events.call_paths import (
    CallPath,
    PathOfEvent,
    path_cautions,
    paths_from,
    paths_of_events,
)
from steelyard.analysis.events.collinear_events import Together, kinds_together
from steelyard.analysis.events.correlation import Correlation, pair_correlation, pearson
from steelyard.analysis.events.event_counts import KindOfEvent, adjusted, importance, kind_of_event
from steelyard.analysis.events.order import order_distances
from steelyard.analysis.events.sequences import Side, aligned
from steelyard.analysis.tests.shapiro_wilk import shapiro_wilk
from steelyard.core.estimate import Interval
from steelyard.core.experiment_results import Caution
from steelyard.core.rng import derive_seed

Floats = NDArray[np.float64]
# Lines around a difference, and differences, that a diff for people shows.
_CONTEXT = 3
_MOST_LINES = 400
_NOT_NORMAL = "results-not-normal"
# Of a caution: it shall not be there by chance.
_ALMOST_SURE = 0.01


@dataclass(frozen=True)
class Run:
    """One recorded trial.

    `order` holds the kinds of its first events, as indices of `kinds`; `lost` counts events that
    did not fit into the buffer. `paths` counts the events of each call path, None where these were
    not recorded; `lost_stacks` counts events without one, `cut_stacks` those whose outer part is
    not known.
    """

    position: int
    value: float
    kinds: tuple[str, ...]
    counts: tuple[int, ...]
    order: tuple[int, ...]
    lost: int
    paths: Mapping[CallPath, int] | None = None
    lost_stacks: int = 0
    cut_stacks: int = 0


@dataclass(frozen=True)
class InternalVariance:
    """What was found inside the runs of a program.

    Parameters
    ----------
    response, unit : str
    runs : tuple of Run
    kinds : tuple of KindOfEvent
        Those that differ between runs first, the strongest correlation first of all.
    total : KindOfEvent
        All events of a run together.
    order : Correlation
        Between the share of events in another order and the difference of the results, over all
        pairs of runs, apart from what the numbers of events explain of both.
    order_differences : tuple of tuple of int
        Of each pair of runs, the events that a minimal diff takes out or puts in.
    moved_ratios : tuple of tuple of float
        Of each pair of runs, the share of the events of both that stand in another order.
    far_pair : (int, int)
        The runs whose order differs most.
    diff : tuple of (side, kind)
        Their sequences as one, in excerpts; a kind of ``""`` stands for what is left out.
    correction : str
        Of the p values over kinds.
    overhead : Interval or None
        Response with events recorded / without.
    paths : tuple of PathOfEvent or None
        As `kinds`, for each call path of each kind; None where no call stacks were recorded.
    together : tuple of Together
        Kinds that move with one that goes with the result.
    """

    kind: ClassVar[str] = "events"

    response: str
    unit: str
    confidence: float
    runs: tuple[Run, ...]
    kinds: tuple[KindOfEvent, ...]
    total: KindOfEvent
    order: Correlation
    order_differences: tuple[tuple[int, ...], ...]
    moved_ratios: tuple[tuple[float, ...], ...]
    far_pair: tuple[int, int]
    diff: tuple[tuple[Side, str], ...]
    correction: str
    overhead: Interval | None
    plain_mean: float | None
    recorded_mean: float
    cautions: tuple[Caution, ...] = ()
    paths: tuple[PathOfEvent, ...] | None = None
    together: tuple[Together, ...] = ()

    @property
    def by_ranks_alone(self) -> bool:
        """Whether results lie so that one run may make Pearson's coefficient by itself."""
        return any(caution.code == _NOT_NORMAL for caution in self.cautions)


@dataclass(frozen=True)
class EventsQuestion:
    """What is asked of the runs."""

    response: str
    unit: str
    confidence: float = 0.95
    correction: str = "holm"
    seed: int = 1


def run_from(position: int, value: float, told: Mapping[str, Any]) -> Run:
    """A run from what the recording of its trial told."""
    stacks = told.get("stacks")
    return Run(
        position,
        value,
        tuple(told["kinds"]),
        tuple(told["counts"]),
        tuple(told["order"]),
        int(told["lost"]),
        None if stacks is None else paths_from(stacks),
        0 if stacks is None else int(stacks["lost"]),
        0 if stacks is None else int(stacks["cut"]),
    )


def internal_variance(
    runs: Sequence[Run],
    asked: EventsQuestion,
    plain: Sequence[float] = (),
    overhead: Interval | None = None,
) -> InternalVariance:
    """Count, compare the order, and correlate both with the result.

    Parameters
    ----------
    runs : sequence of Run
        At least one.
    asked : EventsQuestion
    plain : sequence of float
        Results of trials without recording.
    overhead : Interval, optional
    """
    values = np.array([run.value for run in runs], dtype=np.float64)
    counts = _counts(runs)
    kinds = [kind_of_event(name, row, values, asked.confidence) for name, row in counts.items()]
    kinds = adjusted(kinds, asked.correction)
    kinds.sort(key=importance)
    paths = [run.paths for run in runs]
    total = [sum(run.counts) for run in runs]
    sequences = _sequences(runs, list(counts))
    apart = order_distances(sequences)
    generator = np.random.default_rng(derive_seed(asked.seed, "events"))
    order = pair_correlation(
        apart.moved_ratios, values, asked.confidence, generator, given=apart.numbers
    )
    first, second = np.unravel_index(int(apart.differences.argmax()), apart.differences.shape)
    cautions = _cautions(runs, values, asked.confidence)
    by_ranks = any(caution.code == _NOT_NORMAL for caution in cautions)
    far = (int(min(first, second)), int(max(first, second)))
    return InternalVariance(
        response=asked.response,
        unit=asked.unit,
        confidence=asked.confidence,
        runs=tuple(runs),
        kinds=tuple(kinds),
        total=kind_of_event("all events", total, values, asked.confidence),
        order=order,
        order_differences=tuple(tuple(int(d) for d in row) for row in apart.differences.tolist()),
        moved_ratios=tuple(tuple(row) for row in apart.moved_ratios.tolist()),
        far_pair=far,
        diff=_excerpts(aligned(sequences[far[0]], sequences[far[1]]), list(counts)),
        correction=asked.correction,
        overhead=overhead,
        plain_mean=float(np.mean(plain)) if len(plain) else None,
        recorded_mean=float(values.mean()),
        cautions=(
            *cautions,
            *path_cautions(paths, [run.lost_stacks for run in runs], [r.cut_stacks for r in runs]),
        ),
        paths=paths_of_events(paths, values, asked.confidence, asked.correction),
        together=kinds_together(kinds, asked.confidence, asked.correction, by_ranks),
    )


def _counts(runs: Sequence[Run]) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for place, run in enumerate(runs):
        for name, count in zip(run.kinds, run.counts, strict=True):
            found.setdefault(name, [0] * len(runs))[place] = count
    return found


def _sequences(runs: Sequence[Run], names: list[str]) -> list[list[int]]:
    """The orders with one numbering of kinds for all runs."""
    place = {name: index for index, name in enumerate(names)}
    return [[place[run.kinds[event]] for event in run.order] for run in runs]


def _excerpts(both: Sequence[tuple[Side, int]], names: list[str]) -> tuple[tuple[Side, str], ...]:
    """The differing parts with some events around them."""
    shown = set[int]()
    for place, (side, _) in enumerate(both):
        if side != "both":
            shown |= set(range(place - _CONTEXT, place + _CONTEXT + 1))
    found: list[tuple[Side, str]] = []
    skipped = False
    for place, (side, event) in enumerate(both):
        if place in shown:
            if skipped:
                found.append(("both", ""))
            found.append((side, names[event]))
        skipped = place not in shown
        if len(found) >= _MOST_LINES:
            break
    return tuple(found)


def _cautions(runs: Sequence[Run], values: Floats, confidence: float) -> list[Caution]:
    found: list[Caution] = []
    lost = sum(run.lost > 0 for run in runs)
    if lost:
        found.append(
            Caution(
                "lost-events",
                f"In {lost} of {len(runs)} runs more happened than the buffer holds: their oldest "
                "events are lost. Record fewer kinds.",
            )
        )
    cut = sum(sum(run.counts) > len(run.order) for run in runs)
    if cut:
        found.append(
            Caution(
                "order-cut",
                f"In {cut} of {len(runs)} runs only the first {len(runs[0].order)} events have "
                "their order kept; all are counted.",
            )
        )
    shape = shapiro_wilk(values.tolist())
    if shape is not None and shape.p < _ALMOST_SURE:
        found.append(
            Caution(
                _NOT_NORMAL,
                f"The results are not normal (p = {shape.p:.2g}), some far from the others: "
                "Pearson's interval and that of the order are too narrow. Ranks, and the p value "
                "of the order, hold.",
            )
        )
    drift = pearson(np.arange(len(values), dtype=np.float64), values, confidence)
    if drift.p is not None and drift.p < _ALMOST_SURE:
        found.append(
            Caution(
                "drift",
                f"The result drifts from run to run (p = {drift.p:.2g}): what drifts along with it "
                "is correlated with it, be it its cause or not.",
            )
        )
    return found
