"""Check what profilers promise of a faster function by what making it faster brings."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from steelyard.analysis.profile_agreement import Shares, hottest_functions, mean_shares
from steelyard.analysis.speedup import BlockShares, BlockTimes, ProfiledBlocks, Speedup, speedup
from steelyard.app.profile.profiled_runs import runs_of_builds
from steelyard.core.errors import UsageError
from steelyard.core.rng import derive_seed
from steelyard.design.blocks import block_order
from steelyard.profile.executable import executable_of
from steelyard.profile.java_command import is_java
from steelyard.profile.java_delays import JavaDelays
from steelyard.profile.profilers import PROFILERS, Launch, Profiler

# Names in the message that says that a function is not there.
_LISTED = 8
# A build, alone or under a profiler.
_Task = tuple[Profiler | None, bool]


@dataclass(frozen=True)
class Builds:
    """The commands of one program: before, and with a function mended."""

    before: tuple[str, ...]
    after: tuple[str, ...]


@dataclass(frozen=True)
class SpeedupCheck:
    """What is to be checked.

    Parameters
    ----------
    builds : Builds
    function : str
        The one that is faster in the mended build.
    profilers : tuple of str
    own_builds : mapping of str to Builds
        For profilers that want other builds of the program.
    factor : float, optional
        How many times as fast the function became; without it the mended build is profiled too.
    run_count : int
        Runs of each build alone, and of each build under each profiler.
    seed : int
    confidence : float
    """

    builds: Builds
    function: str
    profilers: tuple[str, ...] = ("steelyard",)
    own_builds: Mapping[str, Builds] = field(default_factory=dict[str, Builds])
    factor: float | None = None
    run_count: int = 10
    seed: int = 1
    confidence: float = 0.95

    def builds_of(self, profiler: str) -> Builds:
        """The builds that a profiler looks at."""
        return self.own_builds.get(profiler, self.builds)


def check_speedup(check: SpeedupCheck, say: Callable[[str], None]) -> Speedup:
    """Run both builds alone and under each profiler, in blocks, and compare promises and gain.

    Raises
    ------
    UsageError
        There is no such program, no profiler sees the function, or a profiler is none for the
        program.
    MissingCapabilityError
        A profiler is not installed.
    TrialsFailedError
        The program failed, or the mended build does not end as the one before.
    """
    profilers = [PROFILERS.get(name) for name in dict.fromkeys(check.profilers)]
    for profiler in profilers:
        _require(check, profiler)
    with tempfile.TemporaryDirectory(prefix="steelyard-speedup-") as folder:
        blocks = _Blocks(check, profilers, folder)
        for number in range(check.run_count):
            blocks.run(number)
            if number == 0:
                blocks.require_seen()
            say(f"block {number + 1} of {check.run_count}")
    return speedup(
        check.function,
        blocks.times(),
        [blocks.profiled(profiler.name) for profiler in profilers],
        check.factor,
        check.confidence,
    )


def _require(check: SpeedupCheck, profiler: Profiler) -> None:
    """Refuse what cannot be run or profiled before anything has run."""
    builds = check.builds_of(profiler.name)
    for argv in (check.builds.before, check.builds.after, builds.before, builds.after):
        executable_of(argv)
    profiler.require(builds.before)
    if check.factor is None:
        profiler.require(builds.after)


class _Blocks:
    """Runs of every build, alone and under every profiler, and what they told."""

    def __init__(self, check: SpeedupCheck, profilers: Sequence[Profiler], folder: str) -> None:
        self._check = check
        self._folder = folder
        mended = (False, True) if check.factor is None else (False,)
        self._tasks: list[_Task] = [(None, False), (None, True)]
        self._tasks += [(profiler, is_mended) for profiler in profilers for is_mended in mended]
        self._times_s: dict[bool, list[float]] = {False: [], True: []}
        self._shares: dict[tuple[str, bool], list[Shares]] = {}
        self._runs = runs_of_builds(
            check.builds.before, self._commands(), folder, derive_seed(check.seed, "looks")
        )

    def run(self, number: int) -> None:
        """One block: everything once, in an order of its own."""
        seed = derive_seed(self._check.seed, "speedup")
        for index in block_order(seed, number, len(self._tasks)):
            profiler, is_mended = self._tasks[index]
            argv = self._command(profiler, is_mended)
            if profiler is None:
                self._times_s[is_mended].append(self._alone_s(argv))
            else:
                found = self._runs[argv].profile(profiler).shares
                self._shares.setdefault((profiler.name, is_mended), []).append(found)

    def require_seen(self) -> None:
        """Refuse to go on where no profiler sees the function.

        Raises
        ------
        UsageError
            The message names the hottest functions instead.
        """
        function = self._check.function
        before = {
            name: runs[0] for (name, is_mended), runs in self._shares.items() if not is_mended
        }
        if any(function in shares for shares in before.values()):
            return
        name, shares = next(iter(before.items()))
        known = ", ".join(hottest_functions(shares, _LISTED))
        raise UsageError(
            f"No profiler sees the function {function!r} in {self._check.builds.before[0]}. The "
            f"hottest by {name}: {known}.",
            field="--function",
        )

    def times(self) -> list[BlockTimes]:
        """The times of the program alone, by block."""
        return [BlockTimes(*pair) for pair in zip(*self._times_s.values(), strict=True)]

    def profiled(self, profiler: str) -> ProfiledBlocks:
        """What one profiler said of the function, by block, and its rank before."""
        function = self._check.function
        runs = self._shares[profiler, False]
        before = [shares.get(function, 0.0) for shares in runs]
        found = self._shares.get((profiler, True))
        after = [None] * len(before) if found is None else [s.get(function, 0.0) for s in found]
        shares = tuple(BlockShares(*pair) for pair in zip(before, after, strict=True))
        return ProfiledBlocks(profiler, _rank(function, mean_shares(runs)), shares)

    def _command(self, profiler: Profiler | None, is_mended: bool) -> tuple[str, ...]:
        check = self._check
        builds = check.builds if profiler is None else check.builds_of(profiler.name)
        return builds.after if is_mended else builds.before

    def _commands(self) -> list[tuple[str, ...]]:
        return sorted({self._command(*task) for task in self._tasks})

    def _alone_s(self, argv: tuple[str, ...]) -> float:
        """The processor time of a run without any profiler. Of Java it is that of the program's own
        threads, since only of these are profilers' shares."""
        if not is_java(argv):
            return self._runs[argv].run(Launch(argv))
        java = JavaDelays(argv, self._folder)
        self._runs[argv].run(java.undelayed())
        return java.program_s()


def _rank(function: str, shares: Shares) -> int | None:
    """The place of a function among all by its share, the hottest being 1."""
    share = shares.get(function, 0.0)
    return 1 + sum(other > share for other in shares.values()) if share else None
