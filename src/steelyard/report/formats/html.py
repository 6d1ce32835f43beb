"""One self-contained page."""

from __future__ import annotations

from steelyard.report.formats import ReportFormat
from steelyard.report.kinds.comparison.page import html_page

EXTENSION = ReportFormat("html", ".html", "one page with plots that works offline", True, html_page)
