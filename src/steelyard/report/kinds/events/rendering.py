"""Event studies."""

from __future__ import annotations

from steelyard.report.documents.rendering import Rendering
from steelyard.report.kinds.events.document import events_document
from steelyard.report.kinds.events.page import events_page, events_plots
from steelyard.report.kinds.events.text import events_text

EXTENSION = Rendering("events", events_document, events_text, events_page, events_plots)
