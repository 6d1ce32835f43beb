"""Plots as files."""

from __future__ import annotations

import os
import warnings
from typing import Any

from steelyard.analysis.comparison.comparison_results import Answer
from steelyard.core.errors import UsageError
from steelyard.core.private_file import make_private_file
from steelyard.report.plots import plots_in_order

FILE_FORMATS = ("png", "svg")
STYLE: Any = {
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "axes.titlesize": 9.5,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.labelcolor": "#333a44",
    "axes.edgecolor": "#b6bcc6",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#e4e7ec",
    "grid.linewidth": 0.7,
    "xtick.color": "#4a5260",
    "ytick.color": "#4a5260",
    "legend.fontsize": 8.5,
    "figure.constrained_layout.use": True,
    "axes.formatter.useoffset": False,
    # The same answer gives the same bytes.
    "svg.hashsalt": "steelyard",
}


def write_plots(answer: Answer, directory: str) -> list[str]:
    """Write every plot that has something to show as PNG and SVG, and give their paths.

    Raises
    ------
    UsageError
        The directory cannot be made or written to.
    """
    import matplotlib
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    paths: list[str] = []
    with matplotlib.rc_context(STYLE), warnings.catch_warnings():
        # A name may hold characters that no font here has: they are drawn as boxes.
        warnings.filterwarnings("ignore", message="Glyph", category=UserWarning)
        for plot in plots_in_order():
            if not plot.panels(answer):
                continue
            figure = Figure(dpi=160)
            FigureCanvasAgg(figure)
            plot.draw(answer, figure)
            paths += _save(figure, directory, plot.name)
    return paths


def _save(figure: Any, directory: str, name: str) -> list[str]:
    paths = [os.path.join(directory, f"{name}.{suffix}") for suffix in FILE_FORMATS]
    try:
        os.makedirs(directory, exist_ok=True)
        for path, metadata in zip(paths, ({"Software": None}, {"Date": None}), strict=True):
            make_private_file(path)
            figure.savefig(path, metadata=metadata)
    except OSError as error:
        raise UsageError(
            f"The plots cannot be written to {directory}: {error.strerror}. "
            "Name a directory that you may write to.",
            field="--plots",
        ) from None
    return paths
