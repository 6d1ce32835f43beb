"""Each benchmark of an experiment file as what a command line would ask for it alone."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from steelyard.app.experiment.experiment_entries import BenchmarkEntry, ExperimentFile
from steelyard.app.request.build_request import BuildRequest
from steelyard.app.request.experiment_request import build_experiment
from steelyard.app.request.level_request import requested_levels
from steelyard.app.request.request import Request
from steelyard.core.errors import UsageError
from steelyard.core.experiment_spec import ExperimentSpec
from steelyard.core.quantity import parse_duration
from steelyard.core.repetition import BUILD_LEVEL, RepetitionLevel

if TYPE_CHECKING:
    from steelyard.app.suite.suite_program import Workshop


# Options of the command line that fields of a benchmark are called otherwise.
_FIELDS = {"build-source": "source", "env": "environment"}


def benchmark_experiment(
    request: Request, entry: BenchmarkEntry, workshop: Workshop | None
) -> ExperimentSpec:
    """The experiment of a benchmark alone; what is wrong with it is said of its place."""
    try:
        return build_experiment(request, workshop)
    except UsageError as error:
        name = (error.field or "").removeprefix("--")
        place = entry.places.get(_FIELDS.get(name, name)) or entry.places.get("command")
        if place is None:
            raise
        raise UsageError(f"{place}: {error.message}", field=error.field) from None


def benchmark_request(file: ExperimentFile, entry: BenchmarkEntry, *, builds: bool) -> Request:
    """What the command line would ask for this benchmark alone."""
    options, settings = entry.options, file.settings
    build = options.get("build")
    command = entry.command
    shell = bool(options.get("shell", False))
    words = (command,) if isinstance(command, str) else command
    if isinstance(command, str) and not shell and not command.startswith("suite:"):
        from steelyard.app.request.command_text import split_command

        words = split_command(command, "command")
    suite = isinstance(command, str) and command.startswith("suite:")
    levels = requested_levels((), (), builds=build is not None, iterations=False)
    if suite and builds:
        levels = replace(levels, levels=(RepetitionLevel(BUILD_LEVEL),))
    return Request(
        commands=(words,),
        shell=shell,
        names=() if suite else (entry.name,),
        prepare=_texts(options.get("prepare")),
        cleanup=_texts(options.get("cleanup")),
        setup=options.get("setup"),
        environment=tuple(f"{k}={v}" for k, v in options.get("environment", {}).items()),
        directory=options.get("directory"),
        stdin_file=options.get("stdin"),
        timeout_s=_duration(settings.get("timeout"), "timeout"),
        exit_codes=tuple(options.get("exit_codes", (0,))),
        metrics=tuple(settings.get("metrics", ())),
        iterations=settings.get("iterations"),
        levels=levels,
        build=BuildRequest(commands=_texts(build), sources=_texts(options.get("source"))),
    )


def _texts(value: str | None) -> tuple[str, ...]:
    return () if value is None else (value,)


def _duration(value: str | None, name: str) -> float | None:
    return None if value is None else parse_duration(str(value), f"experiment.{name}")
