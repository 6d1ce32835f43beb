"""The library that a command's option names, and its warnings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from steelyard.cli.console.output import write_note
from steelyard.core.experiment_results import Caution

if TYPE_CHECKING:
    from steelyard.app.results.library import Library


@contextmanager
def opened_library(store: str | None) -> Iterator[Library]:
    """The library of the store that the option names; its warnings go to standard error."""
    from steelyard.app.results.library import open_library

    with open_library(store) as library:
        warn(library.cautions)
        yield library


def warn(cautions: Iterable[Caution]) -> None:
    """Each caution as one line on standard error."""
    for caution in cautions:
        write_note(f"warning: {caution.message}")
