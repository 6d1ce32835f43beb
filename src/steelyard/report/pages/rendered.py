"""A page from its template: what every page needs, set up in one place."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from steelyard.report.pages.plotly_script import plotly_script, script_hash
from steelyard.report.plots.plot_style import DARK_COLORS
from steelyard.report.texts.readable import without_surrogates

if TYPE_CHECKING:
    from jinja2 import Environment

# What several pages share is here, the rest in the folder of its kind.
_HERE = os.path.dirname(__file__)
_FOLDERS = (_HERE, os.path.join(os.path.dirname(_HERE), "kinds"))


def rendered_page(
    template: str, view: Mapping[str, Any], styles: Sequence[str] = ("page.css",)
) -> str:
    """A page that loads nothing from anywhere and runs no script.

    Parameters
    ----------
    template : str
        Its file: of a kind, such as ``cause/page.html.jinja``.
    view : mapping
        What the template shows.
    styles : sequence of str
        Files here, or of a kind, whose text is the template's ``style``.
    """
    style = "".join(_text_of(name) for name in styles)
    return without_surrogates(_templates().get_template(template).render(view, style=style))


@cache
def _templates() -> Environment:
    """Templates that are compiled once: a server renders them again and again."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(_FOLDERS),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    environment.filters["prose"] = prose
    return environment


def scripted_page(
    template: str,
    view: Mapping[str, Any],
    styles: Sequence[str] = ("page.css",),
    script: str = "page.js",
) -> str:
    """The same with plotly and the script in the file `script`, and nothing else that may run."""
    text, library = _text_of(script), plotly_script()
    scripts = {
        "script": text,
        "library": library,
        "script_sources": f"{script_hash(library)} {script_hash(text)}",
    }
    return rendered_page(template, {**view, **scripts}, styles)


def own_script(script: str) -> dict[str, str]:
    """What a page shows that has this script of ours and nothing else that may run."""
    text = _text_of(script)
    return {"script": text, "script_sources": script_hash(text)}


def plotted_page(
    template: str, view: Mapping[str, Any], figures: Mapping[str, Mapping[str, Any]]
) -> str:
    """The same with figures of plotly, by the identifier of the element that each is drawn in."""
    drawn = {
        "heights": {name: figure["layout"]["height"] for name, figure in figures.items()},
        "figures": embedded_json({"figures": figures, "dark": DARK_COLORS}),
    }
    return scripted_page(template, {**view, **drawn})


def prose(text: str) -> Any:
    """`text` escaped, with percentages that are not torn apart at the end of a line, and what
    stands between backticks as code."""
    from markupsafe import Markup, escape

    whole = str(escape(text.replace(" %", "\u00a0%").replace(" ± ", "\u00a0± ")))
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", whole))


def embedded_json(value: Any) -> Any:
    """JSON that is safe inside a script element, whatever text it holds."""
    from markupsafe import Markup

    text = json.dumps(value, allow_nan=False, separators=(",", ":"))
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text)


@cache
def _text_of(name: str) -> str:
    paths = [os.path.join(folder, name) for folder in _FOLDERS]
    with open(next(filter(os.path.isfile, paths), paths[0]), encoding="utf-8") as file:
        return file.read()
