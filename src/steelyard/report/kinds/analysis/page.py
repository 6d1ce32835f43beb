"""The page of an analysis of a table."""

from __future__ import annotations

import base64
from typing import Any

from steelyard.analysis.tables.figure_values import Figure, ResidualFigure
from steelyard.analysis.tables.table_analysis import Analysis
from steelyard.report.documents.rendering import Origin
from steelyard.report.drawings import DRAWINGS, svg_of
from steelyard.report.kinds.analysis.change_sentences import change_sentences
from steelyard.report.kinds.analysis.level_means_text import coding_sentence, level_means_table
from steelyard.report.kinds.analysis.tables import (
    assumption_lines,
    effects_table,
    fact_lines,
    sources_table,
    tests_table,
)
from steelyard.report.kinds.analysis.text import headline
from steelyard.report.pages.rendered import rendered_page
from steelyard.report.texts.readable import caution_text
from steelyard.report.texts.table import Table


def _drawing(shown: Figure) -> dict[str, Any]:
    image = base64.b64encode(svg_of(shown)).decode("ascii")
    return {"drawing": DRAWINGS[type(shown)], "image": image}


def _means(found: Analysis) -> Table | None:
    """The means by level without their plot in characters: the page has a picture."""
    table = level_means_table(found)
    return None if table is None else table.without(len(table.headers) - 1)


def analysis_page(found: Analysis, origin: Origin) -> str:
    """One page that shows everything about an analysis and loads nothing from anywhere."""
    facts = fact_lines(found)
    if found.r_squared is not None:
        facts.insert(0, f"R²: {found.r_squared:.3f}")
    view = {
        "title": headline(found),
        "source": origin.file or origin.experiment or "",
        "method": found.method,
        "conclusion": [*change_sentences(found), *found.conclusion],
        "effects": effects_table(found) if found.effects else None,
        "coding": coding_sentence(found),
        "means": _means(found),
        "sources": sources_table(found),
        "tests": tests_table(found),
        "assumptions": assumption_lines(found),
        "facts": facts,
        "cautions": [caution_text(caution.message) for caution in found.cautions],
        "answers": [_drawing(f) for f in found.figures if not isinstance(f, ResidualFigure)],
        "checks": [_drawing(f) for f in found.figures if isinstance(f, ResidualFigure)],
    }
    return rendered_page("analysis/page.html.jinja", view)
