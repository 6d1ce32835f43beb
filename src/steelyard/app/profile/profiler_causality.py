"""Check what profilers say by acting on it: delay a function, and see who notices."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from steelyard.analysis.profiles.causality_slopes import (
    Observation,
    Slope,
    causal_slope,
    rest_change,
)
from steelyard.analysis.profiles.profile_agreement import hottest_functions
from steelyard.app.profile.pilot_runs import DelayPilot, Pilot, Program
from steelyard.app.profile.profile_study import StudyRuns, run_study, study_spec, trials_of
from steelyard.core.errors import UsageError
from steelyard.core.experiment_results import Experiment
from steelyard.core.experiment_spec import ExperimentSpec, Variant
from steelyard.core.profiled_spec import DelaySpec, ProfiledSpec, ProfileStudySpec
from steelyard.core.rng import derive_seed
from steelyard.design.blocks import block_order
from steelyard.profile.delays import NativeDelays
from steelyard.profile.java.java_command import is_java
from steelyard.profile.java.java_delays import JavaDelays
from steelyard.profile.profilers import PROFILERS, Profiler
from steelyard.run.run_experiment import Place

if TYPE_CHECKING:
    from steelyard.analysis.profiles.causality_slopes import Role

FEWEST_SHARE_RATIO = 0.02
# Enough to stand out of noise, and not so much that the function is all that the program does. Runs
# of a Java machine differ by 6 to 20 %, as it compiles other things at other times.
USUAL_GROWTH_RATIO, USUAL_JAVA_GROWTH_RATIO = 0.6, 2.0
_FIRST_TURNS = 8
# The delays take 32 bits, and twice as many as were tried last may be wanted.
_MOST_TURNS = 1 << 30
# Functions in a message that says that one is not there.
_LISTED = 8


@dataclass(frozen=True)
class CausalCheck:
    """What is to be checked.

    Parameters
    ----------
    argv : tuple of str
    functions : tuple of str
        To delay; empty: drawn from the hot ones by `seed`.
    function_count : int
        How many to draw.
    controls : tuple of str
        Functions that are watched and never delayed; those that are delayed watch each other.
    profilers : tuple of str
    commands : mapping of str to tuple of str
        For profilers that want another build of the program: its command.
    amount_count, run_count : int
        Amounts of delay with none at all among them, and runs of each.
    growth_ratio : float or None
        The largest delay makes the program about this much longer; None: 0.6, of Java 2.
    buffer_bytes : int
        What the delay walks through, for one that waits for memory; 0: it only computes.
    seed : int
    confidence : float
    """

    argv: tuple[str, ...]
    functions: tuple[str, ...] = ()
    function_count: int = 2
    controls: tuple[str, ...] = ()
    profilers: tuple[str, ...] = ("steelyard",)
    commands: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    amount_count: int = 6
    run_count: int = 5
    growth_ratio: float | None = None
    buffer_bytes: int = 0
    seed: int = 1
    confidence: float = 0.95
    quiet: tuple[str, ...] = ()

    @property
    def largest_growth_ratio(self) -> float:
        """By how much of its time the largest delay makes the program longer."""
        if self.growth_ratio is not None:
            return self.growth_ratio
        return USUAL_JAVA_GROWTH_RATIO if is_java(self.argv) else USUAL_GROWTH_RATIO


@dataclass(frozen=True)
class DelayedRun:
    """A run with a delay of so many turns: the program's time, and all functions' shares."""

    amount: int
    program_s: float
    shares: Mapping[str, float]
    block: int = 0

    def of(self, function: str) -> Observation:
        """What was seen of one function."""
        time_s = self.program_s * self.shares.get(function, 0.0)
        return Observation(self.amount, self.program_s, time_s, self.block)


@dataclass(frozen=True)
class CheckedProfiler:
    """A profiler with the build of the program that it looks at, and what can be delayed there."""

    profiler: Profiler
    program: Program
    delayable: frozenset[str]

    def variants(self, delay: DelaySpec) -> list[Variant]:
        """What is run with one delay: the program under the profiler, and without it where only
        that tells the program's time."""
        name = self.profiler.name
        found = [ProfiledSpec(name, delay=delay)]
        if not self.profiler.is_program_timed:
            found.append(ProfiledSpec(name, True, delay))
        about = f"{delay.function}, {delay.turns} turns"
        return [
            self.program.variant(f"{about}, {name}{' aside' if one.alone else ''}", one)
            for one in found
        ]


def own_profiler(argv: Sequence[str]) -> str:
    """Our own sampler for a program."""
    return "steelyard-jvm" if is_java(argv) else "steelyard"


def check_profilers(check: CausalCheck, place: Place) -> tuple[Slope, ...]:
    """Delay functions by several amounts under each profiler, and give the slopes.

    Raises
    ------
    UsageError
        The program has no function that can be delayed, or none of that name; or a profiler is
        none for it.
    MissingCapabilityError
        A profiler is not installed.
    TrialsFailedError
        All runs with one of the delays failed.
    """
    pilot = Pilot(place, derive_seed(check.seed, "pilot"))
    checked = checked_profilers(check, pilot)
    first = checked[0]
    shares = pilot.profile(first.program, ProfiledSpec(first.profiler.name))["shares"]
    chosen = _chosen(check, [item.delayable for item in checked], shares)
    _refuse_unseen(check, first, shares)
    variants: list[Variant] = []
    for function in chosen:
        alone = DelayPilot(pilot, first.program, first.profiler.name, check.buffer_bytes)
        turns = largest_turns(alone, function, check.largest_growth_ratio)
        place.say(f"{function}: up to {turns} turns a call")
        for amount in _amounts(check, turns):
            delay = DelaySpec(function, amount, check.buffer_bytes)
            variants += [variant for item in checked for variant in item.variants(delay)]
    study = ProfileStudySpec("causality", tuple(chosen), check.controls, argv=check.argv)
    runs = StudyRuns(check.run_count, check.seed, check.confidence, check.quiet)
    return stored_slopes(run_study(study_spec(variants, study, runs), place))


def undelayed_runs(check: CausalCheck, function: str, place: Place) -> list[DelayedRun]:
    """Runs under the first profiler with no delay at all, as many as a check of `function` has:
    what they differ by is chance."""
    checked = checked_profilers(check, Pilot(place, derive_seed(check.seed, "pilot")))[0]
    variants = checked.variants(DelaySpec(function, 0, check.buffer_bytes))
    runs = StudyRuns(check.amount_count * check.run_count, check.seed, check.confidence)
    study = ProfileStudySpec("causality", (function,), argv=check.argv)
    found = run_study(study_spec(variants, study, runs), place)
    return delayed_runs(found)[function, checked.profiler.name]


def stored_slopes(experiment: Experiment) -> tuple[Slope, ...]:
    """The slopes of an experiment on delayed functions."""
    spec = experiment.spec
    study = spec.profiles or ProfileStudySpec("causality")
    seen = delayed_runs(experiment)
    return tuple(
        _slope(spec, (name, function, profiler), seen[function, profiler])
        for function in study.functions
        for profiler in sorted(p for f, p in seen if f == function)
        for name in dict.fromkeys([function, *study.functions, *study.controls])
    )


def delayed_runs(experiment: Experiment) -> dict[tuple[str, str], list[DelayedRun]]:
    """By delayed function and profiler, every run of which shares and time are known."""
    profiled: dict[tuple[str, str, int, int], Mapping[str, float]] = {}
    times_s: dict[tuple[str, str, int, int], float] = {}
    for index, variant in enumerate(experiment.spec.variants):
        asked = variant.profiled
        if asked is None or asked.delay is None:
            continue
        for trial in trials_of(experiment, index):
            told = trial.details["profile"]
            key = asked.delay.function, asked.profiler, asked.delay.turns, trial.block
            if "shares" in told:
                profiled[key] = told["shares"]
            if "program_s" in told:
                times_s[key] = told["program_s"]
    found: dict[tuple[str, str], list[DelayedRun]] = {}
    for key, shares in profiled.items():
        function, profiler, turns, block = key
        if key in times_s:
            run = DelayedRun(turns, times_s[key], shares, block)
            found.setdefault((function, profiler), []).append(run)
    return found


def checked_profilers(check: CausalCheck, pilot: Pilot) -> list[CheckedProfiler]:
    """The profilers of a check, each with its build of the program.

    Raises
    ------
    UsageError, MissingCapabilityError
        As `check_profilers`.
    """
    found: list[CheckedProfiler] = []
    endings: dict[tuple[str, ...], Program] = {}
    with tempfile.TemporaryDirectory(prefix="steelyard-check-") as folder:
        for name in dict.fromkeys(check.profilers):
            profiler = PROFILERS.get(name)
            argv = check.commands.get(name, check.argv)
            delayable = frozenset(_delays(check, profiler, argv, folder).functions)
            profiler.require(argv)
            if argv not in endings:
                endings[argv] = pilot.ending(argv)
            found.append(CheckedProfiler(profiler, endings[argv], delayable))
    return found


def _delays(
    check: CausalCheck, profiler: Profiler, argv: tuple[str, ...], folder: str
) -> NativeDelays | JavaDelays:
    if profiler.language == "native":
        return NativeDelays(argv, folder, check.buffer_bytes)
    if profiler.language != "jvm":
        raise UsageError(
            f"{profiler.name} profiles programs in {profiler.language}: only native ones and those "
            "for Java can be delayed.",
            field="--profiler",
        )
    if check.buffer_bytes:
        raise UsageError("Java can be delayed by computing alone.", field="--delay")
    return JavaDelays(argv, folder)


def _chosen(
    check: CausalCheck, builds: Sequence[frozenset[str]], shares: Mapping[str, float]
) -> list[str]:
    delayable = sorted(frozenset[str].intersection(*builds))
    for name in check.functions:
        if name not in delayable:
            known = ", ".join(sorted(delayable, key=lambda n: -shares.get(n, 0))[:_LISTED])
            raise UsageError(
                f"The function {name!r} cannot be delayed: the program has no such function with "
                f"a sled, or several of that name. The hottest that can be: {known}.",
                field="--function",
            )
    if check.functions:
        return list(dict.fromkeys(check.functions))
    hot = sorted(name for name in delayable if shares.get(name, 0.0) >= FEWEST_SHARE_RATIO)
    if not hot:
        raise UsageError(
            "No function with a sled takes 2 % of the time. Name one with --function.",
            field="--function",
        )
    order = block_order(derive_seed(check.seed, "functions"), 0, len(hot))
    return [hot[index] for index in order[: check.function_count]]


def _refuse_unseen(check: CausalCheck, first: CheckedProfiler, shares: Mapping[str, float]) -> None:
    """Refuse controls that are nowhere: to leave alone what is not there is no merit."""
    for name in check.controls:
        if name not in shares and name not in first.delayable:
            raise UsageError(
                f"The control {name!r} is no function of the program: {first.profiler.name} does "
                f"not see it. The hottest: {', '.join(hottest_functions(shares, _LISTED))}.",
                field="--control",
            )


class TimedDelays(Protocol):
    """What the length of delays is found by."""

    def plain_s(self, function: str, turns: int) -> float:
        """The time of a run with `function` delayed, in seconds."""
        ...


def largest_turns(checked: TimedDelays, function: str, growth_ratio: float) -> int:
    """Turns of the delay loop that make the program about `growth_ratio` longer."""
    base_s = checked.plain_s(function, 0)
    turns = _FIRST_TURNS
    while turns < _MOST_TURNS:
        delayed_s = checked.plain_s(function, turns)
        if delayed_s > base_s * (1 + growth_ratio / 2):
            # Either run may have been disturbed, which only makes it longer.
            delayed_s = min(delayed_s, checked.plain_s(function, turns))
            base_s = min(base_s, checked.plain_s(function, 0))
            growth = delayed_s / base_s - 1
            if growth > growth_ratio / 2:
                return max(1, round(turns * growth_ratio / growth))
        turns *= 4
    raise UsageError(
        f"However long {function} is delayed, the program takes no longer: it is not called, or "
        "too seldom, or only other code is: where it was inlined, or of a class that overrides it.",
        field="--function",
    )


def _amounts(check: CausalCheck, largest: int) -> list[int]:
    """The delays of a function, none among them. Of one that is called very often the longest may
    have fewer turns than there are to be amounts."""
    steps = range(check.amount_count)
    return sorted({largest * step // (check.amount_count - 1) for step in steps})


def _slope(spec: ExperimentSpec, what: tuple[str, str, str], runs: Sequence[DelayedRun]) -> Slope:
    name, delayed, profiler = what
    role: Role = "delayed" if name == delayed else "control"
    observations = tuple(run.of(name) for run in runs)
    # A walk through memory waits from its first step on; string instructions take long to begin.
    at_once = any(delay.buffer_bytes > 0 for delay in _delays_in(spec))
    slope = causal_slope(observations, spec.confidence, begins_at_once=at_once)
    own = [run.of(delayed) for run in runs]
    return Slope(
        *(name, profiler, role, delayed, slope),
        *(len({run.amount for run in runs}), len(observations), observations),
        rest=rest_change(own, spec.confidence, begins_at_once=at_once),
    )


def delay_kind(spec: ExperimentSpec) -> str:
    """What the delays of an experiment do: compute, or wait for memory."""
    return "memory" if any(delay.buffer_bytes for delay in _delays_in(spec)) else "compute"


def _delays_in(spec: ExperimentSpec) -> list[DelaySpec]:
    asked = (variant.profiled for variant in spec.variants)
    return [one.delay for one in asked if one is not None and one.delay is not None]
