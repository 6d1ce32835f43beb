import json
import re
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest

from steelyard.core.errors import UsageError
from steelyard.report.plots import PLOTS, plots_in_order
from steelyard.report.plots.plot_files import write_plots
from steelyard.report.plots.plot_style import as_matplotlib_text, as_plotly_text, thinning_note

KINDS = ["forest", "violin", "sequence", "acf", "lag", "qq"]


def points(panel):
    """The trace of single values in a violin."""
    return next(trace for trace in panel.data if trace.get("hoverinfo") == "x+name")


def panels(name, answer):
    return PLOTS.get(name).panels(answer)


def test_the_plots_come_in_the_order_of_the_page():
    assert [plot.name for plot in plots_in_order()] == ["sweep", *KINDS]


@pytest.mark.parametrize("name", KINDS)
def test_a_figure_is_plain_json(samples, name):
    for panel in panels(name, samples.five()):
        json.dumps([panel.data, panel.layout], allow_nan=False)
        assert panel.data
        assert panel.description


def test_the_forest_has_a_bar_from_bound_to_bound(samples):
    (panel,) = panels("forest", samples.two())
    (trace,) = panel.data
    assert trace["x"] == [0.945]
    assert trace["error_x"]["array"] == pytest.approx([0.025])
    assert trace["error_x"]["arrayminus"] == pytest.approx([0.025])


def test_the_forest_has_the_margin_and_the_line_at_one(samples):
    (panel,) = panels("forest", samples.two())
    band, line = panel.layout["shapes"]
    assert (band["x0"], band["x1"]) == (0.99, 1.01)
    assert line["x0"] == line["x1"] == 1
    low, high = panel.layout["xaxis"]["range"]
    assert low < 0.92
    assert high > 1.01


def test_verdicts_differ_by_shape_and_not_by_colour_alone(samples):
    panel = panels("forest", samples.five())[0]
    assert len({trace["marker"]["symbol"] for trace in panel.data}) == 4


def test_the_forest_has_a_figure_for_each_compared_metric(samples):
    assert [panel.title for panel in panels("forest", samples.five())] == ["wall_time", "max_rss"]


def test_the_forest_leaves_out_what_has_no_bounds_but_its_table_does_not(samples):
    unbounded = samples.comparison("undecided", samples.unbounded())
    answer = replace(samples.two(), comparisons=(unbounded,))
    assert panels("forest", answer) == []
    assert PLOTS.get("forest").table(answer).rows == (
        ("wall_time", "B", "A", "no bounds", "undecided"),
    )


def test_the_axis_of_a_rate_says_that_more_is_faster(samples):
    comparison = samples.comparison("faster", samples.ratio(1.1, 1.2, 1.3), metric=samples.REQUESTS)
    answer = replace(samples.two(), comparisons=(comparison,))
    title = panels("forest", answer)[0].layout["xaxis"]["title"]["text"]
    assert "(← slower | faster →)" in title


def test_violins_hold_every_value_in_the_unit_of_the_axis(samples):
    answer = samples.two()
    (panel,) = panels("violin", answer)
    values = answer.variants[0].metrics["wall_time"].values
    assert points(panel)["x"] == pytest.approx([1e3 * value for value in values], rel=1e-6)
    assert panel.layout["xaxis"]["title"]["text"] == "wall_time [ms]"


def test_thousands_of_values_are_thinned_and_the_reader_is_told(samples):
    answer = replace(samples.one(), variants=(samples.variant("A", count=4500),))
    (panel,) = panels("violin", answer)
    assert len(points(panel)["x"]) == 900
    assert thinning_note(answer).startswith("Of 4500 values a variant, every 5th is drawn")
    assert thinning_note(samples.two()) == ""


def test_the_sequence_is_drawn_over_blocks_that_count_from_one(samples):
    (panel,) = panels("sequence", samples.two())
    assert panel.data[0]["x"] == list(range(1, 32))
    assert len(panel.layout["shapes"]) == 16


def test_the_acf_shows_its_bounds_on_both_sides(samples):
    panel = panels("acf", samples.two())[0]
    bound = samples.two().variants[0].metrics["wall_time"].independence.bound
    assert [shape["y0"] for shape in panel.layout["shapes"]] == [-bound, 0, bound]


def test_the_lag_plot_pairs_each_value_with_the_next(samples):
    panel = panels("lag", samples.two())[0]
    points = panel.data[0]
    assert points["x"][1:] == points["y"][:-1]
    assert len(points["x"]) == 30


@pytest.mark.parametrize("count", [0, 1, 2])
def test_few_values_give_fewer_plots_and_no_error(samples, tmp_path, count):
    answer = samples.one(count)
    assert panels("qq", answer) == []
    write_plots(answer, str(tmp_path))


def test_every_plot_is_written_as_png_and_svg(samples, tmp_path):
    paths = write_plots(samples.two(), str(tmp_path / "new" / "figures"))
    assert [path.rpartition("/")[2] for path in paths] == [
        f"{kind}.{suffix}" for kind in KINDS for suffix in ("png", "svg")
    ]
    for path in paths:
        with open(path, "rb") as file:
            start = file.read(400)
        assert start.startswith(b"\x89PNG") if path.endswith("png") else b"<svg" in start


def test_the_same_answer_gives_the_same_bytes(samples, tmp_path):
    first, second = (write_plots(samples.two(), str(tmp_path / place)) for place in ("one", "two"))
    for one, two in zip(first, second, strict=True):
        with open(one, "rb") as left, open(two, "rb") as right:
            assert left.read() == right.read()


def assert_drawn(paths):
    """Pictures that hold more than a frame."""
    assert {Path(path).suffix for path in paths} == {".png", ".svg"}
    for path in map(Path, paths):
        if path.suffix == ".svg":
            drawn = ElementTree.parse(path).getroot().iter("{http://www.w3.org/2000/svg}path")
            assert len(list(drawn)) > 10
        else:
            assert path.read_bytes().startswith(b"\x89PNG")


def test_names_no_font_or_renderer_likes_are_drawn(samples, tmp_path):
    names = ("$x^{$", "\N{GRINNING FACE}\udcff", "")
    answer = replace(
        samples.two(), comparisons=(), variants=tuple(samples.variant(name) for name in names)
    )
    assert_drawn(write_plots(answer, str(tmp_path)))


def test_values_that_are_all_alike_can_be_drawn(samples, tmp_path):
    answer = samples.one()
    result = answer.variants[0].metrics["wall_time"]
    alike = replace(result, values=(0.01,) * 31)
    variant = replace(answer.variants[0], metrics={"wall_time": alike})
    assert_drawn(write_plots(replace(answer, variants=(variant,)), str(tmp_path)))


def test_a_directory_that_cannot_be_made_is_one_clear_error(samples, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match=re.escape("Name a directory")) as caught:
        write_plots(samples.two(), str(tmp_path / "file" / "figures"))
    assert caught.value.field == "--plots"


def test_text_stays_text_for_both_renderers():
    assert as_plotly_text("<b>&$") == "&lt;b&gt;&amp;&#36;"
    assert as_matplotlib_text("$x$") == r"\$x\$"


def test_a_violin_does_not_smooth_two_modes_away(samples):
    found = samples.two()
    values = tuple((1.0 if k % 5 < 3 else 1.3) + 0.0005 * (k % 37) for k in range(200))
    variant = found.variants[0]
    result = replace(variant.metrics[found.metric.name], values=values, blocks=tuple(range(200)))
    changed = replace(variant, metrics={**variant.metrics, found.metric.name: result})
    (panel,) = panels("violin", replace(found, variants=(changed, *found.variants[1:])))
    # In ms: the modes lie 300 apart, and the usual bandwidth of all values together is 46.
    shape = panel.data[0]
    placed = [(shape["x0"] + k * shape["dx"], y) for k, y in enumerate(shape["y"])]
    between = [y for x, y in placed if 1050 < x < 1280]
    humps = [y for x, y in placed if x < 1020 or x > 1300]
    assert max(abs(y) for y in between) < 0.01
    assert max(abs(y) for y in humps) == pytest.approx(0.5)


def swept(samples, parameter="level", levels=("1", "6", "9")):
    variants = tuple(
        replace(
            samples.variant(f"gzip -{level} f ({parameter}={level})", 0.01 * (place + 1)),
            parameters=((parameter, level),),
        )
        for place, level in enumerate(levels)
    )
    return replace(samples.one(), variants=variants)


def test_a_sweep_is_drawn_over_the_numbers_of_its_parameter_with_its_intervals(samples):
    answer = swept(samples)
    (panel,) = panels("sweep", answer)
    band, means = panel.data
    assert means["x"] == [1, 6, 9]
    assert means["name"] == "gzip -{level} f"
    assert panel.layout["xaxis"]["title"]["text"] == "level"
    mean = answer.variants[2].metrics["wall_time"].summary.mean
    assert band["x"] == [1, 6, 9, 9, 6, 1]
    assert band["y"][2:4] == pytest.approx([1e3 * mean.high, 1e3 * mean.low])


def test_values_far_apart_are_drawn_on_a_logarithmic_axis(samples):
    (panel,) = panels("sweep", swept(samples, levels=("1", "10", "1000")))
    assert panel.layout["xaxis"]["type"] == "log"


def test_a_logarithmic_sweep_is_marked_where_it_was_measured(samples):
    (panel,) = panels("sweep", swept(samples, levels=("1", "10", "1000")))
    assert panel.layout["xaxis"]["tickvals"] == [1, 10, 1000]
    assert panel.layout["xaxis"]["ticktext"] == ["1", "10", "1000"]


def test_the_table_of_a_sweep_has_a_row_for_each_value(samples):
    table = PLOTS.get("sweep").table(swept(samples))
    assert table.headers[0] == "level"
    assert [row[0] for row in table.rows] == ["1", "6", "9"]


def test_words_are_no_numbers_and_make_no_sweep(samples):
    assert panels("sweep", swept(samples, levels=("none", "all"))) == []
    assert panels("sweep", samples.five()) == []


def test_a_sweep_is_drawn_to_a_file(samples, tmp_path):
    assert any("sweep" in path for path in write_plots(swept(samples), str(tmp_path)))
