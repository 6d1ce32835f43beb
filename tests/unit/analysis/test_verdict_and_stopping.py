"""Words for intervals, and when a running experiment may stop."""

from dataclasses import replace

import numpy as np
import pytest

from steelyard.analysis.comparison.experiment_intervals import Inference
from steelyard.analysis.comparison.ratio_verdict import Quantiles, decide, further_blocks, sign
from steelyard.analysis.comparison.stopping import Stopping, blocks_for, widening_after
from steelyard.analysis.comparison.unit_values import TopLevel
from steelyard.analysis.distributions.student import student_quantile
from steelyard.analysis.intervals.fieller import paired_fieller
from steelyard.analysis.intervals.mean import mean_interval
from steelyard.core.estimate import Estimate, Unbounded
from steelyard.core.rng import derive_seed
from steelyard.core.stopping_spec import PastLook, StoppingSpec
from tests.experiments import make_experiment


def ratio(low, high):
    return Estimate((low + high) / 2, low, high, 0.95, "m")


@pytest.mark.parametrize(
    ("low", "high", "word"),
    [
        (0.90, 0.98, "faster"),
        (1.02, 1.10, "slower"),
        (0.991, 0.999, "equivalent"),
        (0.99, 1.01, "equivalent"),
        (0.98, 1.005, "undecided"),
        (0.985, 0.995, "undecided"),
        (0.98, 0.99, "undecided"),
        (1.001, 1.02, "undecided"),
        (0.98, 1.0, "undecided"),
    ],
)
def test_the_verdict_follows_from_the_interval(low, high, word):
    assert decide(ratio(low, high), 0.01, "lower") == word


def test_more_is_better_where_the_metric_says_so():
    assert decide(ratio(1.02, 1.10), 0.01, "higher") == "faster"
    assert decide(ratio(0.90, 0.98), 0.01, "higher") == "slower"
    assert decide(ratio(0.995, 1.005), 0.01, "higher") == "equivalent"


def test_an_interval_without_bounds_is_never_equivalent():
    nothing = Unbounded(1.0, 0.95, "m", "one-value", "")
    assert decide(nothing, 10.0, "lower") == "undecided"
    assert sign(nothing, "lower") == "unclear"
    assert further_blocks(nothing, 10, 0.01, quantiles(10)) is None


@pytest.mark.parametrize(
    ("low", "high", "direction", "word"),
    [
        (0.985, 0.9999, "lower", "faster"),
        (0.985, 0.9999, "higher", "slower"),
        (1.0001, 1.02, "lower", "slower"),
        (0.99, 1.0, "lower", "unclear"),
    ],
)
def test_the_sign_says_which_side_of_one_the_interval_lies_on(low, high, direction, word):
    assert sign(ratio(low, high), direction) == word


def quantiles(count):
    """Of one look at each number of blocks."""
    return Quantiles(student_quantile(0.975, count - 1), lambda n: student_quantile(0.975, n - 1))


def test_so_many_further_blocks_would_decide_in_most_repetitions():
    now = ratio(0.97, 1.03)
    more = further_blocks(now, 20, 0.01, quantiles(20))
    deviation = 0.03 / student_quantile(0.975, 19) * 20**0.5
    total = 20 + more
    reach = (student_quantile(0.975, total - 1) + 0.8416) * deviation / total**0.5
    assert reach == pytest.approx(0.01, rel=0.01)
    assert further_blocks(ratio(0.0, 2.0), 20, 1e-9, quantiles(20)) is None


def test_further_blocks_go_by_the_distance_to_the_margin_and_not_to_one():
    beyond = ratio(0.96, 1.00)
    within = ratio(0.975, 1.015)
    by_margin = [further_blocks(now, 20, 0.01, quantiles(20)) for now in (beyond, within)]
    assert by_margin[0] < by_margin[1]
    assert further_blocks(ratio(0.97, 1.01), 20, 0.01, quantiles(20)) is None


def test_an_undecided_verdict_next_to_the_margin_needs_at_least_one_block():
    assert further_blocks(ratio(0.9999, 1.0101), 1000, 0.02, quantiles(1000)) == 1


def blocks(count, deviation, ratios=(0.95,), name="s"):
    for index in range(count):
        draws = [derive_seed(1, name, index, j) / 2**63 - 0.5 for j in range(len(ratios) + 1)]
        values = [1.0 + deviation * 12**0.5 * draw for draw in draws]
        yield [values[0], *(r * v for r, v in zip(ratios, values[1:], strict=True))]


def test_a_look_gives_the_interval_of_the_whole_analysis():
    stopping = Stopping(StoppingSpec(runs=30), 2)
    rows = list(blocks(30, 0.05))
    for row in rows:
        stopping.add_block(row)
    look = stopping.look()
    expected = paired_fieller([row[0] for row in rows], [row[1] for row in rows], 0.95)
    assert look.intervals[0].low == pytest.approx(expected.low, rel=1e-12)
    assert look.intervals[0].high == pytest.approx(expected.high, rel=1e-12)
    assert look.done
    assert look.blocks_needed == 30


def test_a_look_at_one_variant_gives_the_mean_relative_to_itself():
    stopping = Stopping(StoppingSpec(runs=12), 1)
    rows = [row[0] * 40 for row in blocks(12, 0.05)]
    for value in rows:
        stopping.add_block([value])
    look = stopping.look()
    expected = mean_interval(rows, 0.95)
    assert look.intervals[0].low == pytest.approx(expected.low, rel=1e-12)
    assert look.half_width_ratios[0] == pytest.approx(expected.half_width / expected.estimate)


@pytest.mark.parametrize("ratios", [(0.95,), (0.95, 1.1, 1.0)])
def test_it_stops_when_every_half_width_is_as_wanted(ratios):
    spec = StoppingSpec(precision_ratio=0.02)
    stopping = Stopping(spec, len(ratios) + 1)
    for row in blocks(500, 0.05, ratios):
        stopping.add_block(row)
        look = stopping.look()
        if look.done:
            break
    assert 30 < look.block_count < 130
    assert max(look.half_width_ratios) <= 0.02
    assert look.blocks_needed == look.block_count


def test_blocks_needed_foresees_the_end():
    stopping = Stopping(StoppingSpec(precision_ratio=0.01), 2)
    for row in blocks(60, 0.05):
        stopping.add_block(row)
    look = stopping.look()
    assert not look.done
    expected = 60 * (look.half_width_ratios[0] / 0.01) ** 2
    assert look.blocks_needed == pytest.approx(expected, rel=0.05)


def test_a_quiet_program_runs_to_the_minimum_and_no_further():
    stopping = Stopping(StoppingSpec(minimum_blocks=8), 2)
    looks = []
    for row in blocks(8, 1e-5):
        stopping.add_block(row)
        looks.append(stopping.look().done)
    assert looks == [False] * 7 + [True]


def test_no_minimum_is_below_five():
    stopping = Stopping(StoppingSpec(minimum_blocks=2), 1)
    done = []
    for row in blocks(6, 1e-5):
        stopping.add_block(row[:1])
        done.append(stopping.look().done)
    assert done == [False] * 4 + [True, True]


def test_blocks_with_a_failed_variant_count_as_run_only():
    stopping = Stopping(StoppingSpec(precision_ratio=0.01), 2)
    assert stopping.look().intervals[0].reason == "one-value"
    for index, row in enumerate(blocks(40, 0.05)):
        stopping.add_block(row if index % 2 else [row[0], None])
    look = stopping.look()
    assert look.block_count == 40
    assert look.blocks_needed > 40 * (look.half_width_ratios[0] / 0.01) ** 2 * 0.8


def test_stopping_by_precision_widens_but_not_at_the_first_look():
    spec = StoppingSpec(minimum_blocks=10)
    assert widening_after(10, spec) == 1.0
    assert widening_after(20, spec) == pytest.approx(1.1)
    assert widening_after(20, spec, comparison_count=4) == pytest.approx(1.025)
    assert widening_after(11, spec) == pytest.approx(1 + 0.1 * 2 / 11)
    assert widening_after(20, replace(spec, runs=20)) == 1.0


def test_blocks_for_a_half_width_follow_its_square():
    assert blocks_for(0.02, 400, 0.01, 0.95) == pytest.approx(1600, rel=0.01)
    assert blocks_for(1.0, 10, 1e-9, 0.95) is None


def test_a_program_that_remembers_is_seldom_wrongly_decided_before_twenty_blocks():
    """Its blocks show no memory yet; one in six experiments would end with a wrong interval."""
    generator = np.random.default_rng(derive_seed(1, "remembers"))
    experiments, wrong = 300, 0
    for _ in range(experiments):
        noise = generator.standard_normal((2, 19))
        values = [noise[:, 0]]
        for block in range(1, 19):
            values.append(0.8 * values[-1] + 0.6 * noise[:, block])
        rule = Stopping(StoppingSpec(until="decided"), 2, 0.95, 0.01)
        for pair in 1.0 + 0.02 * np.array(values):
            rule.add_block(pair.tolist())
            look = rule.look()
            if look.done:
                (ratio,) = look.intervals
                wrong += not ratio.low <= 1.0 <= ratio.high
                break
    assert wrong <= 0.05 * experiments


@pytest.mark.parametrize("count", [10, 15, 19])
def test_a_clear_difference_ends_with_few_blocks_all_the_same(count):
    generator = np.random.default_rng(derive_seed(1, "clear", str(count)))
    rule = Stopping(StoppingSpec(until="decided", minimum_blocks=count), 2, 0.95, 0.01)
    done = []
    for pair in generator.normal((1.0, 1.2), 0.004, (count, 2)):
        rule.add_block(pair.tolist())
        done.append(rule.look().done)
    assert done == [False] * (count - 1) + [True]


def test_blocks_that_do_not_vary_at_all_end_as_soon_as_they_may():
    rule = Stopping(StoppingSpec(until="decided"), 2, 0.95, 0.01)
    done = []
    for _ in range(10):
        rule.add_block([1.0, 1.5])
        done.append(rule.look().done)
    assert done == [False] * 9 + [True]


@pytest.mark.parametrize("until", ["decided", "precision"])
@pytest.mark.parametrize("candidate", [-1.0, -1.05, 1.05])
def test_a_ratio_to_a_mean_below_zero_ends_nothing_for_the_answer_gives_it_no_bounds(
    until, candidate
):
    rule = Stopping(StoppingSpec(until=until), 2, 0.95, 0.01)
    for number in range(40):
        rule.add_block([-1.0 + 1e-4 * (number % 3), candidate + 1e-4 * (number % 5)])
    look = rule.look()
    assert not look.done
    assert look.intervals[0].reason == "baseline-negative"


@pytest.mark.parametrize("looks", [(), (PastLook(8, "runs"),), (PastLook(8, "precision"),)])
@pytest.mark.parametrize("candidates", [1, 3])
def test_programs_that_run_one_after_the_other_end_when_their_ratios_are_precise(looks, candidates):
    """Each ends by its own mean; the answer's ratio allows for looks and other ratios too."""
    generator = np.random.default_rng(derive_seed(1, "apart", candidates, len(looks)))
    whole = StoppingSpec(precision_ratio=0.02, looks=looks)
    part = replace(whole, precision_ratio=0.02 / 2**0.5)
    levels = []
    for _ in range(1 + candidates):
        rule = Stopping(part, 1, 0.95, 0.01, candidates)
        values = []
        while not rule.look().done:
            values.append(1.0 + 0.02 * generator.standard_normal())
            rule.add_block(values[-1:])
        levels.append(TopLevel(tuple(values), tuple(range(len(values)))))
    experiment = make_experiment()
    two = experiment.spec.variants
    variants = tuple(replace(two[0], name=f"v{i}") for i in range(1 + candidates))
    spec = replace(experiment.spec, order="sequential", stopping=whole, variants=variants)
    tool = Inference(replace(experiment, spec=spec, stopped="precision"))
    assert max(found.interval.half_width for found in tool.ratios(levels)) < 1.15 * 0.02


def test_a_ratio_of_times_is_never_below_zero():
    # Fieller's set reaches below 0 where the candidate's mean could be told from 0 by no run.
    baseline, candidate = [1.0, 1.2, 0.9, 1.1], [0.1, 6.0, 0.2, 0.15]
    found = paired_fieller(baseline, candidate, 0.95, 3.18)
    assert isinstance(found, Estimate)
    assert found.low == 0.0
    assert found.high > found.estimate
    below = paired_fieller(baseline, [-value for value in candidate], 0.95, 3.18)
    assert isinstance(below, Estimate)
    assert below.low < 0.0
