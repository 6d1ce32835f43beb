"""Check what profilers say by acting on it: delay a function, and see who notices."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from steelyard.analysis.causality import Observation, Slope, causal_slope, rest_change
from steelyard.analysis.profile_agreement import hottest_functions
from steelyard.app.profile.profiled_runs import ProfiledRuns, program_runs
from steelyard.core.errors import UsageError
from steelyard.core.rng import derive_seed
from steelyard.design.blocks import block_order
from steelyard.profile.delays import NativeDelays
from steelyard.profile.java_command import is_java
from steelyard.profile.java_delays import JavaDelays
from steelyard.profile.profilers import PROFILERS, Profiler, read_profile

if TYPE_CHECKING:
    from steelyard.analysis.causality import Role

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
    """A profiler with the build of the program that it looks at."""

    profiler: Profiler
    delays: NativeDelays | JavaDelays
    runs: ProfiledRuns

    def observed(self, function: str, turns: int, block: int = 0) -> DelayedRun:
        """A run under the profiler, with a delay."""
        self.runs.clear()
        seed = self.runs.draw_seed()
        self.runs.run(self.delays.launch(self.profiler, self.runs.path, function, turns, seed))
        shares = read_profile(self.profiler, self.runs.path, self.delays.argv).shares
        if not self.profiler.is_program_timed:
            self.plain_s(function, turns)
        return DelayedRun(turns, self.delays.program_s(), shares, block)

    def plain_s(self, function: str, turns: int) -> float:
        """The time of a run without the profiler."""
        self.runs.run(self.delays.launch(None, self.runs.path, function, turns))
        return self.delays.program_s()


def own_profiler(argv: Sequence[str]) -> str:
    """Our own sampler for a program."""
    return "steelyard-jvm" if is_java(argv) else "steelyard"


def check_profilers(check: CausalCheck, say: Callable[[str], None]) -> tuple[Slope, ...]:
    """Delay functions by several amounts under each profiler, and give the slopes.

    Raises
    ------
    UsageError
        The program has no function that can be delayed, or none of that name; or a profiler is
        none for it.
    MissingCapabilityError
        A profiler is not installed.
    TrialsFailedError
        The program failed.
    """
    with tempfile.TemporaryDirectory(prefix="steelyard-check-") as folder:
        checked = checked_profilers(check, folder)
        first = checked[0]
        hot = first.runs.profile(first.profiler)
        chosen = _chosen(check, [item.delays for item in checked], hot.shares)
        _refuse_unseen(check, first, hot.shares)
        slopes: list[Slope] = []
        for function in chosen:
            turns = largest_turns(first, function, check.largest_growth_ratio)
            say(f"{function}: up to {turns} turns a call")
            slopes += _slopes(check, checked, (function, turns), chosen)
    return tuple(slopes)


def checked_profilers(check: CausalCheck, folder: str) -> list[CheckedProfiler]:
    """The profilers of a check, each with its build of the program; `folder` is for their files.

    Raises
    ------
    UsageError, MissingCapabilityError
        As `check_profilers`.
    """
    found: list[CheckedProfiler] = []
    for name in dict.fromkeys(check.profilers):
        profiler = PROFILERS.get(name)
        argv = check.commands.get(name, check.argv)
        delays = _delays(check, profiler, argv, folder)
        profiler.require(argv)
        runs = program_runs(argv, folder, derive_seed(check.seed, "looks", name))
        found.append(CheckedProfiler(profiler, delays, runs))
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
    check: CausalCheck, builds: Sequence[NativeDelays | JavaDelays], shares: Mapping[str, float]
) -> list[str]:
    delayable = [name for name in builds[0].functions if all(name in b.functions for b in builds)]
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
        if name not in shares and name not in first.delays.functions:
            raise UsageError(
                f"The control {name!r} is no function of the program: {first.profiler.name} does "
                f"not see it. The hottest: {', '.join(hottest_functions(shares, _LISTED))}.",
                field="--control",
            )


def largest_turns(checked: CheckedProfiler, function: str, growth_ratio: float) -> int:
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


def _slopes(
    check: CausalCheck,
    checked: Sequence[CheckedProfiler],
    delay: tuple[str, int],
    chosen: Sequence[str],
) -> list[Slope]:
    function, largest = delay
    steps = range(check.amount_count)
    # Of a function that is called very often the longest delay may have fewer turns than that.
    amounts = sorted({largest * step // (check.amount_count - 1) for step in steps})
    plan = [(item, turns) for turns in amounts for item in checked]
    seed = derive_seed(check.seed, "runs", function)
    seen: dict[str, list[DelayedRun]] = {}
    for block in range(check.run_count):
        for index in block_order(seed, block, len(plan)):
            item, turns = plan[index]
            run = item.observed(function, turns, block)
            seen.setdefault(item.profiler.name, []).append(run)
    names = dict.fromkeys([function, *chosen, *check.controls])
    return [
        _slope(check, (name, function, profiler), runs)
        for profiler, runs in sorted(seen.items())
        for name in names
    ]


def _slope(check: CausalCheck, what: tuple[str, str, str], runs: Sequence[DelayedRun]) -> Slope:
    name, delayed, profiler = what
    role: Role = "delayed" if name == delayed else "control"
    observations = tuple(run.of(name) for run in runs)
    # A walk through memory waits from its first step on; string instructions take long to begin.
    at_once = check.buffer_bytes > 0
    slope = causal_slope(observations, check.confidence, begins_at_once=at_once)
    own = [run.of(delayed) for run in runs]
    return Slope(
        *(name, profiler, role, delayed, slope),
        *(len({run.amount for run in runs}), len(observations), observations),
        rest=rest_change(own, check.confidence, begins_at_once=at_once),
    )
