"""What does a sample cost? Against the program alone, and beside perf at the same rate."""

from __future__ import annotations

import argparse
import os
import random
import re
import signal
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from math import sqrt
from statistics import mean, stdev

from scipy.stats import t as student

from benchmarks.sampling.sampled_programs import SOURCES, Programs, verdict
from steelyard.profile.java.java_command import java_recording
from steelyard.profile.profilers import PROFILERS
from steelyard.profile.recording_request import Recording, Spread
from steelyard.profile.sampler import record

RATES_HZ = (100, 1_000, 10_000)
ALONE, ALONE_TOO, OURS, PERF = "alone", "alone again", "steelyard", "perf"
# What steelyard keeps of a sample beside perf's instruction, thread and time: SP, BP and the CPU.
PERF_ALIKE = "perf with registers"
# With periods that the kernel keeps for a round of looks.
IN_ROUNDS = "steelyard, rounds"
# On whole CPUs, as steelyard samples, and not by a program's threads, as perf does by itself.
PERF_ON_CPUS = "perf on CPUs"
ASYNC = "async-profiler"
# What perf calls the chains; without frame pointers both have as much of the stack copied.
CHAINS: dict[str, tuple[str, ...]] = {
    "none": (),
    "frame-pointers": ("--call-graph", "fp"),
    "dwarf": ("--call-graph", "dwarf,32768"),
}
_SAMPLES = re.compile(r"\((\d+) samples\)")


@dataclass(frozen=True)
class Run:
    """How long the program took, by its own clock, and how often it was looked at."""

    elapsed_ns: int
    samples: int = 0


@dataclass
class Paired:
    """Differences between two runs of a block, in percent of the program alone."""

    values: list[float] = field(default_factory=list[float])

    def interval(self) -> tuple[float, float, float]:
        """Mean, low and high of 95 %, by Student."""
        count = len(self.values)
        half = float(student.ppf(0.975, count - 1)) * stdev(self.values) / sqrt(count)
        centre = mean(self.values)
        return centre, centre - half, centre + half

    def text(self) -> str:
        """As a table shows it."""
        return "{:+.2f} ({:+.2f} to {:+.2f})".format(*self.interval())


class Runner:
    """Runs the program alone or under a profiler."""

    def __init__(self, programs: Programs, options: argparse.Namespace) -> None:
        self._programs = programs
        self._rounds = str(options.rounds)
        self._told = str(programs.folder / "told")
        self._stacks = options.stacks
        self._java = options.java
        if options.java:
            build = ["javac", "-d", str(programs.folder), str(SOURCES / "Timed.java")]
            subprocess.run(build, check=True)
            flags = ("-XX:+UseSerialGC", "-XX:+PreserveFramePointer")
            program = ("java", *flags, "-cp", str(programs.folder), "Timed", self._rounds)
        elif options.clock_watcher_ms:
            program = (programs.clock_watcher, str(options.clock_watcher_ms))
        elif options.handovers:
            program = (programs.handover, str(options.handovers))
        else:
            program = (programs.shares, "timed", self._rounds)
        self._argv = (*program, self._told)

    def _elapsed_ns(self) -> int:
        with open(self._told, encoding="ascii") as file:
            return int(file.read())

    def alone(self, _: int) -> Run:
        """The program by itself."""
        subprocess.run(self._argv, check=True)
        return Run(self._elapsed_ns())

    def ours(self, rate_hz: int, spread: Spread = "uniform") -> Run:
        """Under the sampler, at random times."""
        recording = Recording(self._programs.profile, self._argv, period_ns=1e9 / rate_hz)
        recording = replace(recording, stacks=self._stacks, spread=spread)
        summary = record(java_recording(recording) if self._java else recording)
        os.remove(self._programs.profile)
        return Run(self._elapsed_ns(), int(summary["samples"]))

    def in_rounds(self, rate_hz: int) -> Run:
        """Under the sampler, which draws a period anew for each round."""
        return self.ours(rate_hz, "rounds")

    def async_profiler(self, rate_hz: int) -> Run:
        """Under async-profiler, by signals of the kernel's events; it always keeps call chains."""
        told = str(self._programs.folder / "collapsed")
        java, agent, *rest = PROFILERS.get(ASYNC).launch(told, self._argv, 0).argv
        agent = re.sub(r"interval=\w+", f"interval={10**9 // rate_hz}ns", agent)
        subprocess.run([java, agent, *rest], check=True, capture_output=True)
        with open(told, encoding="utf-8") as file:
            samples = sum(int(line.rsplit(" ", 1)[1]) for line in file)
        return Run(self._elapsed_ns(), samples)

    def perf_alike(self, rate_hz: int) -> Run:
        """Under perf, which keeps of a sample what the sampler keeps."""
        return self.perf(rate_hz, ("--user-regs=bp,sp", "--sample-cpu"))

    def perf_on_cpus(self, rate_hz: int) -> Run:
        """Under perf, which watches CPUs, whatever they run."""
        return self.perf(rate_hz, ("--all-cpus",))

    def perf(self, rate_hz: int, more: Sequence[str] = ()) -> Run:
        """Under perf, at a fixed period."""
        told = str(self._programs.folder / "perf.data")
        what = ["-e", "cpu-clock", "-c", str(10**9 // rate_hz), "-o", told, *more]
        # As Steelyard runs perf itself: it aborts at what kernel 6.18 says of build ids unasked.
        what += ["--buildid-mmap", "--no-buildid", "--no-buildid-cache"]
        what += CHAINS[self._stacks]
        command = ["perf", "record", *what, "--", *self._argv]
        done = subprocess.run(command, check=False, capture_output=True, text=True)
        if done.returncode == -signal.SIGABRT:
            # Its code for build ids aborts now and then (perf 6.1).
            done = subprocess.run(command, check=False, capture_output=True, text=True)
        done.check_returncode()
        found = _SAMPLES.search(done.stderr)
        return Run(self._elapsed_ns(), int(found.group(1)) if found else 0)


def prove(programs: Programs, options: argparse.Namespace) -> bool:
    """Print the table; whether the sampler is nowhere dearer than perf."""
    runner = Runner(programs, options)
    treatments: dict[str, Callable[[int], Run]] = {
        ALONE: runner.alone,
        ALONE_TOO: runner.alone,
        OURS: runner.ours,
        IN_ROUNDS: runner.in_rounds,
        PERF: runner.perf,
        **({ASYNC: runner.async_profiler} if options.java else {PERF_ALIKE: runner.perf_alike}),
        **({PERF_ON_CPUS: runner.perf_on_cpus} if options.handovers else {}),
    }
    order = random.Random(options.seed)
    print("| samples a second | | overhead, % (interval of 95 %) | µs a sample |")
    print("|---|---|---|---|")
    holds = True
    for rate_hz in options.rates:
        blocks: list[dict[str, Run]] = []
        for _ in range(options.blocks):
            names = order.sample(list(treatments), len(treatments))
            blocks.append({name: treatments[name](rate_hz) for name in names})
        holds = _table(rate_hz, blocks) and holds
    return holds


def _table(rate_hz: int, blocks: list[dict[str, Run]]) -> bool:
    alone = [(b[ALONE].elapsed_ns + b[ALONE_TOO].elapsed_ns) / 2 for b in blocks]
    print(f"| {rate_hz} | alone against alone | {_paired(blocks, ALONE_TOO, ALONE).text()} | |")
    others = [name for name in blocks[0] if name not in (ALONE, ALONE_TOO, OURS)]
    for name in (OURS, *others):
        added_ns = [b[name].elapsed_ns - base for b, base in zip(blocks, alone, strict=True)]
        paired = Paired([100 * a / base for a, base in zip(added_ns, alone, strict=True)])
        samples = mean(b[name].samples for b in blocks)
        # perf tells no count where it need not look for build ids at the end.
        count = f" ({samples:.0f} samples)" if samples else ""
        each_us = f"{mean(added_ns) / samples / 1e3:.1f}" if samples else ""
        print(f"| {rate_hz} | {name}{count} | {paired.text()} | {each_us} |")
    for name in others:
        difference = _paired(blocks, OURS, name)
        found = verdict(_no_dearer(difference))
        print(f"| {rate_hz} | steelyard - {name} | {difference.text()} | {found} |", flush=True)
    return _no_dearer(_paired(blocks, OURS, PERF))


def _no_dearer(difference: Paired) -> bool:
    return difference.interval()[1] <= 0


def _paired(blocks: list[dict[str, Run]], name: str, other: str) -> Paired:
    return Paired(
        [100 * (b[name].elapsed_ns - b[other].elapsed_ns) / b[ALONE].elapsed_ns for b in blocks]
    )
