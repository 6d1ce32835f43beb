"""`steelyard package`: benchmark packages, made, checked and run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from steelyard.cli.console.output import write_json, write_note, write_text
from steelyard.cli.options.option_groups import takes
from steelyard.cli.package.package_options import (
    CheckOptions,
    InitOptions,
    PackageRunOptions,
    choice_from,
)
from steelyard.core.errors import TrialsFailedError

if TYPE_CHECKING:
    from steelyard.app.package.run_packages import PackageRun

FAULTY_STATUS = 2


@click.group("package", short_help="Benchmark packages: make, check and run them.")
def command() -> None:
    """Make, check and run benchmark packages.

    A package is a tar or zip file, or a folder, with run.sh and collect.sh; setup.sh and env if
    wanted. The service runs it on many hosts.
    """


@command.command("init")
@takes(InitOptions)
@click.argument("folder", type=click.Path())
@click.argument("words", metavar="[-- CMD...]", nargs=-1, type=click.UNPROCESSED)
def init(given: InitOptions, folder: str, words: tuple[str, ...]) -> None:
    """Make a package in FOLDER that works at once: a small benchmark, or one that runs CMD."""
    from steelyard.app.package.init_package import init_package
    from steelyard.report.kinds.package.document import package_init_document
    from steelyard.report.kinds.package.text import init_text

    made = init_package(folder, words)
    write_json(package_init_document(made.folder, made.package), given.json_target)
    if given.json_target != "-":
        write_text(init_text(made.folder, made.package))


@command.command("check")
@takes(CheckOptions)
@click.argument("package", type=click.Path())
def check(given: CheckOptions, package: str) -> int:
    """List all that the service would refuse of PACKAGE, a file or a folder."""
    from steelyard.app.package.check_package import check_package
    from steelyard.report.kinds.package.document import package_check_document
    from steelyard.report.kinds.package.text import check_text

    choice = choice_from(given.environment)
    found = check_package(package, choice, executes=given.executes)
    write_json(package_check_document(package, found.package, found.found), given.json_target)
    if given.json_target != "-":
        write_text(check_text(package, found.package, found.found))
    return 0 if found.passed else FAULTY_STATUS


@command.command("run")
@takes(PackageRunOptions)
@click.argument("packages", metavar="PACKAGE...", nargs=-1, required=True, type=click.Path())
def run(given: PackageRunOptions, packages: tuple[str, ...]) -> int:
    """Run packages here in the environment of a worker; several are compared with the first."""
    from steelyard.app.package.run_packages import PackageRun, metric_rows, run_packages
    from steelyard.cli.weigh.weighing_answer import show, watching
    from steelyard.cli.weigh.weighing_request import place_from
    from steelyard.core.stopping_spec import StoppingSpec
    from steelyard.report.kinds.package.text import metrics_text

    asked = PackageRun(
        packages,
        choice_from(given.environment),
        metrics=given.metrics,
        iterations=given.iterations,
        stopping=StoppingSpec(runs=given.runs),
        warmup_count=given.warmup_count,
        seed=given.seed,
        note=given.note,
    )
    if given.debug:
        _rehearse(asked)
    with watching(given.json_target) as watch:
        weighing = run_packages(asked, place_from(given.store, given.wait), watch)
    status = show(weighing, given.json_target, asked=given.metrics)
    if given.json_target != "-":
        write_text(metrics_text(metric_rows(weighing.experiment)))
    return status


def _rehearse(asked: PackageRun) -> None:
    """Run each package once and show what its scripts print, on standard error."""
    from steelyard.app.package.packaged_variant import keep_package
    from steelyard.app.package.rehearse_package import rehearse_package

    for source in asked.sources:
        write_note(f"rehearsal of {source}")
        done = rehearse_package(
            keep_package(source).digest,
            source,
            asked.choice,
            hear=lambda line: write_note(line.rstrip("\n")),
        )
        if done.problem:
            raise TrialsFailedError(
                f"The package {source!r} fails in {done.script or 'its container'}: {done.problem}"
            )
