"""Judge maps of call paths: by their own runs, and by others."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from steelyard.analysis.paths.path_check import PathCheck, judged
from steelyard.analysis.paths.path_map import (
    PathMap,
    check_build,
    check_marks,
    refuse_call_sites,
)
from steelyard.analysis.paths.stack_alignment import alike
from steelyard.core.errors import DataError, UsageError

if TYPE_CHECKING:
    from steelyard.analysis.paths.unlearnt_keys import UnlearntKeys

# As in the thesis, section 5.7: paths are learnt of a small input, and judged by a larger one.
_LEARNT_SIZE, _JUDGED_SIZE = "test", "train"


@dataclass(frozen=True)
class JudgeAsked:
    """What is judged of a run.

    Parameters
    ----------
    by_sample : bool
        Run the command once more, and judge its samples too.
    costs : bool
        Say what ways of telling its paths apart would cost, in this program.
    call_sites : bool
        Paths differ by their call sites, too.
    by_code : bool
        Search the program's code for keys that were never learnt.
    """

    by_sample: bool = False
    costs: bool = False
    call_sites: bool = False
    by_code: bool = False


def judge_map(map_path: str, evaluation_path: str | None, with_costs: bool = False) -> PathCheck:
    """Judge a map by its own runs, and by another map of the same build.

    Parameters
    ----------
    map_path : str
    evaluation_path : str or None
    with_costs : bool
        Say what ways of telling its paths apart would cost, on the map alone.

    Raises
    ------
    DataError
        One is damaged or empty, or they are of different builds.
    """
    learnt = _map_with_paths(map_path, "map")
    evaluation = None
    if evaluation_path is not None:
        evaluation = _map_with_paths(evaluation_path, "--evaluation")
    return _with_costs(judged(learnt, evaluation), None, with_costs)


def _with_costs(check: PathCheck, program: str | None, asked: bool) -> PathCheck:
    from steelyard.app.profile.path_costs import costs_of

    if asked:
        refuse_call_sites(check.learnt, "--costs")
    return replace(check, costs=costs_of(check.learnt, program)) if asked else check


def judge_command(
    map_path: str | None, argv: Sequence[str], asked: JudgeAsked | None = None
) -> PathCheck:
    """Judge a map by a run of a command, or the paths of that run by themselves.

    Parameters
    ----------
    map_path : str or None
        None: what the run takes is judged offline.
    argv : sequence of str
    asked : JudgeAsked, optional
        Call sites are those of the map where there is one.

    Raises
    ------
    UsageError, MissingCapabilityError
        As `profile.paths.learning_run.learning_run`.
    DataError
        The map is damaged or empty, or of another build, or no sample has a path.
    """
    from steelyard.app.profile.sampled_judging import with_samples
    from steelyard.profile.executable import executable_of
    from steelyard.profile.paths.aligned_stacks import with_alignments
    from steelyard.profile.paths.learning_run import build_of, learning_run
    from steelyard.profile.paths.marked_program import marks_of

    asked = asked or JudgeAsked()
    program = executable_of(argv)
    learnt = None
    call_sites = asked.call_sites
    if map_path is not None:
        learnt = _map_with_paths(map_path, "map")
        check_build(learnt, build_of(program), os.path.basename(program))
        check_marks(learnt, marks_of(program))
        learnt = with_alignments(learnt, program)
        call_sites = learnt.has_call_sites
    taken = learning_run(argv, program, call_sites=call_sites).path_map
    if learnt is not None:
        learnt, taken = alike(learnt, taken)
    by_code = None if learnt is None else _by_code(asked, program, learnt)
    check = judged(taken) if learnt is None else judged(learnt, taken, by_code)
    check = _with_costs(check, program, asked.costs)
    return with_samples(check, taken, argv, program, by_code) if asked.by_sample else check


def _by_code(asked: JudgeAsked, program: str, learnt: PathMap) -> UnlearntKeys | None:
    """What the code of the program says of keys that were never learnt, if that is asked for."""
    from steelyard.app.profile.static_paths import ProgramCode

    if not asked.by_code:
        return None
    refuse_call_sites(learnt, "--static")
    return ProgramCode(program, learnt).unlearnt


def judge_suite(name: str, asked: JudgeAsked | None = None) -> PathCheck:
    """Judge what is learnt of a program of the suite at one input by what it does at another.

    Parameters
    ----------
    name : str
        As `app.suite.suite_name.parse_suite_name` takes it; its size is the input of the judge.
    asked : JudgeAsked, optional

    Raises
    ------
    UsageError, SuiteError, BuildFailedError, MissingCapabilityError
        There is no such program, or it cannot be built or watched.
    """
    from steelyard.app.profile.sampled_judging import apart, with_samples
    from steelyard.app.suite.suite_name import SuiteName, parse_suite_name
    from steelyard.app.suite.suite_program import Workshop
    from steelyard.profile.executable import executable_of
    from steelyard.profile.paths.learning_run import Surroundings, learning_run
    from steelyard.suite.known_recipes import RecipeRegistry

    asked = asked or JudgeAsked()
    chosen = parse_suite_name(name, SuiteName("", size=_JUDGED_SIZE))
    if chosen.size == _LEARNT_SIZE:
        raise UsageError(
            f"{name} asks for the input that paths are learnt of. Name another size.", field="map"
        )
    recipe, workshop = RecipeRegistry().get(chosen.name), Workshop()

    def command_at(size: str) -> tuple[tuple[str, ...], Surroundings]:
        launch = workshop.ready(recipe, replace(chosen, size=size)).variant.launch
        return launch.argv, Surroundings(launch.working_directory, launch.stdin_file)

    def paths_at(size: str) -> PathMap:
        argv, place = command_at(size)
        return learning_run(argv, executable_of(argv), place, asked.call_sites).path_map

    taken = paths_at(chosen.size)
    argv, place = command_at(chosen.size)
    program = executable_of(argv)
    learnt, taken = alike(paths_at(_LEARNT_SIZE), taken)
    by_code = _by_code(asked, program, learnt)
    check = _with_costs(judged(learnt, taken, by_code), program, asked.costs)
    if not asked.by_sample:
        return check
    return with_samples(check, taken, apart(argv, place), program, by_code)


def _map_with_paths(path: str, field: str) -> PathMap:
    from steelyard.profile.paths.map_file import read_map

    found = read_map(path, field)
    if not found.nodes:
        raise DataError(f"The map {path} has no paths.", field=field)
    return found
