"""How many changes do detectors find where there are none?

    python -m benchmarks.history.false_alarms [--points N] [--of-others N] [--seed 1] [--no-docs]

Stationary tracks of 30 to 10,000 values: normal, lognormal, two modes, heavy tails (t with 3
degrees), values that keep 0.6 of the last one, and real tracks (shared/data/change-points) in
random order; N values of each length, a million of each population, for the detector that is taken
by default, and fewer for the others. Changes for each value. Exit status 1 where the detector that
is taken by default finds more than 1 in 1,000; the windows of Talos's rule, whatever their
threshold, do not know a track's memory, and do.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from benchmarks.history.annotated_tracks import annotated_tracks
from benchmarks.prove.proof_page import is_above, table, write_section
from steelyard.analysis.history.detector import Sensitivity
from steelyard.analysis.history.detectors import DETECTORS
from steelyard.analysis.history.series import series_of_values
from steelyard.app.history.find_changes import DEFAULT_DETECTOR
from steelyard.core.rng import derive_seed

Draw = Callable[[np.random.Generator, int], NDArray[np.float64]]
LENGTHS = (30, 100, 300, 1000, 10_000)
MOST = 1e-3
_MEMORY = 0.6
_SETTLING = 100


def _remembering(generator: np.random.Generator, count: int) -> NDArray[np.float64]:
    shocks = generator.standard_normal(count + _SETTLING) * (1 - _MEMORY**2) ** 0.5
    values = np.empty(count + _SETTLING)
    last = 0.0
    for place, shock in enumerate(shocks.tolist()):
        last = _MEMORY * last + shock
        values[place] = last
    return values[_SETTLING:]


def _two_modes(generator: np.random.Generator, count: int) -> NDArray[np.float64]:
    return np.where(generator.random(count) < 0.3, 5.0, 0.0) + 0.5 * generator.normal(size=count)


def _shuffled(generator: np.random.Generator, count: int) -> NDArray[np.float64]:
    tracks = _real_tracks()
    values = tracks[int(generator.integers(len(tracks)))]
    drawn = generator.permutation(values)[:count]
    return drawn if len(drawn) == count else generator.choice(values, count)


@lru_cache(maxsize=1)
def _real_tracks() -> list[NDArray[np.float64]]:
    """In units of their deviation."""
    tracks = [track.values for track in annotated_tracks()]
    return [(one - one.mean()) / one.std() for one in tracks if one.std() > 0.0]


POPULATIONS: dict[str, Draw] = {
    "normal": lambda generator, count: generator.standard_normal(count),
    "lognormal": lambda generator, count: np.exp(generator.standard_normal(count)),
    "two modes": _two_modes,
    "t with 3 degrees": lambda generator, count: generator.standard_t(3, size=count),
    "keeps 0.6": _remembering,
    "real, shuffled": _shuffled,
}


def main() -> int:
    """Simulate and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--points", type=int, default=200_000)
    parser.add_argument("--of-others", type=int, default=30_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--no-docs", action="store_true", help="only print the table")
    options = parser.parse_args()
    rows: list[tuple[str, ...]] = []
    held = True
    for detector in DETECTORS:
        asked = options.points if detector.name == DEFAULT_DETECTOR else options.of_others
        for name, draw in POPULATIONS.items():
            cells: list[str] = []
            for length in LENGTHS:
                generator = np.random.default_rng(derive_seed(options.seed, name, str(length)))
                tracks = max(1, asked // length)
                found = 0
                for _ in range(tracks):
                    series = series_of_values(100.0 + draw(generator, length))
                    found += len(detector.detect(series, Sensitivity()))
                points = tracks * length
                cells.append(f"{found / points:.1e}" if found else f"< {3 / points:.0e}")
                broken = detector.name == DEFAULT_DETECTOR and is_above(found, points, MOST)
                held = held and not broken
            rows.append((detector.name, name, *cells))
    header = ("detector", "values", *(f"{length} values" for length in LENGTHS))
    said = (
        f"Changes for each value, {options.points} values a cell of {DEFAULT_DETECTOR} and "
        f"{options.of_others} of the others, a rate of 1e-4 asked for:"
    )
    lines = ["", said, "", *table(header, rows), ""]
    print("\n".join(lines))
    if not options.no_docs:
        write_section("history false alarms", lines)
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main())
