"""An answer about many programs with long names: every plot finds room, the forest has the mean."""

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from steelyard.analysis.comparison.experiment_answer import answer
from steelyard.report.kinds.comparison.text import plain_text
from steelyard.report.plots import forest, sequence
from tests.unit.analysis.intervals.test_geometric_mean_interval import experiment


def many():
    columns = [[1.0 + 0.01 * ((7 * block + 3 * c) % 5) for block in range(4)] for c in range(24)]
    programs = [f"a-program-with-a-long-name-{index // 2}" for index in range(24)]
    return answer(experiment(columns, groups=programs))


def test_a_legend_of_many_long_names_leaves_room_for_the_plot():
    figure = Figure(layout="constrained")
    canvas = FigureCanvasAgg(figure)
    sequence.draw(many(), figure)
    canvas.draw()  # Warns, and so fails, where nothing is left for the axes.
    assert figure.axes[0].get_position().height > 0.3


def test_the_forest_ends_with_the_geometric_mean():
    (panel,) = forest.panels(many())
    labels = panel.layout["yaxis"]["ticktext"]
    assert len(labels) == 13
    assert labels[-1].replace("<br>", "").startswith("geometric mean of 12")


def test_the_text_tells_the_geometric_mean():
    assert "Over 12 groups the geometric mean of -O3 / -O2 is" in plain_text(many())
