"""Judge maps of call paths: by their own runs, and by others."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace

from steelyard.analysis.paths.path_check import PathCheck, judged
from steelyard.analysis.paths.path_map import PathMap, check_build, check_marks
from steelyard.core.errors import DataError, UsageError

# As in the thesis, section 5.7: paths are learnt of a small input, and judged by a larger one.
_LEARNT_SIZE, _JUDGED_SIZE = "test", "train"


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

    return replace(check, costs=costs_of(check.learnt, program)) if asked else check


def judge_command(
    map_path: str | None, argv: Sequence[str], by_sample: bool = False, with_costs: bool = False
) -> PathCheck:
    """Judge a map by a run of a command, or the paths of that run by themselves.

    Parameters
    ----------
    map_path : str or None
        None: what the run takes is judged offline.
    argv : sequence of str
    by_sample : bool
        Run the command once more, and judge its samples too.
    with_costs : bool
        Say what ways of telling its paths apart would cost, in this program.

    Raises
    ------
    UsageError, MissingCapabilityError
        As `profile.paths.learning_run.learning_run`.
    DataError
        The map is damaged or empty, or of another build, or no sample has a path.
    """
    from steelyard.app.profile.sampled_judging import with_samples
    from steelyard.profile.executable import executable_of
    from steelyard.profile.paths.learning_run import build_of, learning_run
    from steelyard.profile.paths.marked_program import marks_of

    program = executable_of(argv)
    learnt = None
    if map_path is not None:
        learnt = _map_with_paths(map_path, "map")
        check_build(learnt, build_of(program), os.path.basename(program))
        check_marks(learnt, marks_of(program))
    taken = learning_run(argv, program).path_map
    check = judged(taken) if learnt is None else judged(learnt, taken)
    check = _with_costs(check, program, with_costs)
    return with_samples(check, taken, argv, program) if by_sample else check


def judge_suite(name: str, by_sample: bool = False, with_costs: bool = False) -> PathCheck:
    """Judge what is learnt of a program of the suite at one input by what it does at another.

    Parameters
    ----------
    name : str
        As `app.suite.suite_name.parse_suite_name` takes it; its size is the input of the judge.
    by_sample : bool
        Run it once more at that size, and judge its samples too.
    with_costs : bool
        Say what ways of telling its paths apart would cost.

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

    asked = parse_suite_name(name, SuiteName("", size=_JUDGED_SIZE))
    if asked.size == _LEARNT_SIZE:
        raise UsageError(
            f"{name} asks for the input that paths are learnt of. Name another size.", field="map"
        )
    recipe, workshop = RecipeRegistry().get(asked.name), Workshop()

    def command_at(size: str) -> tuple[tuple[str, ...], Surroundings]:
        launch = workshop.ready(recipe, replace(asked, size=size)).variant.launch
        return launch.argv, Surroundings(launch.working_directory, launch.stdin_file)

    def paths_at(size: str) -> PathMap:
        argv, place = command_at(size)
        return learning_run(argv, executable_of(argv), place).path_map

    taken = paths_at(asked.size)
    argv, place = command_at(asked.size)
    program = executable_of(argv)
    check = _with_costs(judged(paths_at(_LEARNT_SIZE), taken), program, with_costs)
    if not by_sample:
        return check
    return with_samples(check, taken, apart(argv, place), program)


def _map_with_paths(path: str, field: str) -> PathMap:
    from steelyard.profile.paths.map_file import read_map

    found = read_map(path, field)
    if not found.nodes:
        raise DataError(f"The map {path} has no paths.", field=field)
    return found
