"""`steelyard host study`: what each knob of this machine is worth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from steelyard.cli.analyze.analysis_answer import show_answer
from steelyard.cli.console.output import write_note, write_text
from steelyard.cli.options.idle_options import all_but, refuse_idle
from steelyard.cli.options.option_groups import option, takes
from steelyard.cli.options.option_ranges import MOST_RUNS, MOST_WARMUPS, SEED
from steelyard.cli.options.shared_options import (
    json_option,
    recorded_environment_option,
    share_option,
    store_option,
    wait_option,
)
from steelyard.cli.store.opened_library import opened_library
from steelyard.core.errors import UsageError
from steelyard.core.quantity import parse_cpus, parse_duration, parse_ratio

if TYPE_CHECKING:
    from steelyard.app.experiment.knob_study import Study
    from steelyard.core.experiment_results import Experiment

INTERRUPTED_STATUS = 130
FAILED_STATUS = 3
# What a study that goes on, and one that is only printed, have a use for.
_OF_RESUMED = frozenset({"resume", "confidence", "wait", "html", "plots", "store", "json_target"})
_NOT_OF_PLANNED = frozenset(
    {"resume", "wait", "html", "plots", "store", "json_target", "recorded_environment"}
)


@dataclass(frozen=True, kw_only=True)
class StudyOptions:
    """What is studied, how often, and where the answer goes."""

    knobs: tuple[str, ...] = option(
        "--knob", metavar="NAME", multiple=True, help="Study this one. Repeatable."
    )
    runs: int = option(
        "--runs",
        type=click.IntRange(3, MOST_RUNS),
        default=30,
        show_default=True,
        help="Of each setup.",
    )
    warmup: int = option(
        "--warmup",
        type=click.IntRange(0, MOST_WARMUPS),
        default=1,
        show_default=True,
        help="Runs of each before.",
    )
    cpus: str | None = option(
        "--cpus", metavar="LIST", help="The CPUs that cpu-shield leaves to the program."
    )
    services: tuple[str, ...] = option(
        "--stop-service",
        metavar="NAME",
        multiple=True,
        help="A service that the knob services stops. Repeatable.",
    )
    shell: bool = option("--shell", is_flag=True, help="Run CMD through /bin/sh.")
    directory: str | None = option(
        "--directory", metavar="DIR", help="Run in DIR; the RAM disk gets a copy of it."
    )
    metric: str | None = option(
        "--metric", metavar="NAME", help="What to compare (default: wall_time)."
    )
    timeout: str | None = option(
        "--timeout", metavar="TIME", help="A run that takes longer has failed."
    )
    recorded_environment: tuple[str, ...] = recorded_environment_option()
    seed: int | None = option("--seed", type=SEED, help="Of the order of runs.")
    confidence: str = share_option("--confidence", "95%", "Of intervals.")
    resume: str | None = option(
        "--resume", metavar="EXPERIMENT", help="Go on with this study, or `latest`."
    )
    dry_run: bool = option(
        "--dry-run", is_flag=True, help="Print the setups instead of running them."
    )
    wait: bool = wait_option()
    html: str | None = option("--html", metavar="FILE", help="Write a page that needs no network.")
    plots: str | None = option("--plots", metavar="DIR", help="Write the plots as PNG and SVG.")
    store: str | None = store_option()
    json_target: str | None = json_option()


@click.command("study")
@takes(StudyOptions)
@click.argument("argv", metavar="[-- CMD...]", nargs=-1, type=click.UNPROCESSED)
def study(given: StudyOptions, argv: tuple[str, ...]) -> int:
    """Measure what each knob is worth here: none, all together, and each alone.

    The runs of all setups are mixed at random. CMD is a program of about a second, or
    `suite:NAME`; without one a small program of Steelyard's own is run.
    """
    from steelyard.app.experiment.knob_study import analyze_study, keep
    from steelyard.app.running import run_experiment
    from steelyard.cli.weigh.weighing_answer import watching
    from steelyard.cli.weigh.weighing_request import place_from

    confidence = parse_ratio(given.confidence, "--confidence")
    _refuse_contradictions(argv, given)
    if given.resume:
        earlier: Experiment | None = _stored(given.resume, given.store)
        spec = earlier.spec
    else:
        earlier, planned = None, _planned(argv, given)
        if given.dry_run:
            write_text(_plan_text(planned))
            return 0
        spec = planned.spec
        write_note(f"study {spec.identifier}")
    with watching(given.json_target) as watch:
        place = place_from(given.store, given.wait)
        done = run_experiment(spec, place, earlier=earlier, watch=watch)
    if done.stopped == "interrupted":
        write_note(f"`steelyard host study --resume {done.spec.identifier}` goes on with it")
        return INTERRUPTED_STATUS
    found = analyze_study(done, confidence)
    keep(found, done, given.store)
    show_answer(found, given.html, given.plots, given.json_target)
    failed = any(trial.status == "failed" and not trial.warmup for trial in done.trials)
    return FAILED_STATUS if failed else 0


def _refuse_contradictions(argv: tuple[str, ...], given: StudyOptions) -> None:
    """Refuse what a study that goes on, or one that is only printed, has no use for."""
    if given.resume:
        refuse_idle("to --resume", _OF_RESUMED)
        if argv:
            raise UsageError("--resume takes its program from the study.", field="command")
        return
    if given.dry_run:
        refuse_idle("to --dry-run, which runs nothing", all_but(_NOT_OF_PLANNED))
    _refuse_without_program(argv, given)


def _refuse_without_program(argv: tuple[str, ...], given: StudyOptions) -> None:
    """Refuse what is said of a program where it is Steelyard's own, and what no knob takes."""
    if not argv:
        refuse_idle("to a study without CMD", all_but({"shell"}))
    if given.knobs:
        for knob, needed in (("services", "services"), ("cpu-shield", "cpus")):
            if knob not in given.knobs:
                refuse_idle(f"without --knob {knob}", all_but({needed}))


def _planned(argv: tuple[str, ...], given: StudyOptions) -> Study:
    from steelyard.app.experiment.knob_study import PROGRAM, StudyRequest, plan_study
    from steelyard.app.request.request import Request

    timeout, cpus = given.timeout, given.cpus
    program = Request(
        commands=((" ".join(argv),) if given.shell and argv else argv or PROGRAM,),
        shell=given.shell and bool(argv),
        directory=given.directory,
        metrics=(given.metric,) if given.metric else (),
        timeout_s=None if timeout is None else parse_duration(timeout, "--timeout"),
        seed=given.seed,
        recorded_environment=given.recorded_environment,
    )
    asked = StudyRequest(
        knobs=given.knobs,
        runs=given.runs,
        warmup_count=given.warmup,
        cpus=None if cpus is None else parse_cpus(cpus, "--cpus"),
        services=given.services,
    )
    return plan_study(program, asked, say=None if given.dry_run else write_note)


def _stored(name: str, store: str | None) -> Experiment:
    """The study that goes on."""
    from steelyard.app.experiment.knob_study import is_study

    with opened_library(store) as library:
        earlier = library.load(name)
    if not is_study(earlier.spec):
        raise UsageError(
            f"The experiment {earlier.spec.identifier} is no study of a host.", field="--resume"
        )
    return earlier


def _plan_text(planned: Study) -> str:
    import shlex

    spec = planned.spec
    width = max(len(name) for name in planned.setups)
    lines = [f"runs      {shlex.join(spec.variants[0].launch.argv)}"]
    lines += [f"{name.ljust(width)}  {force}" for name, force in planned.setups.items()]
    lines += [f"not studied: {name}: {reason}" for name, reason in planned.skipped]
    runs = spec.stopping.runs or 0
    lines.append(f"{runs * len(spec.variants)} runs: {runs} of each, in random order")
    return "\n".join(lines) + "\n"
