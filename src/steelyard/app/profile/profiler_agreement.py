"""How far profilers agree about a program: run it under each, or read what they wrote."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from steelyard.analysis.profiles.agreement_results import Agreement, ProgramProfiles, Shares
from steelyard.analysis.profiles.profile_agreement import agreement
from steelyard.app.profile.pilot_runs import Pilot
from steelyard.app.profile.profile_study import StudyRuns, run_study, study_spec, trials_of
from steelyard.core.errors import DataError, MissingCapabilityError, UsageError
from steelyard.core.experiment_results import Experiment
from steelyard.core.experiment_spec import ExperimentSpec
from steelyard.core.profiled_spec import ProfiledSpec, ProfileStudySpec
from steelyard.profile.executable import executable_of
from steelyard.profile.java.java_command import is_java
from steelyard.profile.profilers import PROFILERS, Language, Profiler, Reading, read_profile
from steelyard.profile.python_command import script_index
from steelyard.run.run_experiment import Place, Watcher

# Where nobody says how often: a minute is an answer soon, and three runs have intervals.
USUAL_RUNS = 10
USUAL_BUDGET_S = 60.0
FEWEST_RUNS = 3
# Functions that a message names.
_SHOWN = 3


@dataclass(frozen=True)
class AgreementRequest:
    """What is to be compared.

    Parameters
    ----------
    argv : tuple of str
        The program; may be empty where there are files of profilers that need it not.
    profilers : tuple of str
        To run it under; empty: all that this machine has for its language.
    commands : mapping of str to tuple of str
        For profilers that want another build of the program: its command.
    files : tuple of (profiler, path)
        Profiles that are there already; then nothing is run.
    run_count : int or None
        Under each profiler; None: `USUAL_RUNS`, or those that `USUAL_BUDGET_S` allows.
    name, setting : str
        How program and build are called; the name is by default the program's.
    seed : int
    """

    argv: tuple[str, ...]
    profilers: tuple[str, ...] = ()
    commands: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    files: tuple[tuple[str, str], ...] = ()
    run_count: int | None = None
    name: str = ""
    setting: str = ""
    seed: int = 1
    quiet: tuple[str, ...] = ()


def judge_profiles(programs: Sequence[ProgramProfiles], confidence: float, seed: int) -> Agreement:
    """How far the profilers agree about these programs; see `agreement`.

    Raises
    ------
    DataError
        Two of them are the same build of a program.
    """
    refuse_twins(programs)
    return agreement(programs, confidence, seed)


def profiler_names() -> list[str]:
    """The names of all profilers that are known."""
    return PROFILERS.names()


def collect_profiles(
    request: AgreementRequest, place: Place, watch: Watcher | None = None
) -> ProgramProfiles:
    """Run the program under each profiler, in blocks of an order drawn anew for each, as an
    experiment that is kept at `place`; or read the files that are named. `watch` is told of runs.

    Raises
    ------
    UsageError
        There are fewer than two profilers, or one is none for this program.
    MissingCapabilityError
        A profiler that was named is not installed.
    TrialsFailedError, DataError
        A run failed, or a profile cannot be read.
    """
    if request.files:
        readings = _from_files(request)
        _refuse_fewer_than_two(list(readings))
        strange = strangers(readings)
        if strange:
            raise DataError(f"{strange} Are these profiles of one program?", field="--profile")
        return _profiles(readings, _name_of(request), request.setting)
    return stored_agreement(run_study(_study(request, place), place, watch), place.say)


def stored_agreement(experiment: Experiment, say: Callable[[str], None]) -> ProgramProfiles:
    """The profiles of an experiment on how far profilers agree."""
    readings = {
        variant.name: [_reading(trial.details["profile"]) for trial in trials_of(experiment, index)]
        for index, variant in enumerate(experiment.spec.variants)
    }
    if strange := strangers(readings):
        say(f"caution: {strange}")
    study = experiment.spec.profiles or ProfileStudySpec("agreement")
    return _profiles(readings, study.name, study.setting)


def _reading(profile: Mapping[str, Any]) -> Reading:
    calls = frozenset((caller, called) for caller, called in profile["calls"])
    return Reading(profile["shares"], calls)


def _profiles(
    readings: Mapping[str, Sequence[Reading]], name: str, setting: str
) -> ProgramProfiles:
    runs: dict[str, list[Shares]] = {
        profiler: [reading.shares for reading in given] for profiler, given in readings.items()
    }
    every = [reading.calls for given in readings.values() for reading in given]
    return ProgramProfiles(name, setting, runs, frozenset[tuple[str, str]]().union(*every))


def _name_of(request: AgreementRequest) -> str:
    return request.name or (os.path.basename(request.argv[0]) if request.argv else "program")


def strangers(readings: Mapping[str, Sequence[Reading]]) -> str:
    """Say which profiler has no function in common with any other; empty where there is none.

    Such profiles are hardly of one program, or their functions are called by different names.
    """
    named = {
        profiler: {function for reading in given for function in reading.shares}
        for profiler, given in readings.items()
    }
    for profiler, functions in named.items():
        others = [name for name in named if name != profiler]
        if functions.isdisjoint(set[str]().union(*(named[name] for name in others))):
            return (
                f"No function of {profiler}'s ({_some(functions)}) is in any profile of "
                f"{' or '.join(others)}."
            )
    return ""


def _some(functions: Collection[str]) -> str:
    first = sorted(functions)[:_SHOWN]
    return ", ".join([*first, *(["..."] if len(functions) > _SHOWN else [])])


def refuse_twins(programs: Sequence[ProgramProfiles]) -> None:
    """Refuse one program of one setting twice: figures could not tell them apart.

    Raises
    ------
    UsageError
        A name comes twice with one setting.
    """
    seen: set[tuple[str, str]] = set()
    for item in programs:
        if (item.name, item.setting) in seen:
            setting = f" with the setting {item.setting!r}" if item.setting else ""
            raise UsageError(
                f"The program {item.name!r}{setting} comes twice. Tell its builds apart by "
                "--setting when they are measured, or load one document alone.",
                field="--load",
            )
        seen.add((item.name, item.setting))


def _refuse_fewer_than_two(names: Sequence[str]) -> None:
    if len(names) < 2:
        raise UsageError(
            f"Agreement takes two profilers; there is {', '.join(names) or 'none'}.",
            field="--profiler",
        )


def _from_files(request: AgreementRequest) -> dict[str, list[Reading]]:
    found: dict[str, list[Reading]] = {}
    for name, path in request.files:
        argv = request.commands.get(name, request.argv)
        found.setdefault(name, []).append(read_profile(PROFILERS.get(name), path, argv))
    return found


def _study(request: AgreementRequest, place: Place) -> ExperimentSpec:
    """The experiment that runs the program under each profiler."""
    if not request.argv:
        raise UsageError("Name a program after --, or profiles with --profile.", field="command")
    executable_of(request.argv)
    chosen = _chosen(request, place.say)
    _refuse_fewer_than_two([profiler.name for profiler in chosen])
    pilot = Pilot(place, request.seed)
    commands = {p.name: request.commands.get(p.name, request.argv) for p in chosen}
    programs = {argv: pilot.ending(argv) for argv in dict.fromkeys(commands.values())}
    variants = [programs[argv].variant(name, ProfiledSpec(name)) for name, argv in commands.items()]
    study = ProfileStudySpec(
        "agreement", name=_name_of(request), setting=request.setting, argv=request.argv
    )
    usual = request.run_count is None
    runs = StudyRuns(
        request.run_count or USUAL_RUNS,
        request.seed,
        quiet=request.quiet,
        budget_s=USUAL_BUDGET_S if usual else None,
        fewest=FEWEST_RUNS,
    )
    limit = f" or as many as {USUAL_BUDGET_S:.0f} s allow (--runs says how many)" if usual else ""
    names = ", ".join(profiler.name for profiler in chosen)
    place.say(f"{runs.count} runs under each of {len(chosen)} profilers ({names}){limit}")
    return study_spec(variants, study, runs)


def _chosen(request: AgreementRequest, say: Callable[[str], None]) -> Sequence[Profiler]:
    """The profilers that were named, or those that can profile the program here."""
    language = language_of(request.argv)
    if not request.profilers:
        found: list[Profiler] = []
        for profiler in PROFILERS:
            if profiler.language != language:
                continue
            try:
                profiler.require(request.commands.get(profiler.name, request.argv))
            except (UsageError, MissingCapabilityError) as error:
                say(f"without {profiler.name}: {error.message}")
                continue
            found.append(profiler)
        return found
    named = [PROFILERS.get(name) for name in dict.fromkeys(request.profilers)]
    for profiler in named:
        if profiler.language != language:
            raise UsageError(
                f"{profiler.name} profiles {profiler.language} programs; this one is {language}.",
                field="--profiler",
            )
        profiler.require(request.commands.get(profiler.name, request.argv))
    return named


def language_of(argv: Sequence[str]) -> Language:
    """In which language's terms a command is profiled, by the program that it runs."""
    if is_java(argv):
        return "jvm"
    try:
        script_index(argv)
    except UsageError:
        return "native"
    return "python"
