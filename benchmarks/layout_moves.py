"""Do programs that `steelyard cc` built move? Sampled from outside, by perf.

The program runs with ASLR off, so that addresses mean the same in every run. Each sample inside
its own code either lies in the original text or in a copy; the runtime's functions, which stay,
are told apart. The hottest 4 KiB of copies is compared from one interval to the next, and where the
program is from one seed to another. Then a loop in main and a static recursion, each entered once,
tell how often what they call was elsewhere.

    python -m benchmarks.layout_moves --interval-ms 500 --long 60 suite:lua suite:bzip2
    python -m benchmarks.layout_moves --interval-ms 5 -- ./program arguments
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
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from benchmarks.layout_trials import DRIVER
from steelyard.app.request.command_text import SUITE_PREFIX, is_suite_name
from steelyard.app.suite.suite_name import SuiteName
from steelyard.app.suite.suite_program import Workshop
from steelyard.suite.known_recipes import RecipeRegistry
from steelyard.suite.suite_compilers import Toolchain

REACH_BYTES = 1 << 31  # copies lie no farther from the program
LOAD_ADDRESS = 0x555555554000  # of position-independent programs where ASLR is off
SAMPLES_PER_S = 2000
PAGE_BYTES = 4096
LEAST_OUTSIDE_RATIO = 0.95
LONG_RUNNING = Path(__file__).with_name("long_running.c")


@dataclass(frozen=True)
class Sample:
    """Where a thread was, and when."""

    time_s: float
    address: int


@dataclass(frozen=True)
class Run:
    """How a program is started: its words, its input, and its directory."""

    argv: tuple[str, ...]
    stdin: str = os.devnull
    directory: str | None = None


def suite_run(name: str, size: str) -> Run:
    """A program of the suite, built to move."""
    tools = Toolchain(cc=DRIVER, flags="-O2")
    asked = SuiteName(name, tools, size)
    launch = Workshop().ready(RecipeRegistry().get(name), asked).variant.launch
    return Run(launch.argv, launch.stdin_file or os.devnull, launch.working_directory)


def record(run: Run, layout: Mapping[str, str]) -> list[Sample]:
    """Run the program under perf; `layout` are the runtime's variables by their last words."""
    changes = {f"STEELYARD_LAYOUT{name}": value for name, value in layout.items()}
    with tempfile.TemporaryDirectory() as folder, open(run.stdin, "rb") as stdin:
        data = f"{folder}/perf.data"
        perf = ["perf", "record", "-q", "-e", "cpu-clock:u", "-F", str(SAMPLES_PER_S), "-o", data]
        subprocess.run(
            [*perf, "--", "setarch", "-R", *run.argv],
            env={**os.environ, **changes},
            cwd=run.directory,
            stdin=stdin,
            stdout=subprocess.DEVNULL,
            check=True,
        )
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
            section = elf.get_section_by_name(name)
            if section is None:
                raise SystemExit(f"{program} has no {name}: it was not built by steelyard cc.")
            header = section.header
            start = LOAD_ADDRESS + header["sh_addr"]
            found.append(range(start, start + header["sh_size"]))
        table = elf.get_section_by_name(".symtab")
        if not isinstance(table, SymbolTableSection):
            raise SystemExit(f"{program} has no table of symbols.")
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


def copies_of(run: Run, samples: Sequence[Sample]) -> tuple[list[Sample], int]:
    """The samples in copies of the program's functions, and how many were in the originals."""
    text, runtime = sections(run.argv[0])
    near = range(LOAD_ADDRESS - REACH_BYTES, LOAD_ADDRESS + REACH_BYTES)
    program = [s for s in samples if s.address in near and s.address not in runtime]
    copies = [s for s in program if s.address < LOAD_ADDRESS or s.address not in text]
    return copies, len(program) - len(copies)


def pages_of(run: Run, seed: int) -> Counter[int]:
    """How many samples lie in each page of copies, where the layout is drawn once."""
    copies, _ = copies_of(run, record(run, {"": "code", "_INTERVAL": "off", "_SEED": str(seed)}))
    return Counter(sample.address // PAGE_BYTES for sample in copies)


def shared_ratio(pages: Counter[int], known: Counter[int]) -> float:
    """The share of samples that lie in pages of another run."""
    return sum(count for page, count in pages.items() if page in known) / max(1, pages.total())


def moves_of(name: str, run: Run, interval_ms: int) -> bool:
    """Print what was seen of a program; whether it is as it must be."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        layout = {"": "code", "_INTERVAL": f"{interval_ms}ms", "_REPORT": str(report)}
        samples = record(run, layout)
        told = json.loads(report.read_text())
    copies, inside_count = copies_of(run, samples)
    pages = hottest_pages(copies, interval_ms / 1000)
    moved = sum(before != after for before, after in pairwise(pages))
    share = len(copies) / max(1, len(copies) + inside_count)
    first, again, other = (pages_of(run, seed) for seed in (1, 1, 2))
    same, different = shared_ratio(again, first), shared_ratio(other, first)
    print(
        f"| {name} | {len(copies) + inside_count} of {len(samples)} | {100 * share:.2f} % | "
        f"{moved} of {max(0, len(pages) - 1)} | {100 * same:.1f} % | {100 * different:.1f} % | "
        f"{told['moves']} | "
        f"{told['copies_freed']} |",
        flush=True,
    )
    return min(share, same) >= LEAST_OUTSIDE_RATIO and different <= 1 - LEAST_OUTSIDE_RATIO


def long_running(seconds: int, interval_ms: int) -> bool:
    """Print how many layouts code saw that was entered once; whether it saw most of them."""
    holds = True
    with tempfile.TemporaryDirectory() as folder:
        program, report = f"{folder}/long_running", Path(folder) / "report.json"
        subprocess.run([*DRIVER.split(), "-O2", str(LONG_RUNNING), "-o", program], check=True)
        changes = {
            "STEELYARD_LAYOUT_INTERVAL": f"{interval_ms}ms",
            "STEELYARD_LAYOUT_REPORT": str(report),
        }
        for mode in ("loop", "recursion"):
            done = subprocess.run(
                [program, mode, str(seconds)],
                env={**os.environ, **changes},
                capture_output=True,
                check=True,
            )
            found, told = json.loads(done.stdout), json.loads(report.read_text())
            print(
                f"{mode}, {seconds} s: entered {found['seen']} layouts in {told['moves']} moves, "
                f"depth {found['depth']}, {told['copies_freed']} copies freed, never more than "
                f"{told['most_copies_bytes'] / 1024:.0f} KiB of them"
            )
            holds = holds and told["moves"] > 0 and found["seen"] >= 0.9 * told["moves"]
    return holds


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a line a program; the exit status says whether all is as it must be."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--interval-ms", type=int, default=500)
    parser.add_argument("--size", default="train", help="of programs of the suite")
    parser.add_argument("--long", type=int, metavar="SECONDS", help="a loop and a recursion too")
    parser.add_argument("argv", nargs="*", help="suite:NAME ..., or a program and its arguments")
    options = parser.parse_args(arguments)
    if shutil.which("perf") is None:
        sys.exit("perf is not there: `apt-get install linux-perf`")
    names = [word for word in options.argv if is_suite_name(word)]
    runs = {name: suite_run(name.removeprefix(SUITE_PREFIX), options.size) for name in names}
    if options.argv and not runs:
        runs = {os.path.basename(options.argv[0]): Run(tuple(options.argv))}
    print("| program | samples in its code | outside the original text | ", end="")
    print("hottest page is another", end="")
    print(" | same pages with the same seed | with another | moves | copies freed |")
    print("|---|---|---|---|---|---|---|---|")
    holds = True
    for name, run in runs.items():
        holds = moves_of(name, run, options.interval_ms) and holds
    if options.long:
        holds = long_running(options.long, options.interval_ms) and holds
    print("holds" if holds else "DOES NOT HOLD")
    return 0 if holds else 1


if __name__ == "__main__":
    sys.exit(main())
