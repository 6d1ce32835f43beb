"""The page of a study of noise."""

from __future__ import annotations

import base64

from steelyard.analysis.noise_results import NoiseStudy
from steelyard.report.drawings import svg_of
from steelyard.report.html.rendered import rendered_page
from steelyard.report.noise_text import (
    cpu_table,
    headline,
    ranking_table,
    sentences,
    setups_table,
)
from steelyard.report.rendering import Origin
from steelyard.report.wording import caution_text


def noise_page(found: NoiseStudy, origin: Origin) -> str:
    """One page that shows everything about a study and loads nothing from anywhere."""
    view = {
        "title": headline(found),
        "source": origin.file or origin.experiment or "",
        "sentences": sentences(found),
        "cautions": [caution_text(caution.message) for caution in found.cautions],
        "ranking": ranking_table(found),
        "setups": setups_table(found),
        "cpu": cpu_table(found),
        "skipped": found.skipped,
        "pictures": [
            {"title": figure.title, "image": base64.b64encode(svg_of(figure)).decode("ascii")}
            for figure in found.figures
        ],
    }
    return rendered_page("noise.html.jinja", view)
