"""Options that take one value are refused when they are given twice."""

from __future__ import annotations

import os
from typing import Any

import click

from steelyard.core.errors import UsageError

# Files that an answer is written to when all work is done.
_TARGETS = frozenset({"json_target", "html_target", "html", "output"})


class OnceOption(click.Option):
    """An option that may be given once: click would take the last of several, and say nothing.

    One that names the file of an answer is refused where the file's folder is none, before the
    work whose answer could not be written.
    """

    def process_value(self, ctx: click.Context, value: Any) -> Any:
        """The value, where it can be one."""
        found = super().process_value(ctx, value)
        if self.name in _TARGETS and isinstance(found, str):
            folder = os.path.dirname(found)
            if folder and not os.path.isdir(folder):
                raise UsageError(
                    f"{found} cannot be written: there is no folder {folder}.", field=self.opts[0]
                )
        return found

    def add_to_parser(self, parser: Any, ctx: click.Context) -> None:
        """Have the parser refuse a second time."""
        super().add_to_parser(parser, ctx)
        if self.multiple or self.count:
            return
        for name in (*self.opts, *self.secondary_opts):
            known = parser._long_opt.get(name) or parser._short_opt.get(name)
            if known is not None and not isinstance(known.process, _Once):
                known.process = _Once(known.process, self.opts[-1], ctx)


class _Once:
    """Calls what takes an option's value, the first time."""

    def __init__(self, process: Any, name: str, ctx: click.Context) -> None:
        self._process = process
        self._name = name
        self._ctx = ctx

    def __call__(self, value: Any, state: Any) -> None:
        given: set[str] = self._ctx.meta.setdefault(f"{__name__}.{self._ctx.command_path}", set())
        if self._name in given:
            raise UsageError(
                f"Given twice: {self._name}, which takes one value. Leave one of them out.",
                field=self._name,
            )
        given.add(self._name)
        self._process(value, state)


def make_strict(command: click.Command) -> click.Command:
    """`command` with all of its options, and those of its own commands, as `OnceOption`."""
    for parameter in command.params:
        if type(parameter) is click.Option:
            parameter.__class__ = OnceOption
    if isinstance(command, click.Group):
        for inner in command.commands.values():
            make_strict(inner)
    return command
