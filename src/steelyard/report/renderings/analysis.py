"""How an analysis of a table of trials is shown."""

from __future__ import annotations

from steelyard.report.analysis_text import analysis_text
from steelyard.report.html.analysis_page import analysis_page
from steelyard.report.json.analysis import analysis_document
from steelyard.report.rendering import Rendering

EXTENSION = Rendering("analysis", analysis_document, analysis_text, analysis_page)
