"""How long do detectors take for long tracks, beside Apache Otava?

    python -m benchmarks.history.detector_speed [--tracks 10] [--points 10000] [--seed 1]
        [--no-docs]

Tracks of normal values with 20 steps each. Processor time, the least of three rounds, each round
all tracks; Otava 0.8 in an environment of its own, in the same run. 20 times as fast is wanted of
the detector that is taken by default.
"""

from __future__ import annotations

import argparse
import sys
import time

import numpy as np

from benchmarks.history.other_tools import changes_by
from benchmarks.prove.proof_page import table, write_section
from steelyard.analysis.history.detector import Detector, Sensitivity
from steelyard.analysis.history.detectors import DETECTORS
from steelyard.analysis.history.series import Series, series_of_values
from steelyard.app.history.find_changes import DEFAULT_DETECTOR

_ROUNDS = 3
_STEPS = 20
WANTED = 20.0
# As many values as a check after each commit looks at.
RECENT = 1000
# The others look at each value in a loop, or at all pairs.
TIMED = ("talos", "talos-calibrated", "levels", "weighed")


def made_tracks(count: int, points: int, seed: int) -> list[np.ndarray]:
    """Tracks with steps of up to some deviations."""
    random = np.random.default_rng(seed)
    tracks: list[np.ndarray] = []
    for _ in range(count):
        values = 100.0 + random.standard_normal(points)
        for at in random.integers(50, points - 50, _STEPS).tolist():
            values[at:] += 4.0 * random.standard_normal()
        tracks.append(values)
    return tracks


def seconds_of(detector: Detector, tracks: list[Series]) -> float:
    """Processor seconds for all tracks, the least of some rounds."""
    best = float("inf")
    for _ in range(_ROUNDS):
        begun = time.process_time()
        for track in tracks:
            detector.detect(track, Sensitivity())
        best = min(best, time.process_time() - begun)
    return best


def main() -> int:
    """Time and print; 1 where the default detector is not as fast as wanted."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tracks", type=int, default=10)
    parser.add_argument("--points", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--no-docs", action="store_true", help="only print the table")
    options = parser.parse_args()
    values = made_tracks(options.tracks, options.points, options.seed)
    tracks = [series_of_values(one) for one in values]
    otava = min(changes_by("otava", values)[1] for _ in range(_ROUNDS))
    spent = {name: seconds_of(DETECTORS.get(name), tracks) for name in TIMED}
    rows = [
        (name, f"{1000 * each / options.tracks:.2f}", f"{otava / each:.1f}")
        for name, each in spent.items()
    ]
    newest = [track.part(len(track) - RECENT, len(track)) for track in tracks]
    each = seconds_of(DETECTORS.get(DEFAULT_DETECTOR), newest)
    named = f"{DEFAULT_DETECTOR}, the newest {RECENT} (--recent)"
    rows.append((named, f"{1000 * each / options.tracks:.2f}", f"{otava / each:.1f}"))
    rows.append(("otava", f"{1000 * otava / options.tracks:.2f}", "1"))
    said = f"{options.tracks} tracks of {options.points} values:"
    lines = [
        "",
        said,
        "",
        *table(("detector", "CPU ms a track", "times as fast as Otava"), rows),
        "",
    ]
    print("\n".join(lines))
    if not options.no_docs:
        write_section("history speed", lines)
    return 0 if otava / spent[DEFAULT_DETECTOR] >= WANTED else 1


if __name__ == "__main__":
    sys.exit(main())
