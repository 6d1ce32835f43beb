"""Causal analyses."""

from __future__ import annotations

from steelyard.report.cause_text import cause_text
from steelyard.report.html.cause_page import cause_page, cause_plots
from steelyard.report.json.cause import cause_document
from steelyard.report.rendering import Rendering

EXTENSION = Rendering("cause", cause_document, cause_text, cause_page, cause_plots)
