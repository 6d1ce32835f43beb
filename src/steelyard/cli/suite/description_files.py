"""What the commands of `steelyard suite` share: what is shown of programs, and where."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from steelyard.cli.console.output import shown_text, write_file
from steelyard.core.errors import UsageError

if TYPE_CHECKING:
    from steelyard.app.suite.suite_describe import Description

FIGURE_FORMS = ("png", "svg", "pdf")


def figure_form(path: str | None) -> str:
    """The form of a figure by the name of its file."""
    if path is None:
        return ""
    form = os.path.splitext(path)[1].lstrip(".").lower()
    if form not in FIGURE_FORMS:
        raise UsageError(
            f"--plot takes a file whose name ends in {', '.join('.' + f for f in FIGURE_FORMS)}; "
            f"it got {path!r}.",
            field="--plot",
        )
    return form


def write_description(
    found: Sequence[Description], about: str, page: str | None, plot: tuple[str | None, str]
) -> None:
    """Write the page and the figure that were asked for."""
    from steelyard.report.kinds.suite.description import description_page, figure_bytes

    if page is not None:
        write_file(description_page(found, about).encode("utf-8"), page)
    path, form = plot
    if path is not None:
        write_file(figure_bytes(found, form), path)


def progress() -> Callable[[str], None]:
    """Shows what is being done on a terminal, in one line that is overwritten."""
    if not sys.stderr.isatty():
        return lambda _: None

    def show(text: str) -> None:
        sys.stderr.write(f"\r\x1b[K{shown_text(text)}" if text else "\r\x1b[K")
        sys.stderr.flush()

    return show
