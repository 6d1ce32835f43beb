"""Causal analyses."""

from __future__ import annotations

from steelyard.report.documents.rendering import Rendering
from steelyard.report.kinds.cause.document import cause_document
from steelyard.report.kinds.cause.page import cause_page, cause_plots
from steelyard.report.kinds.cause.text import cause_text

EXTENSION = Rendering("cause", cause_document, cause_text, cause_page, cause_plots)
