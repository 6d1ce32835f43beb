"""Do programs that `steelyard cc` built move? Sampled from outside, by perf.

The program runs with ASLR off, so that addresses mean the same in every run. Each sample inside
its own code either lies in the original text or in a copy; the runtime's functions, which stay,
are told apart. The hottest 4 KiB of copies is compared from one interval to the next.

    .venv/bin/python -m benchmarks.layout_moves --interval-ms 500 -- ./program arguments
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from elftools.elf.elffile import ELFFile

REACH_BYTES = 1 << 31  # copies lie no farther from the program
LOAD_ADDRESS = 0x555555554000  # of position-independent programs where ASLR is off
SAMPLES_PER_S = 2000
PAGE_BYTES = 4096


@dataclass(frozen=True)
class Sample:
    """Where a thread was, and when."""

    time_s: float
    address: int


def record(argv: Sequence[str], interval_ms: int, report: Path) -> list[Sample]:
    """Run the program under perf."""
    environment = {
        **os.environ,
        "STEELYARD_LAYOUT": "code",
        "STEELYARD_LAYOUT_INTERVAL": f"{interval_ms}ms",
        "STEELYARD_LAYOUT_REPORT": str(report),
    }
    with tempfile.TemporaryDirectory() as folder:
        data = f"{folder}/perf.data"
        perf = ["perf", "record", "-q", "-e", "cpu-clock:u", "-F", str(SAMPLES_PER_S), "-o", data]
        command = [*perf, "--", "setarch", "-R", *argv]
        subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, check=True)
        listing = subprocess.run(
            ["perf", "script", "-i", data, "-F", "time,ip"],
            capture_output=True,
            text=True,
            check=True,
        )
    words = (line.split() for line in listing.stdout.splitlines())
    return [Sample(float(word[0].rstrip(":")), int(word[1], 16)) for word in words if len(word) > 1]


def sections(program: str) -> tuple[range, range]:
    """The addresses of the original text and of the runtime's functions in it."""
    with open(program, "rb") as file:
        elf = ELFFile(file)
        found = []
        for name in (".text", "steelyard_text"):
            header = elf.get_section_by_name(name).header
            start = LOAD_ADDRESS + header["sh_addr"]
            found.append(range(start, start + header["sh_size"]))
        table = elf.get_section_by_name(".symtab")
        own = [
            symbol
            for symbol in table.iter_symbols()
            if "9steelyard6layout" in symbol.name and symbol["st_info"]["type"] == "STT_FUNC"
        ]
    low = min(symbol["st_value"] for symbol in own)
    high = max(symbol["st_value"] + symbol["st_size"] for symbol in own)
    return found[0], range(LOAD_ADDRESS + low, LOAD_ADDRESS + high)


def hottest_pages(copies: Sequence[Sample], interval_s: float) -> list[int]:
    """The page with the most samples of each interval."""
    intervals: dict[int, Counter[int]] = {}
    for sample in copies:
        counter = intervals.setdefault(int(sample.time_s / interval_s), Counter())
        counter[sample.address // PAGE_BYTES] += 1
    return [intervals[key].most_common(1)[0][0] for key in sorted(intervals)]


def main() -> int:
    """Print the shares; the exit status says whether 95 % lay outside the original text."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--interval-ms", type=int, default=500)
    parser.add_argument("argv", nargs="+")
    options = parser.parse_args()
    if shutil.which("perf") is None:
        sys.exit("perf is not there: `apt-get install linux-perf`")
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        samples = record(options.argv, options.interval_ms, report)
        told = json.loads(report.read_text())
    text, runtime = sections(options.argv[0])
    near = range(LOAD_ADDRESS - REACH_BYTES, LOAD_ADDRESS + REACH_BYTES)
    program = [s for s in samples if s.address in near and s.address not in runtime]
    originals = [s for s in program if s.address in text]
    copies = [s for s in program if s.address < LOAD_ADDRESS or s.address not in text]
    pages = hottest_pages(copies, options.interval_ms / 1000)
    moved = sum(before != after for before, after in pairwise(pages))
    share = len(copies) / max(1, len(program))
    print(f"samples in the program's own code: {len(program)} of {len(samples)}")
    print(f"outside the original text: {100 * share:.2f} % ({len(originals)} inside)")
    print(f"intervals whose hottest page is another: {moved} of {max(0, len(pages) - 1)}")
    print(f"moves {told['moves']}, copies freed {told['copies_freed']}")
    return 0 if share >= 0.95 else 1


if __name__ == "__main__":
    sys.exit(main())
