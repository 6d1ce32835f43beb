"""A program as regular as a profiler: busy in one function for 30 % of every millisecond."""

from __future__ import annotations

import argparse
import os
import subprocess
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from benchmarks.sampling.sampled_programs import Programs, Recorded, recorded, verdict
from steelyard.profile.recording_request import Recording

WITHIN_POINTS, OFF_BY_POINTS = 3.0, 30.0
RANDOM, FIXED = "random", "fixed"


@dataclass(frozen=True)
class Seen:
    """One thread of one recording: what was true of it, and the samples in `early` and `late`."""

    thread: str
    truth: float
    early: int
    late: int


def _truths(told: str) -> dict[int, float]:
    """The share of each thread's time in `early`, by its number; the main thread's is lowest."""
    pairs = (line.split() for line in told.splitlines())
    return dict(sorted((int(thread), float(share)) for thread, share in pairs))


def _started(programs: Programs, recording: Recording, limit_ms: int) -> tuple[Recorded, str]:
    """Under `profile record -- CMD`; what the program tells goes to a file."""
    told = programs.folder / "told"
    command = f"exec '{programs.aliasing}' {limit_ms} > '{told}'"
    found = recorded(replace(recording, argv=("/bin/sh", "-c", command)))
    return found, told.read_text()


def _joined(programs: Programs, recording: Recording, limit_ms: int) -> tuple[Recorded, str]:
    """Under `profile record --pid`."""
    command = [programs.aliasing, str(limit_ms)]
    program = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    told: list[str] = []
    # Somebody has to take what it tells and its end, or it stays as a zombie that can be watched.
    waiter = threading.Thread(target=lambda: told.append(program.communicate()[0]))
    waiter.start()
    found = recorded(replace(recording, process=program.pid))
    waiter.join()
    return found, told[0]


WAYS: dict[str, Callable[[Programs, Recording, int], tuple[Recorded, str]]] = {
    "CMD": _started,
    "--pid": _joined,
}


def _seen(found: Recorded, told: str) -> Iterator[Seen]:
    for name, (thread, truth) in zip(("main", "second"), _truths(told).items(), strict=True):
        early, late = found.counts(("early", "late"), thread)
        if early + late:
            yield Seen(name, truth, early, late)


def _row(way: str, kind: str, thread: str, seen: list[Seen]) -> bool:
    """Print one row; whether it is as it must be.

    A fixed period meets the same part of the millisecond all through a recording, and each
    recording another part: so its error is that of each recording, on the mean.
    """
    early, late = sum(item.early for item in seen), sum(item.late for item in seen)
    truth = sum(item.truth for item in seen) / len(seen)
    errors = [100 * abs(item.early / (item.early + item.late) - item.truth) for item in seen]
    mean_error = sum(errors) / len(errors)
    pooled = 100 * early / (early + late)
    of_all = abs(pooled - 100 * truth)
    holds = of_all <= WITHIN_POINTS if kind == RANDOM else mean_error > OFF_BY_POINTS
    print(
        f"| {way} | {thread} | {kind} | {early + late} | {100 * truth:.1f} % | {pooled:.1f} % "
        f"| {mean_error:.1f} | {max(errors):.1f} | {verdict(holds)} |",
        flush=True,
    )
    return holds


def prove(programs: Programs, options: argparse.Namespace) -> bool:
    """Print a row for each way to watch, thread and spread."""
    print(
        "| recorded with | thread | period | samples | truth | all recordings "
        "| mean error of one, points | largest | |"
    )
    print("|---|---|---|---|---|---|---|---|---|")
    holds = True
    for way, run in WAYS.items():
        for kind in (RANDOM, FIXED):
            seen: list[Seen] = []
            for number in range(options.recordings):
                recording = Recording(
                    output=programs.profile,
                    period_ns=options.period_us * 1e3,
                    spread=options.spread if kind == RANDOM else "fixed",
                    seed=options.seed + number,
                    threads_only=options.threads_only,
                )
                seen.extend(_seen(*run(programs, recording, options.limit_ms)))
                os.remove(programs.profile)
            for thread in ("main", "second"):
                of_it = [item for item in seen if item.thread == thread]
                holds = _row(way, kind, thread, of_it) and holds
    return holds
