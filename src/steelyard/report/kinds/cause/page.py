"""The page of a causal analysis."""

from __future__ import annotations

import base64

from steelyard.analysis.cause.causal_analysis import Cause
from steelyard.analysis.tables.figure_values import LevelsFigure
from steelyard.core.units import scale_for
from steelyard.report.documents.rendering import Origin
from steelyard.report.drawings import DRAWINGS, svg_of
from steelyard.report.kinds.cause.text import arms_table, conclusion, headline, levels_table
from steelyard.report.pages.rendered import rendered_page
from steelyard.report.texts.readable import caution_text

_TONES = {"supported": "faster", "not-supported": "slower"}


def cause_figure(found: Cause) -> LevelsFigure | None:
    """The means of the levels in both arms; None where too little was measured."""
    if found.without is None or found.held is None:
        return None
    factor, unit = scale_for(found.without.mean, found.unit)
    arms = tuple(
        (
            f"{found.intervention}: {arm.name}",
            tuple(mean / factor for mean in arm.means),
            tuple(width / factor for width in arm.half_widths),
        )
        for arm in (found.without, found.held)
    )
    name = f"{found.response} [{unit}]" if unit else found.response
    return LevelsFigure(found.response, found.factor, name, found.levels, arms)


def cause_page(found: Cause, origin: Origin) -> str:
    """One page that shows everything about a causal analysis and loads nothing from anywhere."""
    figure = cause_figure(found)
    pictures = [] if figure is None else [figure]
    view = {
        "title": headline(found),
        "source": origin.file or origin.experiment or "",
        "tone": _TONES.get(found.verdict, "neutral"),
        "conclusion": conclusion(found),
        "arms": arms_table(found),
        "levels": levels_table(found),
        "cautions": [caution_text(caution.message) for caution in found.cautions],
        "answers": [
            {
                "drawing": DRAWINGS[type(shown)],
                "image": base64.b64encode(svg_of(shown)).decode("ascii"),
            }
            for shown in pictures
        ],
    }
    return rendered_page("cause/page.html.jinja", view)


def cause_plots(found: Cause, directory: str) -> list[str]:
    """The figure as PNG and SVG."""
    from steelyard.report.drawings import write_drawings

    figure = cause_figure(found)
    return [] if figure is None else write_drawings((figure,), directory)
