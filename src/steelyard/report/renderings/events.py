"""Event studies."""

from __future__ import annotations

from steelyard.report.events_text import events_text
from steelyard.report.html.events_page import events_page, events_plots
from steelyard.report.json.events import events_document
from steelyard.report.rendering import Rendering

EXTENSION = Rendering("events", events_document, events_text, events_page, events_plots)
