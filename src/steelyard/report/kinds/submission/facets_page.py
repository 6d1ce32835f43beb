"""The page that splits an experiment's results by factors of one's choice."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from steelyard.report.kinds.submission.pages import REFRESH_S
from steelyard.report.pages.rendered import rendered_page

if TYPE_CHECKING:
    from steelyard.analysis.tables.table_analysis import Analysis
    from steelyard.report.pages.shell import Shell

_LABELS = (
    ("x", "along the axis"),
    ("columns", "beside each other"),
    ("rows", "below each other"),
    ("lines", "a line for each"),
)
_MOST_ROWS = 400


@dataclass(frozen=True)
class FacetChoices:
    """What one may choose from, and what is chosen.

    Parameters
    ----------
    responses, factors : sequence of str
    response, show : str
    places : mapping of str to str
        The factor of each place.
    """

    responses: Sequence[str]
    factors: Sequence[str]
    response: str
    show: str
    places: Mapping[str, str]


@dataclass(frozen=True)
class DrawnFacets:
    """A split of a response, and its picture as base64 of SVG."""

    found: Analysis
    image: str


def drawn_facets(found: Analysis) -> DrawnFacets:
    """A split with its picture."""
    from steelyard.report.drawings import svg_of

    return DrawnFacets(found, base64.b64encode(svg_of(found.figures[0])).decode("ascii"))


def facets_page(
    about: tuple[str, str, str],
    choices: FacetChoices,
    drawn: DrawnFacets | None,
    error: str,
    shell: Shell,
    *,
    is_present: bool = True,
) -> str:
    """The picture with the same as a table, or what is wrong with the choice.

    Parameters
    ----------
    about : tuple of str
        The experiment's name and identifier, and the options of `steelyard analyze` that ask the
        same.
    is_present : bool
        Whether all trials that have come are in it; else the page loads itself anew.
    """
    from steelyard.report.drawings import DRAWINGS
    from steelyard.report.kinds.analysis.tables import effects_table
    from steelyard.report.texts.readable import caution_text

    name, identifier, command = about
    found = None if drawn is None else drawn.found
    table = None if found is None else effects_table(found)
    figure = None if found is None else found.figures[0]
    view = {
        "shell": shell,
        "title": f"{name}: {choices.response} by facets",
        "identifier": identifier,
        "command": command,
        "choices": choices,
        "labels": _LABELS,
        "error": error,
        "drawing": None if figure is None else DRAWINGS[type(figure)],
        "image": "" if drawn is None else drawn.image,
        "table": None if table is None else table._replace(rows=table.rows[:_MOST_ROWS]),
        "more": 0 if table is None else max(0, len(table.rows) - _MOST_ROWS),
        "cautions": [] if found is None else [caution_text(c.message) for c in found.cautions],
        "is_present": is_present,
        "refresh_s": 0 if is_present else REFRESH_S,
    }
    return rendered_page("submission/facets.html.jinja", view)


def unfinished_facets_page(name: str, identifier: str, shell: Shell) -> str:
    """The page until its picture is drawn, which loads itself anew."""
    view = {
        "shell": shell,
        "title": f"{name} by facets",
        "identifier": identifier,
        "choices": None,
        "is_present": False,
        "refresh_s": 1,
    }
    return rendered_page("submission/facets.html.jinja", view)
