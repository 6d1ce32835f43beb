"""Experiments that were measured apart, matched by benchmark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest

from steelyard.analysis.comparison.comparison_results import Answer
from steelyard.analysis.comparison.experiment_answer import answer
from steelyard.app.results.matched_experiments import Judging, Side, matched_experiment
from steelyard.core.errors import DataError
from steelyard.core.estimate import Estimate
from steelyard.core.experiment_check import check_experiment
from steelyard.core.experiment_results import Experiment
from steelyard.harness.adapter import Series
from steelyard.report.kinds.comparison.document import comparison_document
from steelyard.report.kinds.comparison.text import plain_text
from steelyard.store.harness_experiment import experiment_of
from tests.experiments import make_experiment

NEAR = (1.0, 1.01, 0.99, 1.02)


def harness_file(times: Mapping[str, float], path: str, executions: int = 4) -> Experiment:
    """What a harness wrote of benchmarks whose iterations lie around these times."""
    series = [
        Series(name, "iteration_time", "s", tuple(time * (n + e / 100) for n in NEAR), execution=e)
        for name, time in times.items()
        for e in range(executions)
    ]
    return experiment_of(series, path, "benchfmt")


@pytest.fixture
def path(tmp_path) -> str:
    (tmp_path / "file").touch()
    return str(tmp_path / "file")


def side(name: str, *experiments: Experiment) -> Side:
    return Side(name, experiments, tuple(f"{name}.txt" for _ in experiments))


def answered(sides: Sequence[Side], **judging: object) -> tuple[Experiment, Answer]:
    found = matched_experiment(sides, Judging(**judging))
    check_experiment(found)
    return found, answer(found)


def test_benchmarks_of_one_file_are_measured_and_not_compared(path: str) -> None:
    found = harness_file({"sum": 1e-6, "sort": 1e-3}, path)
    assert found.spec.kind == "measurement"
    assert answer(found).comparisons == ()
    assert "sequential-order" not in [caution.code for caution in answer(found).cautions]
    assert "sum is" not in plain_text(answer(found))


def test_each_benchmark_has_a_ratio_and_all_have_a_geometric_mean(path: str) -> None:
    base = harness_file({"sum": 1e-6, "sort": 1e-3}, path)
    head = harness_file({"sort": 2e-3, "sum": 5e-7}, path)
    experiment, found = answered([side("base", base), side("head", head)])
    told = {c.benchmark: (c.sides, c.verdict, c.ratio.estimate) for c in found.comparisons}
    assert told == {
        "sum": (("base", "head"), "faster", pytest.approx(0.5)),
        "sort": (("base", "head"), "slower", pytest.approx(2.0)),
    }
    (mean,) = found.geometric_means
    assert (mean.baseline, mean.candidate) == ("base", "head")
    assert mean.ratio.estimate == pytest.approx(1.0)
    document = comparison_document(found, experiment)
    assert [c["benchmark"] for c in document["comparisons"]] == ["sum", "sort"]


def test_the_text_has_a_row_a_benchmark(path: str) -> None:
    base = harness_file({f"b{i}": 1e-6 * (i + 1) for i in range(9)}, path)
    _, found = answered([side("base", base), side("head", base)])
    lines = plain_text(found).splitlines()
    assert lines[0].split() == ["benchmark", "base", "head", "ratio", "verdict"]
    assert [line.split()[0] for line in lines[1:10]] == [f"b{i}" for i in range(9)]
    assert "Of 9 benchmarks: 9 undecided" in lines
    assert any(line.startswith("Over 9 benchmarks the geometric mean") for line in lines)


def test_one_benchmark_on_each_side_is_matched_whatever_its_name(path: str) -> None:
    base, head = (harness_file({name: 1e-3}, path) for name in ("old sort", "new sort"))
    _, found = answered([side("base", base), side("head", head)])
    (comparison,) = found.comparisons
    assert (comparison.baseline, comparison.candidate, comparison.benchmark) == ("base", "head", "")


def test_files_of_one_side_count_together(path: str) -> None:
    one = harness_file({"sum": 1e-6, "sort": 1e-3}, path, executions=1)
    _, found = answered([side("base", one, one, one), side("head", one, one)])
    counts = {v.name: len(v.metrics["iteration_time"].values) for v in found.variants}
    assert counts == {"sum base": 3, "sum head": 2, "sort base": 3, "sort head": 2}
    assert "one-execution" not in [caution.code for caution in found.cautions]


def test_iterations_of_a_single_execution_give_the_interval_with_a_warning(path: str) -> None:
    one = harness_file({"sum": 1e-6, "sort": 1e-3}, path, executions=1)
    more = harness_file({"sum": 1e-6, "sort": 1e-3}, path, executions=3)
    _, found = answered([side("base", one), side("head", more)])
    assert all(isinstance(c.ratio, Estimate) for c in found.comparisons)
    told = {caution.code: caution.message for caution in found.cautions}
    assert "one execution of sum, sort" in told["one-execution"]
    assert "measured-apart" in told


def test_what_not_every_side_has_is_left_out_and_named(path: str) -> None:
    base = harness_file({"sum": 1e-6, "sort": 1e-3, "gone": 1.0}, path)
    head = harness_file({"sum": 1e-6, "sort": 1e-3, "new": 1.0}, path)
    _, found = answered([side("base", base), side("head", head)])
    assert {c.benchmark for c in found.comparisons} == {"sum", "sort"}
    (told,) = [caution.message for caution in found.cautions if caution.code == "unmatched"]
    assert told.startswith("gone, new are left out")


def test_nothing_in_common_is_an_error_that_names_both(path: str) -> None:
    base = harness_file({"a": 1e-6, "b": 1e-6}, path)
    head = harness_file({"c": 1e-6, "d": 1e-6}, path)
    with pytest.raises(DataError, match="base has 'a', 'b'; head has 'c', 'd'"):
        matched_experiment([side("base", base), side("head", head)], Judging())


def test_metrics_of_other_units_are_no_common_ones(path: str) -> None:
    base = harness_file({"a": 1e-6}, path)
    series = [Series("a", "iteration_time", "count", (1.0, 2.0))]
    head = experiment_of(series, path, "benchfmt")
    with pytest.raises(DataError, match="no metric in common: base has iteration_time"):
        matched_experiment([side("base", base), side("head", head)], Judging())


def test_the_metric_that_is_asked_for_decides() -> None:
    old, new = make_experiment(1), make_experiment(2)
    found = matched_experiment([side("old", old), side("new", new)], Judging("max_rss"))
    assert found.spec.primary_metric.name == "max_rss"
    with pytest.raises(DataError, match="Not every side has the metric 'heap'"):
        matched_experiment([side("old", old), side("new", new)], Judging("heap"))


def test_two_stored_comparisons_are_matched_by_variant_and_host() -> None:
    def hosted(number: int, host: str) -> Experiment:
        return replace(make_experiment(number), provenance={"host": {"hostname": host}})

    sides = [side("monday", hosted(1, "a")), side("today", hosted(2, "b"))]
    _, found = answered(sides)
    primary = [c for c in found.comparisons if c.metric == found.metric]
    assert [c.benchmark for c in primary] == ["old", "new"]
    (told,) = [caution.message for caution in found.cautions if caution.code == "other-host"]
    assert "different machines: a, b" in told


def test_three_sides_are_each_compared_with_the_first(path: str) -> None:
    files = [harness_file({"x": 1.0, "y": 1.0}, path) for _ in range(3)]
    _, found = answered([side(n, f) for n, f in zip("abc", files, strict=True)])
    assert [c.sides for c in found.comparisons] == [("a", "b"), ("a", "c")] * 2
    assert plain_text(found).splitlines()[0].split()[:2] == ["benchmark", "candidate"]
