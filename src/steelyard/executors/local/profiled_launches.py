"""Programs that run under a profiler, or with a function delayed, and what is read of that."""

from __future__ import annotations

import glob
import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from steelyard.core.errors import SteelyardError
from steelyard.core.experiment_spec import ExperimentSpec, Variant
from steelyard.core.profiled_spec import DelaySpec
from steelyard.core.rng import derive_seed
from steelyard.design.blocks import PlannedTrial
from steelyard.measure.trial_artifacts import remove_left
from steelyard.profile.delayed_run import DelayedRun
from steelyard.profile.delays import NativeDelays, native_program_s
from steelyard.profile.java.java_command import is_java
from steelyard.profile.java.java_delays import JavaDelays, java_program_s
from steelyard.profile.profilers import PROFILERS, Launch, read_profile

_PROFILE, _TIMES = ".profile", ".times"
_LOST = {"problem": "its profile is lost"}


class ProfiledLaunches:
    """Wraps the programs of an experiment in profilers and delays.

    Parameters
    ----------
    spec : ExperimentSpec
    directory : str
        For profiles, times and copies of programs; it exists.
    """

    def __init__(self, spec: ExperimentSpec, directory: str) -> None:
        self._seed = spec.seed
        self._directory = os.path.abspath(directory)
        self._delays: dict[tuple[tuple[str, ...], int], NativeDelays | JavaDelays] = {}

    def wrapped(self, program: Variant, trial: PlannedTrial) -> Variant:
        """`program` as the trial runs it; as it is where nothing is asked for.

        Raises
        ------
        UsageError, MissingCapabilityError
            It cannot be delayed, or its profiler is not there.
        """
        asked = program.profiled
        if asked is None:
            return program
        profile, times = _files(self._directory, trial.position)
        forget_profile(self._directory, trial.position)
        argv = program.launch.argv
        # With the same times of looks in all, runs would differ by less than random looks do.
        seed = derive_seed(self._seed, "looks", trial.variant, trial.position)
        profiler = None if asked.alone else PROFILERS.get(asked.profiler)
        if asked.delay is not None:
            delays = self._delays_of(argv, asked.delay)
            run = DelayedRun(asked.delay.function, asked.delay.turns, profile, times, seed)
            launch = delays.launch(profiler, run)
        elif profiler is not None:
            launch = profiler.launch(profile, argv, seed)
        elif is_java(argv):
            launch = JavaDelays(argv, self._directory).undelayed(times)
        else:
            launch = Launch(argv)
        environment = (*program.launch.environment, *launch.environment.items())
        wrapped = replace(program.launch, argv=tuple(launch.argv), environment=environment)
        return replace(program, launch=wrapped)

    def _delays_of(self, argv: tuple[str, ...], delay: DelaySpec) -> NativeDelays | JavaDelays:
        key = argv, delay.buffer_bytes
        if key not in self._delays:
            made = JavaDelays(argv, self._directory) if is_java(argv) else None
            self._delays[key] = made or NativeDelays(argv, self._directory, delay.buffer_bytes)
        return self._delays[key]


def left_profile(
    record: Mapping[str, Any], spec: ExperimentSpec, directory: str | None
) -> dict[str, Any]:
    """What a trial's profiler and its delay left: ``shares``, ``calls``, ``program_s`` (the
    processor time of the program without its profiler, where that is told) or a ``problem``.

    Empty of a trial that failed, or is not profiled.
    """
    variant = spec.variants[record["variant"]]
    asked = variant.profiled
    if asked is None or record["status"] != "ok":
        return {}
    if directory is None:
        return dict(_LOST)
    profile, times = _files(directory, record["trial"])
    argv = variant.launch.argv
    found: dict[str, Any] = {}
    timed = asked.delay is not None or is_java(argv)
    try:
        if not asked.alone:
            profiler = PROFILERS.get(asked.profiler)
            reading = read_profile(profiler, profile, argv)
            found["shares"] = dict(reading.shares)
            found["calls"] = sorted(map(list, reading.calls))
            timed = asked.delay is not None and profiler.is_program_timed
        if timed:
            read_s = java_program_s if is_java(argv) else native_program_s
            found["program_s"] = read_s(times)
    except SteelyardError as error:
        found["problem"] = error.message
    return found


def forget_profile(directory: str, position: int) -> None:
    """Remove what the profiler and the delay of a trial wrote."""
    profile, times = _files(directory, position)
    for path in (*glob.glob(glob.escape(profile) + "*"), times):
        remove_left(path)


def _files(directory: str, position: int) -> tuple[str, str]:
    """Where a trial's profiler writes to, and its times; some add to the first name."""
    start = os.path.join(os.path.abspath(directory), str(position))
    return f"{start}{_PROFILE}", f"{start}{_TIMES}"
