"""Run programs of the suite, with their outputs checked."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from steelyard.app.request.experiment_request import build_metrics
from steelyard.app.suite.suite_name import SuiteName
from steelyard.app.suite.suite_program import Workshop
from steelyard.core.ending import describe_failure
from steelyard.core.errors import BuildFailedError, MissingCapabilityError, SuiteError
from steelyard.core.experiment_results import Trial
from steelyard.core.experiment_spec import ExperimentSpec, LaunchSpec, Variant
from steelyard.core.go_between import run_between
from steelyard.core.identifier import new_identifier
from steelyard.core.stopping_spec import StoppingSpec
from steelyard.measure.check_output import kept_digest
from steelyard.measure.program import environment_of
from steelyard.run.run_experiment import Place, run_experiment
from steelyard.suite.outcomes import RunOutcome
from steelyard.suite.recipe import Recipe


def run_programs(
    chosen: Sequence[tuple[Recipe, SuiteName]],
    workshop: Workshop,
    runs: int,
    *,
    wait: bool = False,
) -> list[RunOutcome]:
    """Run each program `runs` times, one after the other; one that fails does not keep the others.

    Parameters
    ----------
    wait : bool
        Wait while another measurement holds the machine.
    """
    outcomes: list[RunOutcome] = []
    for recipe, asked in chosen:
        try:
            ready = workshop.ready(recipe, asked)
            workshop.say(f"running {recipe.name}")
            trials = trials_of(ready.variant, runs, wait=wait, say=workshop.say)
        except (SuiteError, BuildFailedError) as error:
            outcomes.append(RunOutcome(recipe, asked.toolchain, asked.size, problem=error.message))
        except MissingCapabilityError as error:
            outcomes.append(
                RunOutcome(recipe, asked.toolchain, asked.size, problem=error.message, missing=True)
            )
        else:
            failed = [trial for trial in trials if trial.status == "failed"]
            problem = describe_failure(failed[0]) if failed else ""
            outcomes.append(RunOutcome(recipe, asked.toolchain, asked.size, tuple(trials), problem))
    return outcomes


def accepted_checks(recipe: Recipe, asked: SuiteName, workshop: Workshop) -> str:
    """What a run writes, as lines for the ``check`` of a recipe.

    Raises
    ------
    SuiteError
        The program fails.
    """
    ready = workshop.ready(recipe, asked)
    launch = ready.variant.launch
    lines: list[str] = []
    with tempfile.TemporaryDirectory(prefix="steelyard-suite-") as directory:
        output = os.path.join(directory, "output")
        run_once(recipe, ready.variant, output)
        for check in ready.variant.checks:
            name = (
                os.path.join(launch.working_directory or "", check.file) if check.file else output
            )
            about = f', file = "{check.file}"' if check.file else ""
            about += f", ignore = '{check.ignore}'" if check.ignore else ""
            digest = kept_digest(name, check.ignore)[0]
            lines.append(f'{{ comparator = "sha256", expected = "{digest}"{about} }}')
    return f"# {recipe.name}, size {asked.size}\ncheck = [{', '.join(lines)}]\n"


def run_once(
    recipe: Recipe, variant: Variant, output: str, environment: Mapping[str, str] | None = None
) -> None:
    """Run a program with its preparation, without measuring or checking.

    Parameters
    ----------
    output : str
        The file for its standard output.
    environment : mapping, optional
        Further variables for the program.

    Raises
    ------
    SuiteError
        It ends otherwise than its recipe says.
    """
    launch = variant.launch
    own = environment_of(launch)
    if variant.prepare is not None:
        _run_step(recipe, variant.prepare, launch, own, os.devnull, (0,))
    more = {os.fsencode(name): os.fsencode(value) for name, value in (environment or {}).items()}
    expected = launch.expected_exit_codes
    _run_step(recipe, launch.argv, launch, {**own, **more}, output, expected)


def _run_step(
    recipe: Recipe,
    argv: Sequence[str],
    launch: LaunchSpec,
    environment: Mapping[bytes, bytes],
    output: str,
    expected: Sequence[int],
) -> None:
    with (
        open(output, "wb") as out,
        open(launch.stdin_file or os.devnull, "rb") as given,
        open(os.devnull, "wb") as nowhere,
    ):
        streams = (given.fileno(), out.fileno(), nowhere.fileno())
        try:
            code = run_between(argv, environment, streams, launch.working_directory)
        except OSError as error:
            raise SuiteError(
                f"{recipe.name}: {argv[0]!r} cannot be started: {error.strerror}."
            ) from None
    if code not in expected:
        raise SuiteError(f"{recipe.name}: {' '.join(argv)!r} ended with {code}.")


def trials_of(
    variant: Variant,
    runs: int,
    *,
    wait: bool = False,
    say: Callable[[str], None] = lambda _: None,
    extra_metrics: Sequence[str] = (),
) -> list[Trial]:
    """The trials of one variant, which no store keeps."""
    spec = ExperimentSpec(
        identifier=new_identifier(time.time_ns() // 1_000_000),
        kind="measurement",
        variants=(replace(variant, group=""),),
        metrics=build_metrics(("wall_time", *extra_metrics)),
        seed=0,
        stopping=StoppingSpec(runs=runs),
    )
    with tempfile.TemporaryDirectory(prefix="steelyard-suite-") as directory:
        place = Place(os.path.join(directory, "store"), wait, say)
        return list(run_experiment(spec, place).trials)
