"""Check what profilers promise of a faster function by what making it faster brings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from steelyard.analysis.profiles.agreement_results import Shares
from steelyard.analysis.profiles.profile_agreement import hottest_functions, mean_shares
from steelyard.analysis.profiles.speedup import (
    BlockShares,
    BlockTimes,
    ProfiledBlocks,
    Speedup,
    speedup,
)
from steelyard.app.profile.pilot_runs import Pilot
from steelyard.app.profile.profile_study import StudyRuns, run_study, study_spec, trials_of
from steelyard.core.errors import TrialsFailedError, UsageError
from steelyard.core.experiment_results import Experiment, Trial
from steelyard.core.experiment_spec import ExperimentSpec
from steelyard.core.profiled_spec import ProfiledSpec, ProfileStudySpec
from steelyard.core.rng import derive_seed
from steelyard.profile.executable import executable_of
from steelyard.profile.profilers import PROFILERS, Profiler
from steelyard.run.run_experiment import Place

# Names in the message that says that a function is not there.
_LISTED = 8
# What variants are called: the build before, and the mended one.
_BEFORE, _AFTER = "before", "after"


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
    quiet: tuple[str, ...] = ()

    def builds_of(self, profiler: str) -> Builds:
        """The builds that a profiler looks at."""
        return self.own_builds.get(profiler, self.builds)


def check_speedup(check: SpeedupCheck, place: Place) -> Speedup:
    """Run both builds alone and under each profiler, in blocks, and compare promises and gain.

    Raises
    ------
    UsageError
        There is no such program, no profiler sees the function, or a profiler is none for the
        program.
    MissingCapabilityError
        A profiler is not installed.
    TrialsFailedError
        All runs of a build failed, or the mended build does not end as the one before.
    """
    profilers = [PROFILERS.get(name) for name in dict.fromkeys(check.profilers)]
    for profiler in profilers:
        _require(check, profiler)
    spec = _study(check, profilers, Pilot(place, derive_seed(check.seed, "pilot")))
    return stored_speedup(run_study(spec, place))


def stored_speedup(experiment: Experiment) -> Speedup:
    """What an experiment on a mended function tells."""
    spec = experiment.spec
    study = spec.profiles or ProfileStudySpec("speedup")
    (function,) = study.functions
    by_task = _trials_by_task(experiment)
    profilers = dict.fromkeys(profiler for profiler, _ in by_task if profiler)
    return speedup(
        function,
        _times(by_task),
        [_profiled(function, profiler, by_task) for profiler in profilers],
        study.factor,
        spec.confidence,
    )


def _study(check: SpeedupCheck, profilers: list[Profiler], pilot: Pilot) -> ExperimentSpec:
    """The experiment: every build alone, and under every profiler."""
    mended = (_BEFORE, _AFTER) if check.factor is None else (_BEFORE,)
    tasks = [("", _BEFORE, check.builds.before), ("", _AFTER, check.builds.after)]
    for profiler in profilers:
        builds = check.builds_of(profiler.name)
        own = {_BEFORE: builds.before, _AFTER: builds.after}
        tasks += [(profiler.name, which, own[which]) for which in mended]
    programs = pilot.endings(check.builds.before, [argv for _, _, argv in tasks])
    first = [(name, argv) for name, which, argv in tasks if name and which == _BEFORE]
    looks = {name: pilot.profile(programs[argv], ProfiledSpec(name)) for name, argv in first}
    _require_seen(check, {name: told["shares"] for name, told in looks.items()})
    variants = [
        programs[argv].variant(
            " ".join(filter(None, (which, profiler))), ProfiledSpec(profiler, alone=not profiler)
        )
        for profiler, which, argv in tasks
    ]
    study = ProfileStudySpec(
        "speedup", (check.function,), factor=check.factor, argv=check.builds.before
    )
    runs = StudyRuns(check.run_count, check.seed, check.confidence, check.quiet)
    return study_spec(variants, study, runs)


def _require(check: SpeedupCheck, profiler: Profiler) -> None:
    """Refuse what cannot be run or profiled before anything has run."""
    builds = check.builds_of(profiler.name)
    for argv in (check.builds.before, check.builds.after, builds.before, builds.after):
        executable_of(argv)
    profiler.require(builds.before)
    if check.factor is None:
        profiler.require(builds.after)


# By profiler, empty for none, and which build: the trial of each block.
_Trials = Mapping[tuple[str, str], Mapping[int, Trial]]


def _trials_by_task(experiment: Experiment) -> _Trials:
    return {
        (variant.profiled.profiler, variant.name.partition(" ")[0]): {
            trial.block: trial for trial in trials_of(experiment, index)
        }
        for index, variant in enumerate(experiment.spec.variants)
        if variant.profiled is not None
    }


def _require_seen(check: SpeedupCheck, seen: Mapping[str, Shares]) -> None:
    """Refuse to begin where no profiler sees the function.

    Raises
    ------
    UsageError
        The message names the hottest functions instead.
    """
    if any(check.function in shares for shares in seen.values()):
        return
    name, shares = next(iter(seen.items()))
    known = ", ".join(hottest_functions(shares, _LISTED))
    raise UsageError(
        f"No profiler sees the function {check.function!r} in {check.builds.before[0]}. The "
        f"hottest by {name}: {known}.",
        field="--function",
    )


def _times(by_task: _Trials) -> list[BlockTimes]:
    """The times of the program alone, by block."""
    before, after = by_task["", _BEFORE], by_task["", _AFTER]
    return [
        BlockTimes(_alone_s(before[block]), _alone_s(after[block])) for block in _whole(by_task)
    ]


def _profiled(function: str, profiler: str, by_task: _Trials) -> ProfiledBlocks:
    """What one profiler said of the function, by block, and its rank before."""
    before, after = by_task[profiler, _BEFORE], by_task.get((profiler, _AFTER))
    blocks = _whole(by_task)
    shares = tuple(
        BlockShares(
            _shares(before[block]).get(function, 0.0),
            None if after is None else _shares(after[block]).get(function, 0.0),
        )
        for block in blocks
    )
    whole = mean_shares([_shares(before[block]) for block in blocks])
    return ProfiledBlocks(profiler, _rank(function, whole), shares)


def _whole(by_task: _Trials) -> list[int]:
    """The blocks of which no trial failed or is missing.

    Raises
    ------
    TrialsFailedError
        There is none.
    """
    found = set[int].intersection(*(set(trials) for trials in by_task.values()))
    if not found:
        raise TrialsFailedError(
            "In no block all builds and profilers had a good run, so that nothing can be compared."
        )
    return sorted(found)


def _shares(trial: Trial) -> Shares:
    return trial.details["profile"]["shares"]


def _alone_s(trial: Trial) -> float:
    """The processor time of a run without any profiler. Of Java it is that of the program's own
    threads, since only of these are profilers' shares."""
    told = trial.details.get("profile", {})
    return float(told.get("program_s", trial.measurements["cpu_time"][0]))


def _rank(function: str, shares: Shares) -> int | None:
    """The place of a function among all by its share, the hottest being 1."""
    share = shares.get(function, 0.0)
    return 1 + sum(other > share for other in shares.values()) if share else None
