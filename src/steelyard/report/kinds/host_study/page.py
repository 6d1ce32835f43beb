"""The page of a study of noise."""

from __future__ import annotations

import base64

from steelyard.analysis.noise.noise_results import NoiseStudy
from steelyard.report.documents.rendering import Origin
from steelyard.report.drawings import svg_of
from steelyard.report.kinds.host_study.text import (
    cpu_table,
    headline,
    ranking_table,
    sentences,
    setups_table,
)
from steelyard.report.pages.rendered import rendered_page
from steelyard.report.texts.readable import caution_text


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
    return rendered_page("host_study/page.html.jinja", view)
