"""What the commands of `steelyard suite` share: programs by name, and what is shown of them."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from steelyard.cli.console.output import shown_text, write_file
from steelyard.core.errors import UsageError

if TYPE_CHECKING:
    from steelyard.app.suite.suite_name import SuiteName
    from steelyard.suite.description import Description
    from steelyard.suite.recipe import Recipe

GROUPS_BY_DEFAULT = "all"
FIGURE_FORMS = ("png", "svg", "pdf")


def chosen_recipes(names: Sequence[str]) -> list[Recipe]:
    """The recipes that names and groups stand for, each once; all without any."""
    from steelyard.app.suite.suite_name import parse_suite_name
    from steelyard.suite.registry import RecipeRegistry

    registry = RecipeRegistry()
    found = {
        recipe.name: recipe
        for text in names or (GROUPS_BY_DEFAULT,)
        for recipe in registry.chosen(parse_suite_name(text).name)
    }
    return list(found.values())


def chosen_programs(
    names: Sequence[str], size: str, cc: str | None, flags: Sequence[str]
) -> list[tuple[Recipe, SuiteName]]:
    """The programs that names and groups stand for, with each compiler and set of flags.

    What a name says itself after an @ goes before the options.
    """
    from steelyard.app.suite.suite_build import combined, plain_name
    from steelyard.app.suite.suite_name import SuiteName, parse_suite_name
    from steelyard.suite.registry import RecipeRegistry

    registry = RecipeRegistry()
    compilers = tuple(filter(None, (cc or "").split(",")))
    found: dict[tuple[str, SuiteName], tuple[Recipe, SuiteName]] = {}
    for text in names or (GROUPS_BY_DEFAULT,):
        for default in combined(SuiteName("", size=size), compilers, flags):
            asked = parse_suite_name(text, default)
            for recipe in registry.chosen(asked.name):
                plain = SuiteName(recipe.name, plain_name(recipe, asked).toolchain, asked.size)
                found.setdefault((recipe.name, plain), (recipe, plain))
    return list(found.values())


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
