"""How an analysis of a table of trials is shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steelyard.report.documents.rendering import Rendering
from steelyard.report.kinds.analysis.document import analysis_document
from steelyard.report.kinds.analysis.page import analysis_page
from steelyard.report.kinds.analysis.text import analysis_text

if TYPE_CHECKING:
    from steelyard.analysis.tables.table_analysis import Analysis


def plots(found: Analysis, directory: str) -> list[str]:
    """Every figure as PNG and SVG."""
    from steelyard.report.drawings import write_drawings

    return write_drawings(found.figures, directory)


EXTENSION = Rendering("analysis", analysis_document, analysis_text, analysis_page, plots)
