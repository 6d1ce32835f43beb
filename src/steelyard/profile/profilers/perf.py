"""Linux perf, at a fixed period of its software clock."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence

from steelyard.core.errors import DataError
from steelyard.profile.profilers import Launch, Profiler, Reading, require_program, shares_of

# The same rate as Steelyard's own default.
_FREQUENCY = "999"


def _require(_: Sequence[str]) -> None:
    require_program("perf", "perf", "linux-perf")


def _launch(path: str, argv: Sequence[str]) -> Launch:
    options = ("-e", "cpu-clock:u", "-F", _FREQUENCY, "-q", "-o", path)
    return Launch(("perf", "record", *options, "--", *argv))


def _read(path: str, _: Sequence[str]) -> Reading:
    _require(())
    if not os.path.isfile(path):
        raise DataError(f"There is no profile {path}.", field="profile")
    command = ["perf", "report", "-f", "-i", path, "--stdio", "--no-children", "-q"]
    told = subprocess.run(
        [*command, "-F", "sample,sym", "-t", "\t", "--percent-limit", "0"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    if told.returncode != 0:
        words = (told.stderr.strip().splitlines() or ["no message"])[-1]
        raise DataError(f"{path} is not a profile of perf: {words[:200]}", field="profile")
    counts: dict[str, float] = {}
    for line in told.stdout.splitlines():
        count, tab, symbol = line.partition("\t")
        if not tab or not count.strip().isdigit():
            continue
        name = symbol.strip().partition("] ")[2] or symbol.strip()
        counts[name] = counts.get(name, 0.0) + int(count)
    return Reading(shares_of(counts, path))


EXTENSION = Profiler("perf", "samples at a fixed period", "native", _require, _launch, _read)
