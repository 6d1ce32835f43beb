"""Residuals against fitted values, and against the quantiles of a normal sample."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steelyard.analysis.tables.figure_values import ResidualFigure
from steelyard.report.drawings.drawing import ACCENT, INK, MUTED, Drawing

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas


def draw(shown: ResidualFigure, canvas: Canvas) -> None:
    """Two panels beside each other."""
    canvas.set_size_inches(7.6, 3.3)
    left, right = canvas.subplots(1, 2)
    size = 14 if len(shown.residuals) < 200 else 5
    left.axhline(0, color=MUTED, linewidth=1)
    left.scatter(shown.fitted, shown.residuals, s=size, color=INK, alpha=0.6, linewidths=0)
    left.set_title("Residuals against fitted values")
    left.set_xlabel("fitted value")
    left.set_ylabel("residual")
    residuals, scores = np.asarray(shown.residuals), np.asarray(shown.scores)
    lower, upper = np.quantile(residuals, (0.25, 0.75))
    spread = np.quantile(scores, 0.75) - np.quantile(scores, 0.25)
    slope = (upper - lower) / spread if spread > 0 else 0.0
    middle = float(np.median(residuals))
    ends = np.array([scores.min(), scores.max()])
    right.plot(ends, middle + slope * ends, color=ACCENT, linewidth=1.2)
    right.scatter(scores, residuals, s=size, color=INK, alpha=0.6, linewidths=0)
    right.set_title("Normal quantile plot")
    right.set_xlabel("normal score")
    right.set_ylabel("residual")


RESIDUALS = Drawing(
    name="residuals",
    title="Do the assumptions hold?",
    caption=(
        "On the left a cloud without a shape is as it should be; a funnel means that rows do not "
        "vary alike, a bend that a term is missing. On the right normal residuals lie on the line."
    ),
    draw=draw,
)
