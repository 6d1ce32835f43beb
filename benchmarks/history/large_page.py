"""How long do a large history's file, store and page take, and how large are they?

    python -m benchmarks.history.large_page [--tracks 1000] [--points 10000] [--seed 1]

Tracks with 20 steps each are added by `history add`, 100 tracks a file, and reported by `history
report`. Processor seconds and the largest resident memory of each command, as a user types them.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.history.detector_speed import made_tracks

TRACKS_A_FILE = 100
STEELYARD = (sys.executable, "-m", "steelyard.cli.main")


def taken(*words: str) -> tuple[float, float]:
    """Processor seconds and MiB of a command."""
    process = subprocess.Popen([*STEELYARD, *words], stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(words)}: exit status {process.returncode}")
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def main() -> None:
    """Make, add, report, print."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--tracks", type=int, default=1000)
    asked.add_argument("--points", type=int, default=10_000)
    asked.add_argument("--seed", type=int, default=1)
    given = asked.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        file, store, page = (str(Path(folder, name)) for name in ("t.csv", "s.sqlite", "p.html"))
        adding: list[tuple[float, float]] = []
        for begin in range(0, given.tracks, TRACKS_A_FILE):
            count = min(TRACKS_A_FILE, given.tracks - begin)
            tracks = made_tracks(count, given.points, given.seed + begin)
            with open(file, "w", encoding="utf-8") as stream:
                stream.write("series,metric,revision,value\n")
                for number, values in enumerate(tracks, begin):
                    stream.writelines(
                        f"b{number},time,{100_000 + at},{value:.6f}\n"
                        for at, value in enumerate(values.tolist())
                    )
            adding.append(taken("history", "add", file, "--store", store))
        reporting = taken("history", "report", "--store", store, "-o", page)
        values = given.tracks * given.points
        print(f"{given.tracks} tracks of {given.points} values")
        print(
            f"add: {sum(s for s, _ in adding) / values * 1e6:.1f} µs a value, "
            f"{max(mib for _, mib in adding):.0f} MiB at most for a file"
        )
        print(f"store: {Path(store).stat().st_size / values:.0f} bytes a value")
        print(f"report: {reporting[0]:.0f} s, {reporting[1]:.0f} MiB")
        print(f"page: {Path(page).stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
