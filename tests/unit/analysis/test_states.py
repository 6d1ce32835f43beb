"""States of iterations: change points, classes, independence, the rules, and what is refused."""

from __future__ import annotations

from math import log

import numpy as np
import pytest

from steelyard.analysis.methods.states import analyze
from steelyard.analysis.states.benchmark_states import with_choices
from steelyard.analysis.states.change_points import (
    SHORTEST_SEGMENT,
    change_penalty,
    change_points,
)
from steelyard.analysis.states.cyclic_values import cycle_period
from steelyard.analysis.states.dependence import dependence
from steelyard.analysis.states.execution import Rules, execution_state
from steelyard.analysis.states.final_state import state_begin
from steelyard.analysis.states.heuristics import dacapo, georges
from steelyard.analysis.states.local_levels import local_levels
from steelyard.analysis.states.outliers import ordinary_places
from steelyard.analysis.states.segment_cost import SegmentCost
from steelyard.analysis.states.segment_levels import Level
from steelyard.analysis.states.steadiness import LESS_SURE, stated_confidence
from steelyard.analysis.tables.analysis_method import Question
from steelyard.analysis.tables.data_columns import Table
from steelyard.core.errors import AnalysisError, UsageError
from steelyard.core.estimate import Estimate
from steelyard.core.experiment_spec import MetricSpec
from steelyard.report.documents.rendering import Origin
from steelyard.report.kinds.states.text import proposal_sentences
from tests.unit.analysis.made_series import noise, remembering, switching

FLOOR = 0.001


def best_division(values, penalty):
    """All divisions by dynamic programming, with costs from the values themselves."""
    count = len(values)
    best, before = [-penalty] + [float("inf")] * count, [0] * (count + 1)
    for end in range(SHORTEST_SEGMENT, count + 1):
        for start in range(end - SHORTEST_SEGMENT + 1):
            variance = float(np.var(values[start:end])) + FLOOR**2
            total = best[start] + (end - start) * log(variance) + penalty
            if total < best[end]:
                best[end], before[end] = total, start
    found, end = [], before[count]
    while end:
        found.append(end)
        end = before[end]
    return tuple(reversed(found))


def changes_of(values, penalty=None):
    cost = SegmentCost(values, FLOOR)
    return change_points(cost, change_penalty(len(values)) if penalty is None else penalty)


def table(executions, **changes):
    counts = [len(values) for values in executions]
    columns = {
        "execution": np.repeat(np.arange(float(len(executions))), counts),
        "iteration": np.concatenate([np.arange(float(count)) for count in counts]),
        "value": np.concatenate(executions),
        **changes,
    }
    return Table("times.csv", columns, range(2, 2 + sum(counts)))


def states_of(*executions, **options):
    return analyze(table(executions), Question(**options))


@pytest.mark.parametrize("seed", range(12))
def test_change_points_are_those_of_the_exact_minimum(seed):
    generator = np.random.default_rng(seed)
    pieces = [
        generator.normal(generator.uniform(1, 1.3), generator.uniform(0.01, 0.1), length)
        for length in generator.integers(2, 40, 4)
    ]
    values = np.concatenate(pieces)
    penalty = float(generator.choice([4, 10, 30, 80]))
    assert changes_of(values, penalty) == best_division(values, penalty)


def test_changes_of_a_long_sequence_are_found_where_they_are():
    values = np.concatenate([noise(777) + 0.3, noise(1501, 2), noise(722, 3) + 0.2])
    found = changes_of(values)
    assert len(found) == 2
    assert np.abs(np.array(found) - [777, 2278]).max() <= 1


@pytest.mark.parametrize("memory", [0.0, 0.5, 0.8])
def test_no_change_is_found_where_there_is_none(memory):
    assert [changes_of(remembering(2000, memory, seed)) for seed in range(8)] == [()] * 8


def test_a_single_far_value_is_an_outlier_and_a_slow_start_is_not():
    values = noise(1000)
    values[[0, 1, 2, 500]] = [9.0, 8.0, 7.0, 9.0]
    assert set(range(1000)) - set(ordinary_places(values).tolist()) == {500}


SERIES = {
    "flat": noise(1000),
    "warm-up": np.concatenate([noise(120) + 0.4, noise(880, 2)]),
    "slow-down": np.concatenate([noise(300), noise(700, 2) + 0.3]),
    "cyclic": noise(1000) + 0.2 * (np.arange(1000) % 7 == 0),
    "drift": noise(1000) + 0.3 * np.arange(1000) / 1000,
    "no-steady-state": np.concatenate([noise(400) + 0.2, noise(500, 2), noise(100, 3) + 0.4]),
}


@pytest.mark.parametrize("name", SERIES)
def test_each_class_is_told_from_the_others(name):
    found = execution_state("1", SERIES[name], Rules())
    assert found.state == name
    assert found.confidence is not None
    assert found.confidence > 0.9


@pytest.mark.parametrize("seed", range(5))
def test_a_plain_drift_or_slow_cycle_is_sure_however_its_levels_fall(seed):
    order = np.arange(1000) / 1000
    drift = execution_state("1", noise(1000, seed, 0.002) * (1 + order), Rules(seed=seed))
    assert (drift.state, drift.confidence) == ("drift", 1.0)
    wave = 1 + 0.15 * np.sin(2 * np.pi * 12 * order)
    cycle = execution_state("1", noise(1000, seed, 0.01) * wave, Rules(seed=seed))
    assert (cycle.state, cycle.confidence) == ("cyclic", 1.0)


def test_a_drift_or_cycle_that_hardly_passes_the_tolerance_is_not_sure():
    order = np.arange(100) / 100
    drift = execution_state("1", noise(100, 4, 0.03) + 0.07 * order, Rules())
    assert drift.state == "drift"
    assert drift.confidence < 0.95
    cycle = execution_state("1", noise(100, 3, 0.01) + 0.05 * (np.arange(100) % 2), Rules())
    assert cycle.state == "cyclic"
    assert cycle.confidence < 0.95


@pytest.mark.parametrize(("lower", "higher"), [("warm-up", "slow-down"), ("slow-down", "warm-up")])
def test_where_more_is_better_a_start_up_has_lower_values(lower, higher):
    found = execution_state("1", SERIES[lower], Rules(direction="higher"))
    as_times = execution_state("1", SERIES[lower], Rules())
    assert (found.state, found.initialised) == (higher, as_times.initialised)
    unsteady = 3 - np.concatenate([noise(50) + 1, SERIES["no-steady-state"]])
    assert execution_state("1", unsteady, Rules(direction="higher")).start_up_count == 50
    assert execution_state("1", unsteady, Rules()).start_up_count == 0


def test_the_direction_is_an_option_and_another_word_is_refused():
    found = states_of(SERIES["slow-down"], extra={"direction": "higher"})
    assert found.executions[0].state == "warm-up"
    assert states_of(SERIES["slow-down"], direction="higher").executions[0].state == "warm-up"
    with pytest.raises(UsageError, match="wants lower or higher, found 'up'"):
        states_of(SERIES["flat"], extra={"direction": "up"})


def test_the_state_begins_where_the_level_is_reached():
    assert execution_state("1", SERIES["warm-up"], Rules()).initialised == pytest.approx(120, abs=1)
    assert execution_state("1", SERIES["slow-down"], Rules()).initialised == pytest.approx(
        300, abs=1
    )
    assert execution_state("1", SERIES["flat"], Rules()).initialised == 0
    assert execution_state("1", SERIES["no-steady-state"], Rules()).initialised is None
    assert execution_state("1", SERIES["drift"], Rules()).initialised is None


def test_a_level_within_the_tolerance_is_the_same_level():
    values = np.concatenate([noise(300) + 0.03, noise(700, 2)])
    assert execution_state("1", values, Rules(tolerance=0.05)).initialised == 0
    assert execution_state("1", values, Rules(tolerance=0.01)).initialised == pytest.approx(
        300, abs=3
    )


def test_start_up_is_told_even_where_nothing_is_steady():
    values = np.concatenate([noise(50) + 2, SERIES["no-steady-state"]])
    found = execution_state("1", values, Rules())
    assert found.initialised is None
    assert found.start_up_count == 50


@pytest.mark.parametrize(
    ("count", "runs", "spread"),
    [(3000, (15, 46), 0.03), (200, (5, 16), 0.02), (200, (20, 37), 0.03)],
)
def test_levels_that_switch_too_fast_for_change_points_are_not_called_steady(count, runs, spread):
    found = [
        execution_state("1", switching(count, runs, seed, spread), Rules()) for seed in range(20)
    ]
    assert sum(one.state in ("flat", "warm-up", "slow-down") for one in found) <= 1
    refused = [one.refusal for one in found if one.refusal is not None]
    assert any(one.code == "undecided" and "to and fro" in one.message for one in refused)


def test_a_cycle_seen_six_times_is_one():
    values = noise(30, spread=0.005) + 0.15 * (np.arange(30) % 5 == 0)
    found = execution_state("1", values, Rules())
    assert (found.state, found.period) == ("cyclic", 5)


@pytest.mark.parametrize("count", [30, 200, 3000])
def test_small_noise_that_remembers_or_is_skewed_or_has_far_values_stays_flat(count):
    generator = np.random.default_rng(6)
    series = []
    for seed in range(15):
        # The values of `remembering` have a coefficient of variation of 2.5 % here.
        series.append(remembering(count, 0.6, seed))
        series.append(1 + 0.025 * (generator.lognormal(0.0, 0.8, count) - np.exp(0.32)))
        series.append(1 + 0.017 * generator.standard_t(3, count))
    found = [local_levels(values, 0.05, generator) for values in series]
    assert found == [None] * 45


def test_values_in_no_order_are_seldom_said_to_hold_no_level_however_they_scatter():
    generator = np.random.default_rng(7)
    two_levels = [1 + 0.4 * (generator.random(60) < 0.5) for _ in range(300)]
    wide = [generator.lognormal(0.0, 0.5, 60) for _ in range(300)]
    for series in (two_levels, wide):
        found = sum(local_levels(values, 0.01, generator) is not None for values in series)
        # Binomial(300, 0.01) exceeds 9 in 0.1 % of cases.
        assert found <= 9


@pytest.mark.parametrize(("share", "holds"), [(0.15, True), (0.4, False)])
def test_a_quarter_of_a_state_may_differ_and_no_more(share, holds):
    generator = np.random.default_rng(8)
    for _ in range(10):
        is_away = np.repeat(generator.random(100) < share, 20)
        values = generator.normal(1.0, 0.02, 2000) + 0.2 * is_away
        assert (local_levels(values, 0.05, generator) is None) == holds


def test_single_slow_values_that_come_often_are_no_levels():
    values = noise(2000) + 1.0 * (np.random.default_rng(9).random(2000) < 0.05)
    assert local_levels(values, 0.05, np.random.default_rng(1)) is None


def level(start, stop):
    return Level(start, stop, 1.0, 0.01, 9.0)


def test_a_short_disturbance_is_passed_and_a_long_one_is_not():
    short = [level(0, 900), level(900, 930), level(930, 3000)]
    assert state_begin([0, 2, 0], short) == 0
    long = [level(0, 900), level(900, 1000), level(1000, 3000)]
    assert state_begin([0, 2, 0], long) == 1000
    warming = [level(0, 20), level(20, 50), level(50, 3000)]
    assert state_begin([0, 2, 0], warming) == 50


def test_a_last_level_beyond_the_tolerance_is_no_steady_state():
    assert state_begin([0, 2], [level(0, 2900), level(2900, 3000)]) is None
    assert state_begin([0, 2], [level(0, 2960), level(2960, 3000)]) == 0


@pytest.mark.parametrize("period", [2, 7, 50])
def test_the_period_of_a_cycle_is_found(period):
    wave = 0.2 * np.sin(2 * np.pi * (np.arange(1500) % period + 0.5) / period)
    assert cycle_period(noise(1500) + wave, 0.05) == period


def test_neither_noise_nor_memory_nor_a_small_wave_is_a_cycle():
    assert cycle_period(noise(1500), 0.05) is None
    assert cycle_period(remembering(1500, 0.9, 1), 0.05) is None
    assert cycle_period(1 + noise(1500, spread=0.001) * 0.01 * (np.arange(1500) % 2), 0.05) is None


def test_independence_is_seldom_denied_to_independent_values_of_any_distribution():
    generator = np.random.default_rng(5)
    denied = sum(dependence(generator.pareto(1.5, 200)).found(0.95) for _ in range(400))
    # Binomial(400, 0.05) exceeds 34 in 0.1 % of cases.
    assert denied <= 34


def test_dependence_a_trend_and_a_long_cycle_are_found():
    order = np.arange(1000)
    assert dependence(remembering(1000, 0.3, 1)).serial_p < 1e-6
    assert dependence(noise(1000) + 0.02 * order / 1000).trend_p < 1e-6
    assert dependence(noise(1000) + 0.01 * np.sin(order / 20)).cycle_p < 1e-6


def test_the_rules_of_the_harnesses():
    values = np.array([3.0, 2.0, 1.0, 1.01, 1.02, 5.0, *[1.0, 1.1] * 10])
    assert dacapo(values).first == 5
    assert dacapo(values).mean == 5.0
    found = georges(values)
    assert (found.first, found.count) == (6, 10)
    assert found.mean == pytest.approx(1.05)
    never = georges(np.array([1.0, 3.0] * 20))
    assert (never.first, never.mean) == (None, None)


def test_independent_executions_keep_all_from_the_last_point_on():
    found = states_of(*(np.concatenate([noise(k) + 1, noise(900, k)]) for k in (20, 40, 61)))
    assert [e.independent for e in found.executions] == [20, 40, 61]
    assert found.proposal.rule == "independent"
    assert found.proposal.iteration == 61
    assert isinstance(found.proposal.mean, Estimate)
    assert found.proposal.mean.estimate == pytest.approx(1, abs=0.01)


def test_dependent_executions_take_the_same_iteration_of_each():
    ones = [np.concatenate([noise(k) + 1, remembering(900, 0.8, k)]) for k in (20, 40)]
    found = states_of(*ones)
    assert (found.proposal.rule, found.proposal.iteration) == ("same-iteration", 40)
    assert found.proposal.agreement == "steady"
    assert found.proposal.mean.estimate == pytest.approx((ones[0][40] + ones[1][40]) / 2)


def test_executions_that_differ_are_inconsistent():
    found = states_of(SERIES["flat"], SERIES["no-steady-state"])
    assert found.proposal.agreement == "inconsistent"
    assert found.proposal.explanation == "not-steady"
    assert states_of(SERIES["drift"]).proposal.agreement == "no-steady-state"


def test_what_the_rules_would_have_cost_is_told():
    found = states_of(np.concatenate([noise(200) + 0.5, noise(800, 2)]))
    for one in found.heuristics:
        assert one.decided_count == 1
        assert one.median_error == pytest.approx(0.5, abs=0.05)


def test_the_same_seed_gives_the_same_answer():
    values = noise(200, 1, 0.1)
    values[:30] += 0.09
    ones = [states_of(values, seed=seed).executions[0].confidence for seed in (1, 1, 2)]
    assert ones[0] == ones[1]


@pytest.mark.parametrize(
    ("values", "code"),
    [
        (noise(10), "too-few-iterations"),
        (np.ones(100), "constant"),
        (np.where(np.arange(100) == 5, np.nan, noise(100)), "missing-iterations"),
        (np.where(np.arange(100) == 5, -1.0, noise(100)), "impossible-values"),
        (np.where(np.arange(100) == 5, np.inf, noise(100)), "impossible-values"),
        (np.where(np.arange(100) == 5, 0.0, noise(100)), "impossible-values"),
    ],
)
def test_what_cannot_be_judged_is_refused_and_the_others_kept(values, code):
    found = states_of(noise(100, 9), values)
    assert found.executions[0].state == "flat"
    assert found.executions[1].state is None
    assert found.executions[1].refusal.code == code
    assert found.proposal.rule is not None
    assert code in {caution.code for caution in found.cautions}
    alone = states_of(values)
    assert alone.proposal.explanation == "refused"
    assert alone.proposal.rule is None


def test_values_that_scatter_too_much_for_the_tolerance_are_refused_and_not_called_flat():
    wide = np.random.default_rng(4).lognormal(0, 1.5, 60)
    found = states_of(wide).executions[0]
    assert found.state is None
    assert found.refusal.code == "too-noisy"
    assert states_of(wide, extra={"tolerance": "90%"}).executions[0].state == "flat"


def test_an_iteration_left_out_in_the_middle_is_missing():
    order = np.delete(np.arange(100.0), 50)
    columns = {"execution": np.zeros(99), "iteration": order, "value": noise(99)}
    found = analyze(Table("t.csv", columns, range(2, 101)), Question())
    assert found.executions[0].refusal.code == "missing-iterations"


def test_rows_may_stand_in_any_order_and_lengths_may_differ():
    values = [SERIES["warm-up"], noise(500, 4)]
    sorted_table = table(values)
    order = np.random.default_rng(1).permutation(sorted_table.row_count)
    mixed = {name: column[order] for name, column in sorted_table.columns.items()}
    found = analyze(Table("t.csv", mixed, range(len(order))), Question())
    by_label = {e.label: e.initialised for e in found.executions}
    assert by_label == {"0": pytest.approx(120, abs=1), "1": 0}
    assert "unequal-lengths" in {caution.code for caution in found.cautions}


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"time": noise(50)}, "no table of iterations"),
        ({"value": noise(50)}, "no table of iterations"),
        ({"execution": np.arange(50.0), "value": noise(50)}, "no table of iterations"),
        ({"value": noise(50), "iteration_count": np.ones(50)}, "no table of iterations"),
        ({"iteration": np.zeros(50), "value": noise(50)}, "line 3: the same iteration"),
        ({"iteration": np.full(50, np.nan), "value": noise(50)}, "line 2, column 'iteration'"),
        ({"iteration": np.arange(50.0), "value": ("fast",) * 50}, "line 2, column 'value'"),
    ],
)
def test_a_table_of_something_else_is_refused_by_name(columns, message):
    with pytest.raises(AnalysisError, match=message) as caught:
        analyze(Table("t.csv", columns, range(2, 52)), Question())
    assert caught.value.field


def test_a_choice_goes_before_what_was_found():
    found = states_of(*(np.concatenate([noise(40) + 1, noise(900, k)]) for k in (2, 3)))
    chosen = with_choices(found, {"0": 300})
    assert chosen.chosen == {"0": 300}
    assert (chosen.proposal.rule, chosen.proposal.iteration) == ("independent", 300)
    assert chosen.proposal.from_choices
    earlier = with_choices(found, {"0": 5, "1": 10})
    assert (earlier.proposal.rule, earlier.proposal.iteration) == ("same-iteration", 10)
    assert earlier.proposal.explanation == "dependent"


def test_a_choice_that_leaves_too_few_iterations_is_not_called_a_dependence():
    found = states_of(*(np.concatenate([noise(40) + 1, noise(900, k)]) for k in (2, 3)))
    proposal = with_choices(found, {"0": 935}).proposal
    assert (proposal.rule, proposal.explanation) == ("same-iteration", "too-few")
    origin = Origin("states", MetricSpec("value", "s"), file="t.csv")
    told = " ".join(proposal_sentences(with_choices(found, {"0": 935}), origin))
    assert "Too few iterations are left" in told


@pytest.mark.parametrize("wrong", [np.nan, np.inf])
def test_a_choice_in_an_execution_without_a_mean_is_refused(wrong):
    found = states_of(noise(100), np.where(np.arange(100) == 50, wrong, noise(100, 2)))
    with pytest.raises(AnalysisError, match="Nothing can be chosen of the execution '1': "):
        with_choices(found, {"1": 3})
    assert with_choices(found, {"0": 3}).proposal.mean.estimate is not None


@pytest.mark.parametrize("chosen", [{"7": 3}, {"0": 5000}])
def test_a_choice_for_what_is_not_there_is_refused(chosen):
    with pytest.raises(AnalysisError) as caught:
        with_choices(states_of(noise(100)), chosen)
    assert caught.value.field == "--choices"


def test_a_confidence_that_few_examples_could_check_is_said_as_how_often_such_are_right():
    assert [stated_confidence(p) for p in (0.51, 0.75, 0.89)] == [LESS_SURE] * 3
    assert [stated_confidence(p) for p in (0.9, 0.995)] == [0.9, 0.995]
