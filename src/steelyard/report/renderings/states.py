"""States of executions."""

from __future__ import annotations

from steelyard.report.html.states_page import states_page
from steelyard.report.json.states import states_document
from steelyard.report.rendering import Rendering
from steelyard.report.states_text import states_text

EXTENSION = Rendering("states", states_document, states_text, states_page)
