"""Are the times of samples random? The autocorrelation of the times between them."""

from __future__ import annotations

import argparse
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt
from scipy.stats import binom

from benchmarks.sampling.sampled_programs import SOURCES, Programs, verdict
from steelyard.analysis.profiles.sampling_health import SamplingHealth, sampling_health
from steelyard.core.errors import DataError, MissingCapabilityError
from steelyard.profile.file.profile_file import read_profile
from steelyard.profile.profilers import PROFILERS
from steelyard.profile.profilers.safepoint import read_safepoint_profile
from steelyard.profile.recording_request import Recording
from steelyard.profile.sampler import record

EXAMPLE = SOURCES.parents[1] / "examples" / "profile" / "YieldPoints.java"
PICTURE = SOURCES.parents[1] / "docs" / "images" / "sampling-autocorrelation.png"
MILLISECOND_NS = 1_000_000
FEWEST_SAMPLES = 10_000
# So many lags outside the bounds are rarer than this where intervals are independent.
UNLIKELY = 0.001
PHASE_BINS = 25
Times = npt.NDArray[np.uint64]


def _ours(programs: Programs, options: argparse.Namespace) -> Times:
    """The looks at the CPU that was looked at most; idle or not, a look is a look."""
    argv = (programs.shares, "loops", str(options.random_ms))
    period_ns = options.period_us * 1e3
    record(Recording(programs.profile, argv, None, period_ns, options.spread, seed=options.seed))
    samples = read_profile(programs.profile).samples
    cpu = np.bincount(samples["cpu"]).argmax()
    return samples["time_ns"][samples["cpu"] == cpu]


def _perf(programs: Programs, options: argparse.Namespace) -> Times:
    """The same of perf with a fixed period, which looks at idle CPUs too when told to watch all."""
    told = str(programs.folder / "perf.data")
    what = ("-a", "-e", "cpu-clock", "-c", str(round(1e3 * options.period_us)), "-q", "-o", told)
    program = (programs.shares, "loops", str(options.random_ms))
    subprocess.run(["perf", "record", *what, "--", *program], check=True)
    command = ["perf", "script", "-i", told, "--ns", "-F", "cpu,time"]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    pairs = [line.replace("[", " ").replace("]", " ").split() for line in text.splitlines()]
    cpus = np.array([int(cpu) for cpu, _ in pairs])
    times = [int(time.rstrip(":").replace(".", "")) for _, time in pairs]
    return np.sort(np.array(times, np.uint64)[cpus == np.bincount(cpus).argmax()])


def _safepoint(programs: Programs, options: argparse.Namespace) -> Times:
    """The looks of a sampler that waits until Java's threads have stopped for the machine."""
    subprocess.run(["javac", "-d", programs.folder, str(EXAMPLE)], check=True)
    profiler = PROFILERS.get("safepoint")
    argv = ["java", "-cp", str(programs.folder), "YieldPoints", str(options.java_rounds)]
    profiler.require(argv)
    told = programs.folder / "safepoint"
    launch = profiler.launch(str(told), argv, 0)
    environment = {**os.environ, **launch.environment}
    subprocess.run(launch.argv, check=True, env=environment, stdout=subprocess.DEVNULL)
    return np.array(read_safepoint_profile(str(told))[1], np.uint64)


SOURCES_OF_TIMES: dict[str, Callable[[Programs, argparse.Namespace], Times]] = {
    "steelyard": _ours,
    "perf, fixed period": _perf,
    "safepoint sampler": _safepoint,
}


def _concentration(times_ns: Times) -> float:
    """How much the times keep to one place in a millisecond: 1 is all, about 0 none (Rayleigh)."""
    angles = 2 * np.pi * (times_ns % np.uint64(MILLISECOND_NS)).astype(float) / MILLISECOND_NS
    return float(abs(np.exp(1j * angles).mean()))


def prove(programs: Programs, options: argparse.Namespace) -> bool:
    """Print a row for each sampler, and draw the correlations and the places in the millisecond."""
    print(
        "| sampler | intervals | mean | variation | lag 1 | lags outside the bounds | bound "
        "| keeps to one phase |"
    )
    print("|---|---|---|---|---|---|---|---|")
    drawn: dict[str, tuple[SamplingHealth, Times]] = {}
    for name, times_of in SOURCES_OF_TIMES.items():
        try:
            times_ns = times_of(programs, options)
        except (MissingCapabilityError, DataError, OSError, subprocess.CalledProcessError) as error:
            print(f"| {name} | left out: {error} |" + " |" * 6, flush=True)
            continue
        found = sampling_health(times_ns, np.zeros(len(times_ns), np.uint32), name)
        if not found:
            print(f"| {name} | left out: it looked {len(times_ns)} times only |" + " |" * 6)
            continue
        (health,) = found
        drawn[name] = health, times_ns
        lags = health.autocorrelation
        outside = sum(abs(value) > health.bound for value in lags)
        print(
            f"| {name} | {health.interval_count} | {health.mean_ns / 1e6:.3f} ms | "
            f"{health.variation:.3f} | {lags[0]:+.3f} | {outside} of {len(lags)} | "
            f"± {health.bound:.3f} | {_concentration(times_ns):.3f} |",
            flush=True,
        )
    if options.picture:
        _draw(drawn, PICTURE)
    ours, _ = drawn["steelyard"]
    outside = sum(abs(value) > ours.bound for value in ours.autocorrelation)
    random = float(binom.sf(outside - 1, len(ours.autocorrelation), 0.05)) > UNLIKELY
    enough = ours.interval_count >= FEWEST_SAMPLES
    print(f"steelyard's own, over {ours.interval_count} intervals: {verdict(random and enough)}")
    return random and enough


def _draw(found: dict[str, tuple[SamplingHealth, Times]], picture: Path) -> None:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 4.8), dpi=150)
    FigureCanvasAgg(figure)
    rows = figure.subplots(2, len(found), squeeze=False, sharey="row")
    for (upper, lower), (name, (health, times_ns)) in zip(rows.T, found.items(), strict=True):
        lags = range(1, len(health.autocorrelation) + 1)
        upper.axhspan(-health.bound, health.bound, color="#E8EDF2")
        upper.vlines(lags, 0, health.autocorrelation, color="#0072B2", linewidth=1.5)
        upper.axhline(0, color="#8a8f98", linewidth=0.8)
        upper.set_title(f"{name}, {health.interval_count:,} intervals", fontsize=9)
        upper.set_xlabel("lag, samples")
        phases = (times_ns % np.uint64(MILLISECOND_NS)).astype(float) / MILLISECOND_NS
        shares, edges = np.histogram(phases, bins=PHASE_BINS, range=(0, 1))
        lower.bar(edges[:-1], 100 * shares / len(phases), 1 / PHASE_BINS, align="edge")
        lower.axhline(100 / PHASE_BINS, color="#8a8f98", linewidth=0.8)
        lower.set_xlabel("place in the millisecond, ms")
    rows[0][0].set_ylabel("autocorrelation")
    rows[1][0].set_ylabel("samples, %")
    for axes in rows.flat:
        axes.spines[["top", "right"]].set_visible(False)
    figure.tight_layout()
    figure.savefig(picture)
