"""What each setup of a machine does to the noise of a program."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steelyard.report.documents.rendering import Rendering
from steelyard.report.kinds.host_study.document import noise_document
from steelyard.report.kinds.host_study.page import noise_page
from steelyard.report.kinds.host_study.text import noise_text

if TYPE_CHECKING:
    from steelyard.analysis.noise.noise_results import NoiseStudy


def plots(found: NoiseStudy, directory: str) -> list[str]:
    """Every figure as PNG and SVG."""
    from steelyard.report.drawings import write_drawings

    return write_drawings(found.figures, directory)


EXTENSION = Rendering("host-study", noise_document, noise_text, noise_page, plots)
