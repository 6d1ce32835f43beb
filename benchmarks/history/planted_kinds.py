"""Which changes are found in real stretches, how late, and as what?

    python -m benchmarks.history.planted_kinds [--data DIR] [--rounds 300] [--seed 1] [--no-docs]

Stretches of 160 versions in which nobody who looked at them marked anything, of the tracks that
people marked (shared/data/change-points), each brought to a mean of 100 and in random stretches of
20 turned around, so that levels nobody marked are no changes. In each round one change is planted
between version 60 and 100: a step, a spike of 1 to 4 versions, a creep over 40 versions, or another
noise, of 0.5 to 5 standard deviations of the stretch (of noise: times as much). Found: a change
that overlaps it, by 5 versions, of a kind that is not found there without it. Named: of those
found, as what was planted. Delay: how many versions a step takes to be seen, told by cutting the
track off after it. Extra: changes elsewhere, for each 1,000 versions. The last row is what the best
of all tests finds that knows the noise, and where and how long the spike would be.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.history.annotated_tracks import DATA, Annotated, annotated_tracks
from benchmarks.prove.proof_page import table, write_section
from steelyard.analysis.distributions.normal import normal_quantile
from steelyard.analysis.distributions.table_distributions import normal_lower_p
from steelyard.analysis.history.detector import (
    FALSE_ALARM_RATE,
    Detection,
    Detector,
    Sensitivity,
)
from steelyard.analysis.history.detectors import DETECTORS
from steelyard.analysis.history.series import series_of_values
from steelyard.analysis.history.spikes import LONGEST_SPIKE
from steelyard.app.history.find_changes import DEFAULT_DETECTOR
from steelyard.core.rng import derive_seed

Floats = NDArray[np.float64]
SIZES = (0.5, 1.0, 2.0, 3.0, 4.0, 5.0)
KINDS = ("step", "spike", "creep", "noise")
NAMED_WANTED = 0.8
_LENGTH = 160
_TURNED = 20
_CREEP = 40
_MARGIN = 5
_LATEST = 30


@dataclass(frozen=True)
class Planted:
    """A stretch with one change in it."""

    values: Floats
    without: Floats
    kind: str
    first: int
    last: int


def quiet_stretches(tracks: Sequence[Annotated]) -> list[Floats]:
    """Stretches without a mark of anyone, around 0 with a standard deviation of 1."""
    found: list[Floats] = []
    for track in tracks:
        marks = sorted({mark for marks in track.annotators for mark in marks})
        bounds = [0, *marks, len(track.values)]
        for first, last in pairwise(bounds):
            for start in range(first, last - _LENGTH + 1, _LENGTH):
                part = track.values[start : start + _LENGTH]
                if part.std() > 0.0:
                    found.append((part - part.mean()) / part.std())
    return found


def plant(quiet: Floats, kind: str, size: float, random: np.random.Generator) -> Planted:
    """The stretch with a change of a kind and size."""
    parts = quiet.reshape(-1, _TURNED)
    turned = parts * random.choice((-1.0, 1.0), (len(parts), 1))
    values = turned.ravel()
    without = values = (values - values.mean()) / values.std()
    at = int(random.integers(60, 101))
    last = at
    way = float(random.choice((-1.0, 1.0)))
    order = np.arange(_LENGTH)
    if kind == "step":
        values = values + np.where(order >= at, way * size, 0.0)
    elif kind == "spike":
        last = at + int(random.integers(0, 4))
        values = values + np.where((order >= at) & (order <= last), way * size, 0.0)
    elif kind == "creep":
        last = at + _CREEP
        values = values + way * size * np.clip((order - at) / _CREEP, 0.0, 1.0)
    else:
        values = values * np.where(order >= at, size, 1.0)
    return Planted(100.0 + values, 100.0 + without, kind, at, last)


def overlapping(found: Sequence[Detection], planted: Planted) -> list[Detection]:
    """The detections at the planted change."""
    return [
        one
        for one in found
        if one.index <= planted.last + _MARGIN and one.last_index >= planted.first - _MARGIN
    ]


def new_kinds(found: Sequence[Detection], detector: Detector, planted: Planted) -> set[str]:
    """What is found at the planted change, and not without it."""
    without = detector.detect(series_of_values(planted.without), Sensitivity())
    before = {one.kind for one in overlapping(without, planted)}
    return {one.kind for one in overlapping(found, planted)} - before


def best_power(size: float, rate: float) -> float:
    """The power of the best test for a spike of 1 to 4 values, each as often, in normal noise.

    Notes
    -----
    Neyman and Pearson: the mean of the spike's values against its level, to both sides.
    """
    limit = normal_quantile(1.0 - rate / 2)
    lengths = range(1, LONGEST_SPIKE + 1)
    powers = normal_lower_p(np.array([size * count**0.5 - limit for count in lengths]))
    return float(powers.mean())


def delay_of(detector: Detector, planted: Planted) -> int | None:
    """After how many versions with the step it is seen; None where not within `_LATEST`."""
    for seen in range(1, _LATEST + 1):
        series = series_of_values(planted.values[: planted.first + seen])
        if overlapping(detector.detect(series, Sensitivity()), planted):
            return seen
    return None


def row_of(
    detector: Detector,
    kind: str,
    size: float,
    stretches: Sequence[Floats],
    options: tuple[int, int],
) -> tuple[float, float, float, float]:
    """Share found, share of those named rightly, median delay of a step, extra a thousand."""
    rounds, seed = options
    random = np.random.default_rng(derive_seed(seed, kind, str(size)))
    hits = named = extra = 0
    delays: list[float] = []
    for number in range(rounds):
        quiet = stretches[int(random.integers(len(stretches)))]
        planted = plant(quiet, kind, size, random)
        found = detector.detect(series_of_values(planted.values), Sensitivity())
        there = new_kinds(found, detector, planted)
        hits += bool(there)
        named += kind in there
        extra += len(found) - len(overlapping(found, planted))
        if kind == "step" and there and number % 10 == 0:
            seen = delay_of(detector, planted)
            delays.append(float("inf") if seen is None else float(seen))
    delay = float(np.median(delays)) if delays else float("nan")
    right = named / hits if hits else float("nan")
    return hits / rounds, right, delay, 1000.0 * extra / (rounds * _LENGTH)


def main() -> int:
    """Plant and print; 1 where kinds of 3 deviations are named rightly in less than 80 %."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--rounds", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--detector", action="append", help="default: all")
    parser.add_argument("--no-docs", action="store_true", help="only print the table")
    options = parser.parse_args()
    stretches = quiet_stretches(annotated_tracks(options.data))
    chosen = [each for each in DETECTORS if not options.detector or each.name in options.detector]
    rows: list[tuple[str, ...]] = []
    held = True
    for detector in chosen:
        for kind in KINDS:
            cells: list[str] = []
            delay, extras = "", []
            for size in SIZES:
                hit, right, late, extra = row_of(
                    detector, kind, size, stretches, (options.rounds, options.seed)
                )
                extras.append(extra)
                cells.append(f"{hit:.0%}" + (f", {right:.0%}" if hit > 0.0 else ""))
                if kind == "step" and size == 3.0:
                    delay = f"{late:.0f}"
                if detector.name == DEFAULT_DETECTOR and size == 3.0:
                    held = held and right >= NAMED_WANTED
            rows.append((detector.name, kind, *cells, delay, f"{np.median(extras):.1f}"))
    bound = [f"{best_power(size, FALSE_ALARM_RATE):.0%}" for size in SIZES]
    rows.append(("any test at most", "spike", *bound, "", ""))
    header = (
        "detector",
        "planted",
        *(f"{size:g}" for size in SIZES),
        "versions until a step of 3 is seen",
        "extra in 1,000",
    )
    lines = [
        "",
        f"{len(stretches)} stretches, {options.rounds} rounds a cell. By size: found, and of those "
        "named rightly.",
        "",
        *table(header, rows),
        "",
    ]
    print("\n".join(lines))
    if not options.no_docs:
        write_section("history planted kinds", lines)
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main())
