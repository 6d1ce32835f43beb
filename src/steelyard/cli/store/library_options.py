"""What the commands on stored experiments share."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from steelyard.cli.console.hidden import show_secrets
from steelyard.cli.console.output import write_note
from steelyard.core.model import Caution
from steelyard.store.location import store_path

if TYPE_CHECKING:
    from steelyard.app.results.library import Library

STORE = click.option(
    "--store", metavar="FILE", help="The store (default: in the user's data directory)."
)


def _show_secrets(context: click.Context, parameter: click.Parameter, asked: bool) -> bool:
    if asked:
        show_secrets()
    return asked


SECRETS = click.option(
    "--show-secrets",
    is_flag=True,
    callback=_show_secrets,
    help="Also values of variables, and passwords in commands, which are masked otherwise.",
)
JSON = click.option("--json", "json_target", metavar="FILE", help="Write JSON to FILE; - prints.")


@contextmanager
def opened_library(store: str | None) -> Iterator[Library]:
    """The library of the store that the option names; its warnings go to standard error."""
    from steelyard.app.results.library import open_library

    with open_library(store_path(store)) as library:
        warn(library.cautions)
        yield library


def warn(cautions: Iterable[Caution]) -> None:
    """Each caution as one line on standard error."""
    for caution in cautions:
        write_note(f"warning: {caution.message}")


def terminal_width() -> int | None:
    """The columns of the terminal that standard output is; None where it is none."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None
