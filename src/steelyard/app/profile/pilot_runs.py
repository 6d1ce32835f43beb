"""Runs of a program before the experiment on it is planned: how it ends, and how long it takes.

Each is an experiment of one trial that no store keeps, so that it has the machine to itself.
"""

from __future__ import annotations

import os
import shlex
import signal
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from steelyard.core.errors import TrialsFailedError, UsageError
from steelyard.core.experiment_results import Trial
from steelyard.core.experiment_spec import ExperimentSpec, LaunchSpec, MetricSpec, Variant
from steelyard.core.identifier import new_identifier
from steelyard.core.profiled_spec import DelaySpec, ProfiledSpec, ProfileStudySpec
from steelyard.core.stopping_spec import StoppingSpec
from steelyard.run.run_experiment import Place, run_experiment

METRICS = (MetricSpec("cpu_time", "s"), MetricSpec("wall_time", "s"))
# What gperftools says behind all that a program did, however that ended.
_OF_GPERFTOOLS = "PROFILE: "
# Of a command, or of what one said, so much is shown.
_SHOWN = 200


@dataclass(frozen=True)
class Program:
    """A program of a study, and the exit statuses that are no failure of it.

    0 is right for a profiler in any case; the program may well always end with another.
    """

    argv: tuple[str, ...]
    statuses: tuple[int, ...] = (0,)

    def variant(self, name: str, profiled: ProfiledSpec | None) -> Variant:
        """The variant that runs it."""
        launch = LaunchSpec(self.argv, expected_exit_codes=self.statuses)
        return Variant(name, launch, profiled=profiled)


@dataclass(frozen=True)
class Pilot:
    """Runs of a program for a study that is still to be planned.

    Parameters
    ----------
    place : Place
        Whether they may wait for the machine, and who is told.
    seed : int
        Of what profilers draw.
    """

    place: Place
    seed: int

    def trial(self, program: Program, profiled: ProfiledSpec | None = None) -> Trial:
        """One run of `program`, failed or not."""
        spec = ExperimentSpec(
            identifier=new_identifier(time.time_ns() // 1_000_000),
            kind="measurement",
            variants=(program.variant("pilot", profiled),),
            metrics=METRICS,
            seed=self.seed,
            stopping=StoppingSpec(runs=1),
            profiles=ProfileStudySpec("agreement"),
        )
        with tempfile.TemporaryDirectory(prefix="steelyard-pilot-") as directory:
            place = replace(self.place, store=os.path.join(directory, "store"))
            found = run_experiment(spec, place)
        if found.stopped == "interrupted":
            raise KeyboardInterrupt
        return found.trials[0]

    def profile(self, program: Program, profiled: ProfiledSpec) -> Mapping[str, Any]:
        """What the profiler, or the delay, left of one run.

        Raises
        ------
        TrialsFailedError
            The run failed.
        """
        trial = self.trial(program, profiled)
        if trial.status != "ok":
            raise TrialsFailedError(failed_run(program.argv, profiled, trial))
        return trial.details["profile"]

    def ending(self, argv: tuple[str, ...]) -> Program:
        """A program that should end as it does when nobody watches.

        Raises
        ------
        UsageError, TrialsFailedError
            It cannot be started, or a signal ends it.
        """
        trial = self.trial(Program(argv))
        if trial.reason == "spawn":
            told = str(trial.details.get("error", "")).rstrip(".")
            raise UsageError(f"{argv[0]} cannot be run: {told}.", field="command")
        if trial.reason not in (None, "exit"):
            end = end_of(trial).rstrip(".")
            raise TrialsFailedError(f"{shown(argv)} {end}. Profile one that ends by itself.")
        return Program(argv, tuple(sorted({0, _status(trial)})))

    def endings(
        self, first: tuple[str, ...], others: Sequence[tuple[str, ...]]
    ) -> dict[tuple[str, ...], Program]:
        """Builds of one program: all should end as the first does when nobody watches.

        Raises
        ------
        UsageError, TrialsFailedError
            One cannot be started, a signal ends it, or it ends with another status.
        """
        right = self.ending(first)
        found = {first: right}
        for argv in others:
            if argv in found:
                continue
            trial = self.trial(Program(argv))
            status = max(right.statuses)
            if trial.reason == "spawn" or trial.reason not in (None, "exit"):
                self.ending(argv)
            if _status(trial) != status:
                raise TrialsFailedError(
                    f"{shown(argv)} {end_of(trial).rstrip('.')}. {shown(first)} ends with status "
                    f"{status}: builds that are compared must do the same."
                )
            found[argv] = Program(argv, right.statuses)
        return found


@dataclass(frozen=True)
class DelayPilot:
    """Times of a program with one of its functions delayed, for the length of delays."""

    pilot: Pilot
    program: Program
    profiler: str
    buffer_bytes: int = 0

    def plain_s(self, function: str, turns: int) -> float:
        """The processor time of a run without the profiler, in seconds."""
        delay = DelaySpec(function, turns, self.buffer_bytes)
        told = self.pilot.profile(self.program, ProfiledSpec(self.profiler, True, delay))
        return float(told["program_s"])


def failed_run(argv: Sequence[str], profiled: ProfiledSpec | None, trial: Trial) -> str:
    """A sentence on a run that failed."""
    under = "" if profiled is None or profiled.alone else f" under {profiled.profiler}"
    return f"A run of {shown(argv)}{under} {end_of(trial)}"


def shown(argv: Sequence[str]) -> str:
    """A command in a message."""
    return f"`{shlex.join(argv)[:_SHOWN]}`"


def end_of(trial: Trial) -> str:
    """How a run ended, and what it said last; some say first what went wrong, and then where."""
    if trial.reason not in ("exit", "signal", None):
        return f"failed: {trial.details.get('error', trial.reason)}"
    said_all = str(trial.details.get("stderr_tail", "")).strip().splitlines()
    lines = [line for line in said_all if not line.startswith(_OF_GPERFTOOLS)] or ["no message"]
    said = next((line for line in lines if line.startswith("Error:")), lines[-1])[:_SHOWN]
    if trial.reason == "signal":
        return f"was ended by signal {_signal_name(int(trial.details['signal']))}: {said}"
    return f"ended with status {_status(trial)}: {said}"


def _status(trial: Trial) -> int:
    return int(trial.details.get("exit_code", 0))


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        # Real-time signals but the first and the last have no name.
        return str(number)
