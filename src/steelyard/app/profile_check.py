"""Check what profilers say by acting on it: delay a function, and see who notices."""

from __future__ import annotations

import contextlib
import os
import resource
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from steelyard.analysis.causality import Observation, Slope, causal_slope
from steelyard.core.errors import TrialsFailedError, UsageError
from steelyard.core.rng import derive_seed
from steelyard.design.blocks import block_order
from steelyard.profile.delays import DelayableFunction, delayable_functions, delayed_argv
from steelyard.profile.executable import executable_of
from steelyard.profile.profilers import PROFILERS, Profiler

if TYPE_CHECKING:
    from steelyard.analysis.causality import Role

FEWEST_SHARE_RATIO = 0.02
# The largest delay makes the program about this much longer: enough to stand out of noise, and
# not so much that the function is all that the program does.
LARGEST_GROWTH_RATIO = 0.6
_FIRST_TURNS = 8
_MOST_TURNS = 1 << 28


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
    profilers : tuple of str
    amount_count, run_count : int
        Amounts of delay with none at all among them, and runs of each.
    seed : int
    confidence : float
    """

    argv: tuple[str, ...]
    functions: tuple[str, ...] = ()
    function_count: int = 2
    profilers: tuple[str, ...] = ("steelyard",)
    amount_count: int = 6
    run_count: int = 5
    seed: int = 1
    confidence: float = 0.95


@dataclass(frozen=True)
class _Ran:
    program_s: float
    shares: Mapping[str, float]


@dataclass(frozen=True)
class _Bench:
    """Runs programs: the file for their profiles, and the statuses that are no failure."""

    path: str
    statuses: tuple[int, ...]

    def profiled(self, profiler: Profiler, argv: Sequence[str]) -> _Ran:
        """A run under a profiler, and what it says."""
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.path)
        launch = profiler.launch(self.path, argv)
        program_s = self.cpu_time_s(launch.argv, launch.environment)
        return _Ran(program_s, profiler.read(self.path, argv).shares)

    def cpu_time_s(
        self, command: Sequence[str], environment: Mapping[str, str] | None = None
    ) -> float:
        """User time of a command with its children, in seconds."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        told = subprocess.run(
            command,
            env={**os.environ, **(environment or {})},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            check=False,
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if told.returncode not in self.statuses:
            words = told.stderr.decode("utf-8", "replace").strip().splitlines()
            raise TrialsFailedError(
                f"A run of {os.path.basename(command[0])} ended with status {told.returncode}: "
                f"{words[-1][:200] if words else 'no message'}"
            )
        return after.ru_utime - before.ru_utime


def check_profilers(check: CausalCheck, say: Callable[[str], None]) -> tuple[Slope, ...]:
    """Delay functions by several amounts under each profiler, and give the slopes.

    Raises
    ------
    UsageError
        The program has no function that can be delayed, or none of that name.
    MissingCapabilityError
        A profiler is not installed.
    TrialsFailedError
        The program failed.
    """
    profilers = [PROFILERS.get(name) for name in check.profilers]
    for profiler in profilers:
        profiler.require(check.argv)
    program = executable_of(check.argv)
    with tempfile.TemporaryDirectory(prefix="steelyard-check-") as folder:
        # A program may well end with another status than 0, if it always does.
        usual = subprocess.run(
            check.argv,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=False,
        ).returncode
        bench = _Bench(os.path.join(folder, "profile"), (0, usual))
        hot = bench.profiled(PROFILERS.get("steelyard"), check.argv)
        delayable = delayable_functions(program)
        chosen = _chosen(check, delayable, hot.shares)
        slopes: list[Slope] = []
        for function in chosen:
            turns = _largest_turns(bench, program, function, check.argv)
            say(f"{function.name}: up to {turns} turns a call")
            slopes += _slopes(check, profilers, (program, function, turns), bench, chosen)
    return tuple(slopes)


def _chosen(
    check: CausalCheck, delayable: Mapping[str, DelayableFunction], shares: Mapping[str, float]
) -> list[DelayableFunction]:
    for name in check.functions:
        if name not in delayable:
            known = ", ".join(sorted(delayable, key=lambda n: -shares.get(n, 0))[:8])
            raise UsageError(
                f"The function {name!r} cannot be delayed: the program has no such function with "
                f"a sled. The hottest that can be: {known}.",
                field="--function",
            )
    if check.functions:
        return [delayable[name] for name in check.functions]
    hot = sorted(name for name in delayable if shares.get(name, 0.0) >= FEWEST_SHARE_RATIO)
    if not hot:
        raise UsageError(
            "No function with a sled takes 2 % of the time. Name one with --function.",
            field="--function",
        )
    order = block_order(derive_seed(check.seed, "functions"), 0, len(hot))
    return [delayable[hot[index]] for index in order[: check.function_count]]


def _largest_turns(
    bench: _Bench, program: str, function: DelayableFunction, argv: Sequence[str]
) -> int:
    """Turns of the delay loop that make the program about `LARGEST_GROWTH_RATIO` longer."""
    base_s = bench.cpu_time_s(delayed_argv(program, function, 0, argv))
    turns = _FIRST_TURNS
    while turns < _MOST_TURNS:
        growth = bench.cpu_time_s(delayed_argv(program, function, turns, argv)) / base_s - 1
        if growth > LARGEST_GROWTH_RATIO / 2:
            return max(1, round(turns * LARGEST_GROWTH_RATIO / growth))
        turns *= 4
    raise UsageError(
        f"However long {function.name} is delayed, the program takes no longer: it is not called.",
        field="--function",
    )


def _slopes(
    check: CausalCheck,
    profilers: Sequence[Profiler],
    delay: tuple[str, DelayableFunction, int],
    bench: _Bench,
    chosen: Sequence[DelayableFunction],
) -> list[Slope]:
    program, function, largest = delay
    amounts = [largest * step // (check.amount_count - 1) for step in range(check.amount_count)]
    plan = [
        (profiler, amount, run)
        for run in range(check.run_count)
        for amount in range(len(amounts))
        for profiler in profilers
    ]
    order = block_order(derive_seed(check.seed, "runs", function.name), 0, len(plan))
    seen: dict[tuple[str, str], list[Observation]] = {}
    names = dict.fromkeys([function.name, *(other.name for other in chosen)])
    for index in order:
        profiler, amount, _ = plan[index]
        argv = delayed_argv(program, function, amounts[amount], check.argv)
        ran = bench.profiled(profiler, argv)
        for name in names:
            time_s = ran.program_s * ran.shares.get(name, 0.0)
            observed = Observation(amounts[amount], ran.program_s, time_s)
            seen.setdefault((profiler.name, name), []).append(observed)
    slopes: list[Slope] = []
    for (profiler_name, name), observations in sorted(seen.items()):
        role: Role = "delayed" if name == function.name else "control"
        slope = causal_slope(observations, check.confidence)
        slopes.append(
            Slope(
                *(name, profiler_name, role, function.name, slope),
                *(len(amounts), len(observations), tuple(observations)),
            )
        )
    return slopes
