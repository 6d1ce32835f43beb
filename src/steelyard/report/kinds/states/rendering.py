"""States of executions."""

from __future__ import annotations

from steelyard.report.documents.rendering import Rendering
from steelyard.report.kinds.states.document import states_document
from steelyard.report.kinds.states.page import states_page
from steelyard.report.kinds.states.text import states_text

EXTENSION = Rendering("states", states_document, states_text, states_page)
