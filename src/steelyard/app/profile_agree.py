"""How far profilers agree about a program: run it under each, or read what they wrote."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from steelyard.analysis.profile_agreement import ProgramProfiles, Shares
from steelyard.app.profiled_runs import ProfiledRuns, usual_statuses
from steelyard.core.errors import MissingCapabilityError, UsageError
from steelyard.core.rng import derive_seed
from steelyard.design.blocks import block_order
from steelyard.profile.executable import executable_of
from steelyard.profile.profilers import PROFILERS, Language, Profiler, Reading
from steelyard.profile.python_command import script_index


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
    run_count : int
    name, setting : str
        How program and build are called; the name is by default the program's.
    seed : int
    """

    argv: tuple[str, ...]
    profilers: tuple[str, ...] = ()
    commands: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    files: tuple[tuple[str, str], ...] = ()
    run_count: int = 10
    name: str = ""
    setting: str = ""
    seed: int = 1


def collect_profiles(request: AgreementRequest, say: Callable[[str], None]) -> ProgramProfiles:
    """Run the program under each profiler in turn, in an order drawn anew for each round; or read
    the files that are named.

    Raises
    ------
    UsageError
        There are fewer than two profilers, or one is none for this program.
    MissingCapabilityError
        A profiler that was named is not installed.
    TrialsFailedError, DataError
        A run failed, or a profile cannot be read.
    """
    readings = _from_files(request) if request.files else _from_runs(request, say)
    _refuse_fewer_than_two(list(readings))
    runs: dict[str, list[Shares]] = {
        name: [reading.shares for reading in given] for name, given in readings.items()
    }
    every = [reading.calls for given in readings.values() for reading in given]
    calls = frozenset[tuple[str, str]]().union(*every)
    name = request.name or (os.path.basename(request.argv[0]) if request.argv else "program")
    return ProgramProfiles(name, request.setting, runs, calls)


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
        found.setdefault(name, []).append(PROFILERS.get(name).read(path, argv))
    return found


def _from_runs(request: AgreementRequest, say: Callable[[str], None]) -> dict[str, list[Reading]]:
    if not request.argv:
        raise UsageError("Name a program after --, or profiles with --profile.", field="command")
    executable_of(request.argv)
    chosen = _chosen(request, say)
    _refuse_fewer_than_two([profiler.name for profiler in chosen])
    found: dict[str, list[Reading]] = {profiler.name: [] for profiler in chosen}
    statuses = {
        profiler.name: usual_statuses(request.commands.get(profiler.name, request.argv))
        for profiler in chosen
    }
    with tempfile.TemporaryDirectory(prefix="steelyard-agree-") as folder:
        for number in range(request.run_count):
            say(f"run {number + 1} of {request.run_count}")
            order = block_order(derive_seed(request.seed, "agree"), number, len(chosen))
            for profiler in (chosen[index] for index in order):
                argv = request.commands.get(profiler.name, request.argv)
                runs = ProfiledRuns(folder, statuses[profiler.name])
                found[profiler.name].append(runs.profile(profiler, argv))
    return found


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
    if os.path.basename(argv[0]) == "java":
        return "jvm"
    try:
        script_index(argv)
    except UsageError:
        return "native"
    return "python"
