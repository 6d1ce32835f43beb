"""Linux perf, at a fixed period of its software clock."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence

from steelyard.core.errors import DataError
from steelyard.profile.profilers import Profiler

# The same rate as Steelyard's own default.
_FREQUENCY = "999"


def _command(path: str, argv: Sequence[str]) -> list[str]:
    options = ["-e", "cpu-clock:u", "-F", _FREQUENCY, "-q", "-o", path]
    return ["perf", "record", *options, "--", *argv]


def _shares(path: str) -> Mapping[str, float]:
    command = ["perf", "report", "-i", path, "--stdio", "--no-children", "-q"]
    told = subprocess.run(
        [*command, "-F", "overhead,sym", "-t", "\t", "--percent-limit", "0"],
        capture_output=True,
        text=True,
        check=False,
    )
    if told.returncode != 0:
        raise DataError(f"perf cannot read its own profile {path}: {told.stderr.strip()[:200]}")
    shares: dict[str, float] = {}
    for line in told.stdout.splitlines():
        overhead, tab, symbol = line.partition("\t")
        if not tab or not overhead.strip().endswith("%"):
            continue
        name = symbol.strip().partition("] ")[2] or symbol.strip()
        shares[name] = shares.get(name, 0.0) + float(overhead.strip().rstrip("%")) / 100
    return shares


EXTENSION = Profiler("perf", "linux-perf", "perf", _command, _shares)
