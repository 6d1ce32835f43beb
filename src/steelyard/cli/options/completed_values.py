"""What a shell offers for the values of options and arguments; loaded when one asks alone."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem

from steelyard.core.errors import SteelyardError

if TYPE_CHECKING:
    from steelyard.app.request.project_file import ProjectFile

_MOST_EXPERIMENTS = 20
# A shell puts what is offered into the line as it is, and would run what a file of others names.
_PLAIN_NAME = re.compile(r"\w[\w.:/@%+=,-]*", re.ASCII)


def offer_values(command: click.Command) -> click.Command:
    """`command`, and its own commands, with names and files offered where a value is one."""
    for parameter in command.params:
        offered = _offered(parameter)
        if offered is not None:
            parameter._custom_shell_complete = offered
    if isinstance(command, click.Group):
        for inner in command.commands.values():
            offer_values(inner)
    return command


Offered = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]


def _offered(parameter: click.Parameter) -> Offered | None:
    if parameter.name in _NAMES:
        return _names_of(_NAMES[parameter.name])
    metavar = (parameter.metavar or "").partition(" ")[0]
    if "DIR" in metavar:
        return _path("dir")
    if isinstance(parameter, click.Argument) or "FILE" in metavar or "CMD" in metavar:
        return _path("file")
    return None


def _path(kind: str) -> Offered:
    def offered(_c: click.Context, _p: click.Parameter, begun: str) -> list[CompletionItem]:
        return [CompletionItem(begun, type=kind)]

    return offered


def _names_of(names: Callable[[click.Context], Iterable[tuple[str, str]]]) -> Offered:
    def offered(context: click.Context, _: click.Parameter, begun: str) -> list[CompletionItem]:
        try:
            found = list(names(context))
        except SteelyardError:
            return []  # The command will say what is wrong with the file or the store.
        return [
            CompletionItem(name, help=_printable(text))
            for name, text in found
            if name.startswith(begun) and _PLAIN_NAME.fullmatch(name)
        ]

    return offered


def _printable(text: str) -> str:
    return "".join(letter if letter.isprintable() else "\ufffd" for letter in text)


def _project() -> ProjectFile | None:
    """What the project says whose folder this is."""
    from steelyard.app.request.project_file import find_project_file, read_project_file

    path = find_project_file(os.getcwd(), os.environ)
    return None if path is None else read_project_file(path)


def _benchmarks(_: click.Context) -> Iterable[tuple[str, str]]:
    project = _project()
    if project is not None:
        for benchmark in project.benchmarks.values():
            yield benchmark.name, benchmark.commands[0]


def _experiments(context: click.Context) -> Iterable[tuple[str, str]]:
    from steelyard.app.results.library import open_library

    yield "latest", "the newest"
    store, project = context.params.get("store"), _project()
    if store is None and project is not None:
        store = project.defaults.get("store")
    with open_library(store) as library:
        for listed in library.listing()[:_MOST_EXPERIMENTS]:
            yield listed.spec.identifier, listed.spec.variants[0].name


def _metrics(_: click.Context) -> Iterable[tuple[str, str]]:
    from steelyard.app.request.experiment_request import DEFAULT_METRICS

    return ((name, "") for name in DEFAULT_METRICS)


_NAMES = {
    "bench": _benchmarks,
    "experiment": _experiments,
    "experiments": _experiments,
    "metric": _metrics,
    "metrics": _metrics,
}
