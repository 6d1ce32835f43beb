"""What `steelyard.toml` adds to a call: defaults of options, and a benchmark's commands."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import click

from steelyard.core.errors import SteelyardError, UnknownNameError, UsageError

# Commands that take all of the defaults; the others take the store.
WEIGHING = ("measure", "compare", "resume", "dimension")
_BY_NAME = ("measure", "compare", "dimension")
# Rules to stop, of which a call has one: another one of its own takes the file's away.
_STOPPING = frozenset({"precision", "runs", "min_runs"})


@dataclass(frozen=True)
class Call:
    """The words of a call, with the values that its options have unless it says others.

    Parameters
    ----------
    words : sequence of str
        What follows the command's name.
    values : mapping
        By the names that click has for options; of a group by its commands.
    path : str, optional
        The file that they are from.
    options : mapping
        What the file says, by the options that it has values for, such as ``--precision``.
    """

    words: Sequence[str]
    values: Mapping[str, Any] = field(default_factory=dict)
    path: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)

    def blaming(self, error: SteelyardError) -> SteelyardError:
        """The error, with the file's name where it is about what the file says."""
        blamed = error.field if error.field in self.options else self._naming(error)
        if self.path is not None and blamed is not None:
            error.message += f" {blamed} is from {self.path}."
        return error

    def _naming(self, error: SteelyardError) -> str | None:
        """The option whose value is the name that no extension has: a registry knows of none."""
        if not isinstance(error, UnknownNameError):
            return None
        for option, value in self.options.items():
            texts = value if isinstance(value, list | tuple) else [value]
            if any(f" {text.partition(':')[0]!r}." in error.message for text in map(str, texts)):
                return option
        return None


def completed_call(name: str, command: click.Command, words: Sequence[str]) -> Call:
    """A call of the command `name`, with what the project's file says.

    Raises
    ------
    DataError
        The file is damaged, or says what no option takes.
    UsageError
        The call names a benchmark that there is not, or gives commands beside it.
    """
    from steelyard.app.request.project_file import find_project_file

    asked = _bench_of(words) if name in _BY_NAME else None
    path = find_project_file(os.getcwd(), os.environ)
    if path is None:
        if asked is not None:
            raise UsageError(
                f"--bench {asked} asks for a benchmark of steelyard.toml, and there is none here "
                "or above.",
                field="--bench",
            )
        return Call(words)
    return _with_file(path, name, command, words, asked)


def _with_file(
    path: str, name: str, command: click.Command, words: Sequence[str], asked: str | None
) -> Call:
    from steelyard.app.request.project_file import read_project_file
    from steelyard.cli.options.called_options import given_options, option_values

    file = read_project_file(path)
    if isinstance(command, click.Group):
        store = {k: v for k, v in file.defaults.items() if k == "store"}
        nested = {
            inner: values
            for inner, each in command.commands.items()
            if (values := option_values(each, _known(each, store)))
        }
        return Call(words, nested, path, {"--store": store["store"]} if store else {})
    wanted = {k: v for k, v in file.defaults.items() if name in WEIGHING or k == "store"}
    added: tuple[str, ...] = ()
    if asked is not None:
        benchmark = file.benchmark(asked)
        added = _commands_of(benchmark.commands, name, command, words)
        _refuse_unknown(file.path, benchmark.name, benchmark.options)
        wanted = _without_rules(wanted, benchmark.options) | dict(benchmark.options)
    if name == "dimension" and "budget" in wanted:
        # Its own --budget asks what a time would buy; what ends its runs is called otherwise.
        wanted["initial_budget"] = wanted.pop("budget")
    given = given_options(command, words)
    wanted = _without_rules(_known(command, wanted), given)
    wanted = {key: value for key, value in wanted.items() if key not in given}
    call = Call([*words, *added], path=path, options={_option(k): v for k, v in wanted.items()})
    try:
        return replace(call, values=option_values(command, wanted))
    except UsageError as error:
        raise call.blaming(error) from None


def _option(keyword: str) -> str:
    return f"--{keyword.replace('_', '-')}"


def _without_rules(options: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    ruled = bool(_STOPPING & given.keys())
    return {k: v for k, v in options.items() if not (ruled and k in _STOPPING)}


def _known(command: click.Command, options: Mapping[str, Any]) -> dict[str, Any]:
    from steelyard.cli.options.called_options import keywords_of

    known = keywords_of(command)
    return {key: value for key, value in options.items() if key in known}


def _refuse_unknown(path: str, name: str, options: Mapping[str, Any]) -> None:
    from steelyard.app.request.project_file import field_place
    from steelyard.cli.options.called_options import keywords_of
    from steelyard.cli.weigh import compare_command, measure_command
    from steelyard.core.errors import DataError
    from steelyard.core.registry import nearest

    known = {**keywords_of(measure_command.command), **keywords_of(compare_command.command)}
    known.pop("bench")
    for key in options:
        if key not in known:
            raise DataError(
                f"{field_place(path, f'bench.{name}', key)} is no option of measure or compare."
                f"{nearest(key, known)}",
                field=key,
            )


def _bench_of(words: Sequence[str]) -> str | None:
    """The benchmark that a call names; None where it names none, or two, which is refused later."""
    before = words[: words.index("--")] if "--" in words else words
    named = [word.partition("=")[2] for word in before if word.startswith("--bench=")]
    named += [value for word, value in pairwise(before) if word == "--bench"]
    return named[0] if len(named) == 1 else None


def _commands_of(
    commands: tuple[str, ...], name: str, command: click.Command, words: Sequence[str]
) -> tuple[str, ...]:
    from steelyard.cli.options.called_options import arguments_of

    if arguments_of(command, words):
        raise UsageError(
            "--bench takes its commands from steelyard.toml; give none beside it.", field="--bench"
        )
    if name != "compare" and len(commands) > 1:
        raise UsageError(
            f"{name} weighs one program, and this benchmark has {len(commands)} commands: "
            "compare takes it.",
            field="--bench",
        )
    return ("--", *commands)
