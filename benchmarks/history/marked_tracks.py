"""How well do detectors find the changes that people marked?

    python -m benchmarks.history.marked_tracks [--data DIR] [--no-docs]

Tracks of real benchmarks, each marked by several people (shared/data/change-points). A change found
within 5 versions of a marked one is a hit, each in one pair only; every annotator weighs the same.
Beside our detectors Apache Otava 0.8 and PELT of ruptures 1.1, in an environment of their own, and
as a ceiling each annotator beside the others. Intervals are of 2,000 draws of tracks.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from benchmarks.history.annotated_tracks import DATA, annotated_tracks
from benchmarks.history.other_tools import changes_by
from benchmarks.history.scoring import Count, ceiling, count_of, ratio_interval, score_of
from benchmarks.prove.proof_page import table, write_section
from steelyard.analysis.history.detector import Sensitivity
from steelyard.analysis.history.detectors import DETECTORS
from steelyard.analysis.history.series import series_of_values
from steelyard.app.history.find_changes import DEFAULT_DETECTOR


def main() -> int:
    """Score and print; 1 where the best of ours is below Talos's rule or below Otava."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--no-docs", action="store_true", help="only print the table")
    options = parser.parse_args()
    tracks = annotated_tracks(options.data)
    counts: dict[str, list[Count]] = {}
    seconds: dict[str, float] = {}
    for detector in DETECTORS:
        started_s = time.process_time()
        found = [
            [
                d.index
                for d in detector.detect(series_of_values(t.values), Sensitivity())
                if d.kind == "step"
            ]
            for t in tracks
        ]
        seconds[detector.name] = time.process_time() - started_s
        counts[detector.name] = [
            count_of(places, track.annotators) for places, track in zip(found, tracks, strict=True)
        ]
    for tool, by in (("otava", "otava"), ("pelt of ruptures", "pelt")):
        places_of, seconds[tool] = changes_by(by, [track.values for track in tracks])
        counts[tool] = [
            count_of(places, track.annotators)
            for places, track in zip(places_of, tracks, strict=True)
        ]
    counts["annotators"] = ceiling([track.annotators for track in tracks])
    rows = []
    for name, of_tracks in counts.items():
        score = score_of(of_tracks)
        low, high = score.f1_interval
        spent = f"{1000 * seconds[name] / len(tracks):.1f}" if name in seconds else ""
        rows.append(
            (
                *(name, f"{score.precision:.3f}", f"{score.recall:.3f}"),
                *(f"{score.f1:.3f} ({low:.3f} to {high:.3f})", f"{score.delay_median:.0f}"),
                *(f"{100 * score.doubled_ratio:.1f} %", str(score.found), spent),
            )
        )
    points = sum(len(track.values) for track in tracks)
    lines = ["", f"{len(tracks)} tracks, {points} values:", ""]
    header = ("who", "precision", "recall", "F1 (95 %)", "off by, median", "doubled", "found")
    lines += [*table((*header, "CPU ms a track"), rows), ""]
    held = True
    for other in ("talos", "otava"):
        ratio, low, high = ratio_interval(counts[DEFAULT_DETECTOR], counts[other])
        lines.append(
            f"F1 of {DEFAULT_DETECTOR} / {other}: {ratio:.3f} ({low:.3f} to {high:.3f}); "
            "1.15 is wanted."
        )
        held = held and ratio >= 1.15
    print("\n".join(lines))
    if not options.no_docs:
        write_section("history marked", lines)
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main())
