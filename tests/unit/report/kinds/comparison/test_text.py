import re
import subprocess
import sys
from dataclasses import replace

import pytest

from steelyard.core.experiment_results import Caution
from steelyard.report.kinds.comparison.styled import rich_text
from steelyard.report.kinds.comparison.tables import percent_text
from steelyard.report.kinds.comparison.text import plain_text, terminal_text
from steelyard.report.texts.plain_table import plain_table
from steelyard.report.texts.table import Table

TERMINAL = {"TERM": "xterm-256color"}


def test_the_verdict_follows_the_table(samples):
    lines = plain_text(samples.two()).splitlines()
    assert lines[0].split() == [
        "wall_time", "[ms]", "mean", "±", "95", "%", "ratio", "median", "quartiles", "CoV",
        "min", "…", "max", "n", "failed",
    ]  # fmt: skip
    assert lines[4] == "B is faster than A: 1.058 times as fast, 5.5 % ± 2.5 % less time (95 %)"
    assert lines[-1] == (
        f"experiment {samples.IDENTIFIER}; report: steelyard report {samples.IDENTIFIER}"
    )


def test_columns_are_aligned(samples):
    header, *rows = plain_text(samples.five()).splitlines()[:6]
    assert {len(row) for row in rows} == {len(header)}


def test_the_footer_says_cost_blocks_and_reason(samples):
    assert "spent 815 ms, 31 blocks, stopped: precision reached\n" in plain_text(samples.two())
    running = replace(samples.two(), stopped=None)
    assert ", 31 blocks\n" in plain_text(running)


def test_failed_trials_are_counted_in_the_table(samples):
    row = next(r for r in plain_text(samples.five()).splitlines() if r.startswith("C "))
    assert row.split()[-2:] == ["31", "2"]


def test_other_metrics_come_in_a_second_table_with_words_that_fit_them(samples):
    text = plain_text(samples.five())
    assert "max_rss [MiB]" in text
    assert "1.250 [1.210, 1.300]  more" in text


def test_a_measurement_has_no_ratio_columns(samples):
    text = plain_text(samples.one())
    assert "ratio" not in text
    assert "ratio" in plain_text(samples.two())
    assert "wall_time [ms]" in text


def test_a_metric_without_values_is_not_available_rather_than_zero(samples):
    counters = (samples.WALL_TIME, samples.CYCLES)
    variant = samples.variant("A", metrics=counters)
    lacking = {**variant.metrics, "cycles": samples.result(samples.CYCLES, 0, count=0)}
    answer = replace(samples.one(), variants=(replace(variant, metrics=lacking),))
    assert "cycles  A        not available" in plain_text(answer)


def test_one_value_shows_that_it_has_no_interval(samples):
    assert "12.25 (no interval)" in plain_text(samples.one(count=1))


def test_a_variant_without_any_value_keeps_its_row(samples):
    answer = replace(samples.two(), variants=(samples.variant("A"), samples.variant("B", count=0)))
    row = plain_text(answer).splitlines()[2]
    assert row.split() == ["B", "not", "available", "0", "0"]


def test_of_warnings_of_one_kind_the_last_is_printed_and_the_others_are_counted(samples):
    cautions = (Caution("x", "One."), Caution("y", "Other."), Caution("x", "Two."))
    text = plain_text(replace(samples.two(), cautions=cautions))
    assert "\nwarning: Two. (1 more of this kind in the report.)\n" in text
    assert "\nwarning: Other.\n" in text
    assert "One." not in text


def test_warnings_are_printed_on_one_line_each(samples):
    answer = replace(samples.two(), cautions=(Caution("x", "Odd\nthing. Do this."),))
    assert "\nwarning: Odd thing. Do this.\n" in plain_text(answer)


def test_a_narrow_terminal_loses_spare_columns_and_shortens_names(samples):
    long = "gzip --best --keep --stdout some/long/path/to/a/file"
    answer = replace(samples.two(), variants=(samples.variant(long),), comparisons=())
    table = plain_text(answer, width=60).splitlines()[:2]
    assert max(map(len, table)) <= 60
    assert "…" in table[1]
    assert "quartiles" not in table[0]


def test_a_name_longer_than_the_terminal_does_not_break_it(samples):
    answer = samples.two()
    text = rich_text(replace(answer, variants=(samples.variant("x" * 500),), comparisons=()), 40)
    lines = re.sub(r"\x1b\[[0-9;]*m", "", text).splitlines()
    assert any("xxx" in line for line in lines)
    assert max(map(len, lines)) <= 40


def test_rich_text_says_the_same_as_plain_text(samples):
    plain = re.sub(r"\x1b\[[0-9;]*m", "", rich_text(samples.two(), 120))
    assert "B is faster than A: 1.058 times as fast, 5.5 % ± 2.5 % less time (95 %)" in plain
    assert "12.343 ± 0.091" in plain


def test_markup_in_a_name_is_text(samples):
    answer = replace(samples.two(), variants=(samples.variant("[red]A[/red]"),), comparisons=())
    assert "[red]A[/red]" in rich_text(answer, 100)


def test_styles_are_for_people_only(samples):
    def escapes(is_terminal, environment):
        text = terminal_text(
            samples.two(), is_terminal=is_terminal, environment=environment, width=100
        )
        return "\x1b" in text

    assert escapes(True, TERMINAL)
    assert not escapes(False, TERMINAL)
    assert not escapes(True, {**TERMINAL, "NO_COLOR": "1"})
    assert not escapes(True, {"TERM": "dumb"})


@pytest.mark.parametrize("module", ["rich", "numpy", "jinja2", "plotly", "matplotlib", "textwrap"])
def test_the_hot_path_needs_no_heavy_module(module):
    code = (
        "import sys; before = set(sys.modules); "
        "import steelyard.report.kinds.comparison.text, steelyard.report.texts.progress, "
        "steelyard.report.kinds.comparison.document, "
        "steelyard.report.kinds.comparison.measurement_document; "
        f"sys.exit({module!r} in set(sys.modules) - before)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize(("ratio", "text"), [(0.125, "12.5 %"), (float("inf"), "–")])
def test_a_variation_relative_to_a_mean_of_0_is_none(ratio, text):
    assert percent_text(ratio) == text


def test_a_measurement_says_which_kinds_of_run_its_mean_may_lack(samples):
    said = (
        "the mean is that of the kinds of run seen in 31 runs; a kind that comes in 9.2 % of runs "
        "or fewer may be missing (95 %)"
    )
    assert said in plain_text(samples.one())
    assert said in " ".join(rich_text(samples.one(), 200).split())
    # The ratio of two programs is of kinds that both have alike.
    assert "kinds of run" not in plain_text(samples.two())


def test_a_mean_with_one_bound_farther_out_shows_both(samples):
    variant = samples.variant("A")
    result = variant.metrics["wall_time"]
    mean = replace(result.summary.mean, method="johnson-blocks")
    high = mean.high + (mean.high - mean.estimate) / 2
    skewed = replace(result.summary, mean=replace(mean, high=high))
    metrics = {"wall_time": replace(result, summary=skewed)}
    answer = replace(samples.one(), variants=(replace(variant, metrics=metrics),))
    row = plain_text(answer).splitlines()[1]
    assert f"[{1e3 * mean.low:.2f}, {1e3 * high:.2f}]" in row
    assert "±" not in row


def test_the_primary_metric_has_its_ratio_beside_the_mean(samples):
    header, baseline, candidate = plain_text(samples.two()).splitlines()[:3]
    assert header.split().index("ratio") < header.split().index("median")
    assert "  1  " in baseline
    assert "0.945 [0.920, 0.970]" in candidate
    assert "ratio" not in plain_text(samples.one()).splitlines()[0]


@pytest.mark.parametrize("width", [50, 60, 80])
def test_no_line_is_wider_than_asked_for_and_no_cell_is_broken(samples, width):
    lines = plain_text(samples.five(), width).splitlines()
    assert max(len(line) for line in lines) <= width
    text = " ".join(" ".join(lines).split())
    for whole in ("wall_time [ms]", "ratio", "verdict", "0.850 [0.830, 0.880]"):
        assert whole in text


def test_a_table_that_is_too_wide_goes_on_below_with_its_names():
    table = Table(("name", "first", "second"), (("a", "1" * 20, "2" * 20),))
    assert plain_table(table, 30) == [
        "name                 first", f"a     {'1' * 20}", "",
        "name                second", f"a     {'2' * 20}",
    ]  # fmt: skip
