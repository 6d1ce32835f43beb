"""Internal variance: sequences, correlations, and what is said of them."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest

from benchmarks.prove.correlated import LOWEST, Normal, Situation, Skewed, simulate
from steelyard.analysis.events.correlation import pair_correlation, pearson, without_each
from steelyard.analysis.events.internal_variance import EventsQuestion, internal_variance, run_from
from steelyard.analysis.events.sequences import aligned, order_difference
from steelyard.core.estimate import Estimate, Unbounded
from steelyard.core.experiment_spec import MetricSpec
from steelyard.report.documents.rendering import Origin
from steelyard.report.kinds.events.text import events_text
from tests.needs import needs

ASKED = EventsQuestion("time", "s")
ORIGIN = Origin("events", MetricSpec("time", "s"))
TOLD = {"kinds": ["a"], "counts": [9], "order": [0] * 3, "lost": 4}


def sequences():
    generator = np.random.default_rng(3)
    for _ in range(60):
        yield tuple(generator.integers(0, 4, generator.integers(0, 40)).tolist() for _ in "ab")


def plainly(first, second):
    """The same number by the textbook's table."""
    table = [[0] * (len(second) + 1) for _ in range(len(first) + 1)]
    for i, a in enumerate(first):
        for j, b in enumerate(second):
            table[i + 1][j + 1] = (
                table[i][j] + 1 if a == b else max(table[i][j + 1], table[i + 1][j])
            )
    return len(first) + len(second) - 2 * table[-1][-1]


def test_the_difference_in_order_is_that_of_the_textbooks_table() -> None:
    for first, second in sequences():
        assert order_difference(first, second) == plainly(first, second)


def test_an_alignment_holds_both_sequences_and_no_more_differences_than_needed() -> None:
    for first, second in sequences():
        both = aligned(first, second)
        assert [event for side, event in both if side != "second"] == first
        assert [event for side, event in both if side != "first"] == second
        assert sum(side != "both" for side, _ in both) == plainly(first, second)


@needs("diff")
def test_the_difference_in_order_is_what_diff_prints(tmp_path: Path) -> None:
    generator = np.random.default_rng(5)
    first, second = (generator.integers(0, 9, 300).tolist() for _ in "ab")
    for name, events in (("a", first), ("b", second)):
        (tmp_path / name).write_text("".join(f"{event}\n" for event in events))
    told = subprocess.run(
        ["diff", "--minimal", "a", "b"], cwd=tmp_path, capture_output=True, text=True, check=False
    ).stdout
    lines = [line for line in told.splitlines() if line[0] in "<>"]
    assert order_difference(first, second) == len(lines)


def test_p_values_of_independent_values_are_below_5_percent_in_5_percent() -> None:
    generator = np.random.default_rng(7)
    counts = generator.poisson(30, (2000, 12)).astype(float)
    times = generator.normal(0, 1, (2000, 12))
    found = [pearson(x, y, 0.95) for x, y in zip(counts, times, strict=True)]
    alarms = sum(one.p is not None and one.p <= 0.05 for one in found)
    held = sum(
        isinstance(one.coefficient, Estimate) and one.coefficient.low <= 0 <= one.coefficient.high
        for one in found
    )
    assert 70 <= alarms <= 130
    assert 1860 <= held <= 1940


def runs(count=12, telling=True, seed=1):
    """Runs whose waits make their time, among events that do not."""
    generator = np.random.default_rng(seed)
    for position in range(count):
        waits, faults = int(generator.poisson(20)), int(generator.poisson(30))
        order = generator.permutation([0] * waits + [1] * faults + [2] * 5).tolist()
        value = 1 + (0.01 * waits if telling else 0) + generator.normal(0, 0.005)
        told = {
            "kinds": ["waits", "fault", "exit"],
            "counts": [waits, faults, 5],
            "order": order,
            "lost": 0,
        }
        yield run_from(position, float(value), told)


def test_the_kind_that_makes_the_time_is_named_first_and_alone() -> None:
    found = internal_variance(list(runs()), ASKED)
    assert [kind.name for kind in found.kinds] == ["waits", "fault", "exit"]
    assert [kind.differs for kind in found.kinds] == [True, True, False]
    assert found.kinds[0].adjusted_p < 0.001
    assert found.kinds[1].adjusted_p > 0.05
    assert found.kinds[2].pearson.p is None
    assert found.total.counts == tuple(sum(run.counts) for run in runs())


def test_kinds_are_those_of_all_runs_whatever_each_calls_them_first() -> None:
    told = [
        {"kinds": ["a", "b"], "counts": [2, 1], "order": [0, 1, 0], "lost": 0},
        {"kinds": ["b", "c"], "counts": [1, 1], "order": [0, 1], "lost": 0},
    ]
    found = internal_variance([run_from(i, 1.0 + i, one) for i, one in enumerate(told)], ASKED)
    counts = {kind.name: kind.counts for kind in found.kinds}
    assert counts == {"a": (2, 0), "b": (1, 1), "c": (0, 1)}
    assert found.order_differences == ((0, 3), (3, 0))
    assert isinstance(found.order.coefficient, Unbounded)
    assert [line for line in found.diff if line[0] != "both"] == [
        ("first", "a"),
        ("first", "a"),
        ("second", "c"),
    ]


def test_a_difference_in_order_that_makes_the_time_is_found() -> None:
    generator = np.random.default_rng(2)
    place = generator.normal(0, 1, 14)
    distances = np.abs(place[:, None] - place[None, :])
    found = pair_correlation(distances, place + generator.normal(0, 0.1, 14), 0.95, generator)
    assert found.p == pytest.approx(1 / 10_000)
    assert found.coefficient.low > 0.8


@pytest.mark.parametrize("quantity", LOWEST)
def test_correlations_of_simulated_studies_hold_what_is_promised(quantity: str) -> None:
    for runs in (Normal(0), Normal(0.5), Skewed(0)):
        outcome = simulate(Situation(quantity, runs, 12), 300)
        assert outcome.problem() is None, (quantity, runs.name)
    assert outcome.warned > 0.2


def told_of(order, names=("start", "work", "other", "end")):
    counts = [order.count(k) for k in range(len(names))]
    return {"kinds": list(names), "counts": counts, "order": order, "lost": 0}


def test_loops_of_more_rounds_differ_in_number_and_not_in_order() -> None:
    generator = np.random.default_rng(6)
    rounds = generator.integers(5, 60, 15).tolist()
    loops = [
        run_from(n, 1 + 0.01 * count, told_of([0, *[1, 2] * count, 3]))
        for n, count in enumerate(rounds)
    ]
    found = internal_variance(loops, ASKED)
    assert found.order.p is None
    text = events_text(found, ORIGIN)
    assert "The order of events is the same in all runs: only their numbers differ." in text


@pytest.mark.parametrize("wide", [False, True])
def test_an_order_that_is_random_does_not_go_with_results_that_numbers_make(wide: bool) -> None:
    """More events of one kind change any diff; 5 % of such studies may call that an order."""
    said = 0
    for seed in range(40):
        generator = np.random.default_rng(seed)
        studied = []
        for n in range(12):
            works = int(generator.integers(5, 60) if wide else generator.poisson(20))
            order = generator.permutation([1] * works + [2] * 30).tolist()
            studied.append(run_from(n, 1 + 0.01 * works, told_of(order)))
        text = events_text(internal_variance(studied, ASKED), ORIGIN)
        said += "apart from their number, goes with" in text
    assert said <= 5


def test_an_order_that_makes_the_time_goes_with_it_beside_numbers_that_do_not() -> None:
    generator = np.random.default_rng(8)
    studied = []
    for n in range(16):
        late = int(generator.integers(0, 30))
        order = [1] * (30 - late) + [2] * 30 + [1] * late + [3] * int(generator.poisson(5))
        studied.append(run_from(n, 1 + 0.01 * late, told_of(order)))
    found = internal_variance(studied, ASKED)
    assert "apart from their number, goes with time" in events_text(found, ORIGIN)
    assert found.moved_ratios[0][0] == 0
    assert all(0 <= share <= 1 for row in found.moved_ratios for share in row)


def test_a_decoy_that_comes_with_the_cause_is_said_to_move_with_it() -> None:
    generator = np.random.default_rng(9)
    studied = []
    for n in range(20):
        cause, noise = int(generator.poisson(40)), int(generator.poisson(40))
        decoy = cause + int(generator.normal(0, 3))
        told = {"kinds": ["cause", "decoy", "noise"], "counts": [cause, decoy, noise],
                "order": [], "lost": 0}  # fmt: skip
        studied.append(run_from(n, 1 + 0.01 * cause + generator.normal(0, 0.01), told))
    found = internal_variance(studied, ASKED)
    assert [{one.first, one.second} for one in found.together] == [{"cause", "decoy"}]
    text = " ".join(events_text(found, ORIGIN).split())
    assert "Numbers that move together: `cause` and `decoy` (r = 0.9" in text


def test_numbers_that_do_not_go_with_the_result_are_no_pair() -> None:
    assert internal_variance(list(runs()), ASKED).together == ()


def test_one_run_that_alone_differs_gives_no_interval() -> None:
    apart = np.zeros((8, 8))
    apart[0, 1:] = apart[1:, 0] = 3
    generator = np.random.default_rng(1)
    found = pair_correlation(apart, np.array([2.0] + [1.0] * 7), 0.95, generator)
    assert isinstance(found.coefficient, Unbounded)
    assert found.coefficient.reason == "one-run-differs"
    assert found.p == pytest.approx(1 / 8, abs=0.01)


def test_the_coefficients_without_each_run_are_those_of_the_other_runs() -> None:
    generator = np.random.default_rng(4)
    place = generator.normal(0, 1, 9)
    distances = np.abs(place[:, None] - place[None, :])
    values = place + generator.normal(0, 0.5, 9)
    found = without_each(distances, np.abs(values[:, None] - values[None, :]))
    for out, coefficient in enumerate(found):
        keep = np.delete(np.arange(9), out)
        alone = np.random.default_rng(1)
        wanted = pair_correlation(distances[np.ix_(keep, keep)], values[keep], 0.95, alone)
        assert coefficient == pytest.approx(wanted.coefficient.estimate)


def test_results_that_are_not_normal_are_told() -> None:
    skewed = [run_from(i, v, TOLD) for i, v in enumerate([1.0] * 9 + [1.01, 1.02, 9.0])]
    assert "results-not-normal" in {c.code for c in internal_variance(skewed, ASKED).cautions}


def test_a_single_run_a_result_that_never_differs_and_lost_events_are_told() -> None:
    one = internal_variance(list(runs(1)), ASKED)
    assert one.kinds[0].pearson.coefficient.reason == "few-runs"
    same = internal_variance([run_from(i, 1.0, TOLD) for i in range(6)], ASKED)
    assert same.total.pearson.coefficient.reason == "no-variation"
    assert {"lost-events", "order-cut"} <= {caution.code for caution in same.cautions}


def stacks(kinds, functions, paths, lost=0, cut=0):
    told = {"kinds": kinds, "functions": functions, "paths": paths, "lost": lost, "cut": cut}
    return {**told, "events": sum(count for _, count, _ in paths)}


def with_stacks(value, by_slow, by_fast, lost=0, cut=0):
    told = {
        "kinds": ["waits"], "counts": [by_slow + by_fast], "order": [0], "lost": 0,
        "stacks": stacks(
            ["waits"], [["main", "/p"], ["slow", "/p"], ["fast", "/p"]],
            [[0, by_slow, [0, 1]], [0, by_fast, [0, 2]]], lost, cut,
        ),
    }  # fmt: skip
    return run_from(0, value, told)


def test_the_path_whose_number_goes_with_the_result_is_told_from_the_kind_that_does_not() -> None:
    # As many waits in every run; the slower ones wait more often in `slow`.
    runs = [with_stacks(1.0 + 0.1 * n + 0.01 * (n % 3), n, 30 - n) for n in range(1, 13)]
    found = internal_variance(runs, ASKED)
    assert not found.kinds[0].differs
    assert found.paths is not None
    names = ["/".join(frame.name for frame in one.path.frames) for one in found.paths]
    assert sorted(names) == ["main/fast", "main/slow"]
    slow = found.paths[names.index("main/slow")]
    assert slow.tells_apart
    assert slow.events.counts == tuple(range(1, 13))
    assert isinstance(slow.events.pearson.coefficient, Estimate)
    assert slow.events.pearson.coefficient.estimate > 0.99
    assert slow.events.goes_with_result(0.05)
    text = events_text(found, ORIGIN)
    assert "`waits: main > slow` (r = 1.00" in text
    assert "    main > fast" in text
    assert "2 call paths" in text


def test_p_values_hold_for_all_paths_together() -> None:
    generator = np.random.default_rng(4)
    runs = [with_stacks(float(v), int(a), int(b)) for v, a, b in generator.integers(1, 9, (10, 3))]
    found = internal_variance(runs, ASKED).paths
    assert found is not None
    plain = sorted(one.events.pearson.p for one in found)
    assert sorted(one.events.adjusted_p for one in found) == pytest.approx(
        [min(1, 2 * plain[0]), max(min(1, 2 * plain[0]), plain[1])]
    )


def test_runs_without_stacks_and_lost_ones_are_warned_of_and_left_out() -> None:
    runs = [with_stacks(1.0 + n, 5, 5, lost=1, cut=2) for n in range(5)]
    runs.append(run_from(5, 9.0, TOLD))
    found = internal_variance(runs, ASKED)
    assert found.paths is not None
    assert len(found.paths[0].events.counts) == 5
    codes = {caution.code for caution in found.cautions}
    assert {"stacks-missing", "lost-stacks", "cut-stacks"} <= codes
    assert "5 of 55 call paths are lost" in events_text(found, ORIGIN)


def test_a_study_without_stacks_says_nothing_of_paths() -> None:
    found = internal_variance([run_from(n, float(n), TOLD) for n in range(5)], ASKED)
    assert found.paths is None
    assert "call path" not in events_text(found, ORIGIN)


def test_overhead_that_may_be_more_or_less_is_told_as_a_ratio() -> None:
    runs = [run_from(n, 1.0 + n, TOLD) for n in range(5)]
    unsure = Estimate(1.17, 0.24, 3.7, 0.95, "fieller")
    text = events_text(internal_variance(runs, ASKED, [1.0], unsure), ORIGIN)
    assert "ratio 1.170 [0.240, 3.700]" in text
    sure = Estimate(1.17, 1.1, 1.24, 0.95, "fieller")
    text = events_text(internal_variance(runs, ASKED, [1.0], sure), ORIGIN)
    assert "17.0 % ± 7.0 % more" in text
    many = Estimate(533.0, 311.0, 1720.0, 0.95, "fieller")
    text = events_text(internal_variance(runs, ASKED, [1.0], many), ORIGIN)
    assert "is 3 s with events recorded and 1 s without: 533 [311, 1,720] times as much" in text
    text = events_text(internal_variance(runs, ASKED, [1.0]), ORIGIN)
    assert "is 3 s with events recorded and 1 s without." in text


def test_what_two_runs_cannot_tell_is_not_told() -> None:
    runs = [run_from(n, 1.0 + n, {**TOLD, "counts": [n]}) for n in range(2)]
    text = events_text(internal_variance(runs, ASKED), ORIGIN)
    assert "1 kind of events, of which 1 differs" in text
    assert "takes more runs" in text
    assert "No number" not in text
