"""Groups of options as dataclasses: a field is an option of the command line and its typed value.

A command says once what it takes, and receives one value with a typed field for each option:

    @dataclass(frozen=True, kw_only=True)
    class ListOptions:
        store: str | None = option("--store", metavar="FILE", help="The store.")

    @click.command("list")
    @takes(ListOptions)
    def command(given: ListOptions) -> None: ...
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, field, fields
from typing import Any, Concatenate, NamedTuple, TypeVar

import click

G = TypeVar("G")
R = TypeVar("R")
_OPTION, _GROUP = "option", "group"


class DeclaredOption(NamedTuple):
    """One option of a group: the field's name, what is typed for it, and what click is told."""

    name: str
    declarations: tuple[str, ...]
    attributes: Mapping[str, Any]


def option(*declarations: str, **attributes: Any) -> Any:
    """A field that is an option; what follows is what `click.option` takes.

    The field's default is click's own: what is said, else False for a flag, nothing where an
    option may be repeated, and None.
    """
    default = MISSING if attributes.get("required") else _default(attributes)
    return field(default=default, metadata={_OPTION: (declarations, attributes)})


def repeated_option(name: str, metavar: str, help_text: str) -> tuple[str, ...]:
    """A field that is an option which may be given several times."""
    return option(name, multiple=True, metavar=metavar, help=help_text)


def group(kind: type[G]) -> G:
    """A field that is a group of options by itself."""
    made: Any = field(default_factory=kind, metadata={_GROUP: kind})
    return made


def takes(
    kind: type[G],
) -> Callable[[Callable[Concatenate[G, ...], R]], Callable[..., R]]:
    """A decorator: the command takes the options of `kind` and receives them as its first value.

    They are listed in the order of the fields.
    """
    declared = tuple(options_of(kind))

    def decorate(function: Callable[Concatenate[G, ...], R]) -> Callable[..., R]:
        @functools.wraps(function)
        def called(**values: Any) -> R:
            given = gathered(kind, values)
            return function(given, **values)

        added: Callable[..., R] = called
        for name, declarations, attributes in reversed(declared):
            added = click.option(*declarations, name, **attributes)(added)
        return added

    return decorate


def options_of(kind: type[Any]) -> Iterator[DeclaredOption]:
    """The options of a group and of the groups in it, in their order."""
    for item in fields(kind):
        if _GROUP in item.metadata:
            yield from options_of(item.metadata[_GROUP])
        elif _OPTION in item.metadata:
            yield DeclaredOption(item.name, *item.metadata[_OPTION])


def _default(attributes: Mapping[str, Any]) -> Any:
    if "default" in attributes:
        return attributes["default"]
    if attributes.get("is_flag"):
        return False
    return () if attributes.get("multiple") else None


def gathered(kind: type[G], values: dict[str, Any]) -> G:
    """The group that these values of click make; they are taken out of `values`."""
    found = {
        item.name: gathered(item.metadata[_GROUP], values)
        if _GROUP in item.metadata
        else values.pop(item.name)
        for item in fields(kind)  # type: ignore[arg-type]
    }
    return kind(**found)
