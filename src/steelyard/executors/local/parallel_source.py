"""Blocks whose trials run at the same time, each on CPUs of its own.

After Bulej, Horky, Tuma, Farquet and Prokopec, "Duet Benchmarking: Improving Measurement Accuracy
in the Cloud", ICPE 2020: what disturbs the machine disturbs all programs of a block alike, and
cancels in their ratio.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from steelyard.core.errors import MissingCapabilityError, UsageError
from steelyard.core.experiment_results import Trial
from steelyard.core.experiment_spec import ExperimentSpec, Variant
from steelyard.design.blocks import PlannedTrial
from steelyard.executors.local.launcher_source import LauncherSource
from steelyard.host.cpu_list import parse_cpu_list
from steelyard.host.system_files import HostFiles
from steelyard.measure.launcher import Launcher


def check_parallel(spec: ExperimentSpec) -> None:
    """Refuse what cannot run at the same time.

    Raises
    ------
    UsageError, MissingCapabilityError
        The message says what does not go with it, or how many CPUs there are.
    """
    if len(spec.variants) < 2:
        raise UsageError("The order parallel takes two programs or more.", field="--order")
    unfit = {
        "steps of a trial (--prepare, --cleanup)": any(
            v.prepare or v.cleanup for v in spec.variants
        ),
        "builds": any(variant.build is not None for variant in spec.variants),
        "levels of repetition": bool(spec.levels),
        "randomised factors": bool(spec.nuisance),
        "recorded events": spec.events is not None,
        "profiles": spec.profiles is not None,
        "levels of the host": any(variant.host for variant in spec.variants),
    }
    for what in (name for name, is_asked in unfit.items() if is_asked):
        raise UsageError(
            f"The order parallel does not go with {what}: the other program would run meanwhile.",
            field="--order",
        )
    lane_cpus(usable_cpus(spec), len(spec.variants))


def usable_cpus(spec: ExperimentSpec) -> tuple[int, ...]:
    """The CPUs that the programs of `spec` may use."""
    asked = spec.variants[0].launch.cpus
    return tuple(sorted(os.sched_getaffinity(0))) if asked is None else asked


def lane_cpus(
    cpus: Sequence[int], lane_count: int, files: HostFiles | None = None
) -> list[tuple[int, ...]]:
    """The CPUs of each lane: as many for each, whole cores where there are enough of them.

    Parameters
    ----------
    cpus : sequence of int
        Those that may be used.
    lane_count : int
    files : HostFiles, optional
        Say which CPUs are hardware threads of one core.

    Raises
    ------
    MissingCapabilityError
        There are fewer CPUs than lanes.
    """
    if len(cpus) < lane_count:
        raise MissingCapabilityError(
            f"The order parallel takes a CPU for each program: {lane_count}, and {len(cpus)} may "
            "be used. --order blocks runs one after the other.",
            field="--order",
        )
    by_core: dict[tuple[int, ...], list[int]] = {}
    for cpu in sorted(set(cpus)):
        by_core.setdefault(_core_of(cpu, files or HostFiles()), []).append(cpu)
    cores = list(by_core.values())
    if len(cores) >= lane_count:
        each = len(cores) // lane_count
        chosen = [cores[lane * each : (lane + 1) * each] for lane in range(lane_count)]
        return [tuple(cpu for core in lane for cpu in core) for lane in _equal(chosen)]
    single = [cpu for core in cores for cpu in core]
    each = len(single) // lane_count
    return [tuple(single[lane * each : (lane + 1) * each]) for lane in range(lane_count)]


def _equal(lanes: list[list[list[int]]]) -> list[list[list[int]]]:
    """Lanes with as many hardware threads of each core as the core with the fewest has."""
    fewest = min(len(core) for lane in lanes for core in lane)
    return [[core[:fewest] for core in lane] for lane in lanes]


def _core_of(cpu: int, files: HostFiles) -> tuple[int, ...]:
    text = files.read(f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list")
    return tuple(parse_cpu_list(text)) if text else (cpu,)


class OnCpus:
    """Puts programs on these CPUs; the same program stays the same value."""

    def __init__(self, cpus: tuple[int, ...]) -> None:
        self._cpus = cpus
        self._known: dict[int, tuple[Variant, Variant]] = {}

    def __call__(self, program: Variant, trial: PlannedTrial) -> Variant:
        """`program` as it is launched there."""
        known = self._known.get(trial.variant)
        if known is None or known[0] is not program:
            placed = replace(program, launch=replace(program.launch, cpus=self._cpus))
            known = self._known[trial.variant] = program, placed
        return known[1]


@dataclass
class Lane:
    """A launcher of its own, and how many of its trials have not ended."""

    launcher: Launcher
    source: LauncherSource
    running: int = 0


class ParallelSource:
    """Runs all trials of a block at the same time, the first one of its random order in the first
    lane, and begins the next block when all have ended.

    Parameters
    ----------
    lanes : sequence of Lane
        As many as there are variants.
    """

    def __init__(self, lanes: Sequence[Lane]) -> None:
        self._lanes = tuple(lanes)
        self._waiting: deque[tuple[PlannedTrial, Variant]] = deque()

    def queue(self, trial: PlannedTrial, program: Variant) -> None:
        """Queue one trial; it begins with the others of its block."""
        self._waiting.append((trial, program))

    def take(self) -> Iterator[Trial]:
        """The trials that have ended; begins the next block where none runs."""
        self._begin_block()
        lane = next((lane for lane in self._lanes if lane.running), None)
        if lane is None:
            return
        for trial in lane.source.take():
            lane.running -= 1
            yield trial
        self._begin_block()

    def abandon(self) -> list[Trial]:
        """End what runs and give what had ended."""
        self._waiting.clear()
        return [trial for lane in self._lanes for trial in lane.source.abandon()]

    def _begin_block(self) -> None:
        if any(lane.running for lane in self._lanes) or not self._waiting:
            return
        block = self._place(self._waiting[0][0])[0]
        while self._waiting and self._place(self._waiting[0][0])[0] == block:
            trial, program = self._waiting.popleft()
            lane = self._lanes[self._place(trial)[1]]
            lane.source.queue(trial, program)
            lane.running += 1
        for lane in self._lanes:
            lane.launcher.send()

    def _place(self, trial: PlannedTrial) -> tuple[tuple[bool, int], int]:
        """Which block it is of, of warm-ups or of trials, and its place there."""
        position = -1 - trial.position if trial.warmup else trial.position
        block, place = divmod(position, len(self._lanes))
        return (trial.warmup, block), place
