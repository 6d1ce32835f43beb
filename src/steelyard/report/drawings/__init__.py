"""Drawings of what an analysis of a table has to show: one file for each kind of figure."""

from __future__ import annotations

import io
import os
import warnings
from typing import Any

from steelyard.analysis.facets.facet_figure import FacetFigure
from steelyard.analysis.tables.figure_values import (
    Figure,
    HistogramFigure,
    InteractionFigure,
    LevelsFigure,
    MainEffectsFigure,
    MapFigure,
    QuantileFigure,
    ResidualFigure,
    ScatterFigure,
    ViolinFigure,
)
from steelyard.core.errors import UsageError
from steelyard.core.private_file import make_private_file
from steelyard.report.drawings.drawing import Drawing
from steelyard.report.drawings.facet_panels import FACETS
from steelyard.report.drawings.factor_means import INTERACTIONS, MAIN_EFFECTS
from steelyard.report.drawings.heat_map import HEAT_MAP
from steelyard.report.drawings.histogram import HISTOGRAM
from steelyard.report.drawings.level_means_drawing import LEVEL_MEANS
from steelyard.report.drawings.quantile_effects import QUANTILE_EFFECTS
from steelyard.report.drawings.residuals import RESIDUALS
from steelyard.report.drawings.scatter import SCATTER
from steelyard.report.drawings.violins import VIOLINS
from steelyard.report.plots.plot_files import FILE_FORMATS, STYLE

DRAWINGS: dict[type, Drawing] = {
    ResidualFigure: RESIDUALS,
    QuantileFigure: QUANTILE_EFFECTS,
    ViolinFigure: VIOLINS,
    HistogramFigure: HISTOGRAM,
    MapFigure: HEAT_MAP,
    LevelsFigure: LEVEL_MEANS,
    MainEffectsFigure: MAIN_EFFECTS,
    InteractionFigure: INTERACTIONS,
    ScatterFigure: SCATTER,
    FacetFigure: FACETS,
}


def svg_of(shown: Figure) -> bytes:
    """A figure as SVG; the same figure gives the same bytes."""
    buffer = io.BytesIO()
    _draw(shown, [(buffer, "svg")])
    return buffer.getvalue()


def write_drawings(figures: tuple[Figure, ...], directory: str) -> list[str]:
    """Write every figure as PNG and SVG, and give their paths.

    Raises
    ------
    UsageError
        The directory cannot be made or written to.
    """
    paths: list[str] = []
    try:
        os.makedirs(directory, exist_ok=True)
        for index, shown in enumerate(figures, 1):
            name = f"{DRAWINGS[type(shown)].name}-{index}"
            targets = [(os.path.join(directory, f"{name}.{kind}"), kind) for kind in FILE_FORMATS]
            for path, _ in targets:
                make_private_file(path)
            _draw(shown, targets)
            paths += [path for path, _ in targets]
    except OSError as error:
        raise UsageError(
            f"The plots cannot be written to {directory}: {error.strerror}. "
            "Name a directory that you may write to.",
            field="--plots",
        ) from None
    return paths


def _draw(shown: Figure, targets: list[tuple[Any, str]]) -> None:
    import matplotlib
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure as Canvas

    metadata = {"png": {"Software": None}, "svg": {"Date": None}}
    with matplotlib.rc_context(STYLE), warnings.catch_warnings():
        # A name may hold characters that no font here has: they are drawn as boxes.
        warnings.filterwarnings("ignore", message="Glyph", category=UserWarning)
        canvas = Canvas(dpi=160)
        FigureCanvasAgg(canvas)
        DRAWINGS[type(shown)].draw(shown, canvas)
        for target, kind in targets:
            canvas.savefig(target, format=kind, metadata=metadata[kind])
