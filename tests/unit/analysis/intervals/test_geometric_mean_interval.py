"""The geometric mean of ratios: its value, its coverage, and what it says when it cannot."""

import random
from dataclasses import replace
from math import exp, log, prod, sqrt

import pytest

from steelyard.analysis.comparison.experiment_answer import answer
from steelyard.analysis.comparison.experiment_intervals import Inference
from steelyard.analysis.comparison.unit_values import TopLevel
from steelyard.analysis.distributions.student import student_quantile
from steelyard.analysis.intervals.geometric_mean_interval import geometric_mean
from steelyard.core.estimate import Estimate, Unbounded
from steelyard.core.experiment_results import Experiment, Trial
from steelyard.core.experiment_spec import ExperimentSpec, LaunchSpec, MetricSpec, Variant
from steelyard.core.stopping_spec import StoppingSpec


def experiment(columns, order="blocks", failed=(), groups=None):
    """An experiment whose variants, two a program, have these values, one a block."""
    programs = groups or [f"p{index // 2}" for index in range(len(columns))]
    names = ("-O2", "-O3") * (len(columns) // 2)
    variants = tuple(
        Variant(f"{program} {name}", LaunchSpec(("true",)), group=program)
        for program, name in zip(programs, names, strict=True)
    )
    spec = ExperimentSpec(
        identifier="id",
        kind="comparison",
        variants=variants,
        metrics=(MetricSpec("wall_time", "s"),),
        seed=1,
        order=order,
        stopping=StoppingSpec(runs=len(columns[0])),
    )
    trials = tuple(
        Trial(
            position=block * len(columns) + index,
            block=block,
            variant=index,
            warmup=False,
            status="failed" if (index, block) in failed else "ok",
            reason="exit" if (index, block) in failed else None,
            started_unix_s=0.0,
            spent_s=1.0,
            measurements={} if (index, block) in failed else {"wall_time": (column[block],)},
        )
        for index, column in enumerate(columns)
        for block in range(len(column))
    )
    return Experiment(spec, {}, 0.0, trials, "runs")


def mean_of_ratios(columns, **changes):
    (found,) = answer(experiment(columns, **changes)).geometric_means
    return found


def drawn(source, programs, blocks, spread, drift=0.0, effects=None):
    """Values of programs whose means lie apart, with a disturbance of whole blocks."""
    columns = []
    common = [source.gauss(0.0, drift) for _ in range(blocks)]
    for program in range(programs):
        for candidate in (False, True):
            mean = (1.0 + program) * (effects[program] if candidate and effects else 1.0)
            columns.append([mean * (1 + source.gauss(0.0, spread) + shift) for shift in common])
    return columns


def test_it_is_the_geometric_mean_of_the_ratios_of_means():
    columns = [[1.0, 1.2], [2.0, 2.2], [5.0, 5.5], [5.0, 5.2], [9.0, 9.1], [3.0, 3.1]]
    found = mean_of_ratios(columns)
    means = [sum(column) / 2 for column in columns]
    ratios = [means[i + 1] / means[i] for i in (0, 2, 4)]
    assert found.ratio.estimate == pytest.approx(prod(ratios) ** (1 / 3), rel=1e-12)
    assert (found.baseline, found.candidate, found.group_count) == ("-O2", "-O3", 3)


def test_its_interval_is_that_of_the_linearised_logarithm():
    columns = drawn(random.Random(3), 3, 12, 0.05)
    found = mean_of_ratios(columns).ratio
    means = [sum(column) / 12 for column in columns]
    shares = [
        sum(columns[i + 1][b] / means[i + 1] - columns[i][b] / means[i] for i in (0, 2, 4)) / 3
        for b in range(12)
    ]
    error = sqrt(sum(share * share for share in shares) / 11 / 12)
    half_width = student_quantile(0.975, 11) * error
    assert log(found.high / found.low) == pytest.approx(2 * half_width, rel=1e-9)
    assert found.method == "log-delta-blocks"


@pytest.mark.parametrize(
    ("programs", "blocks", "spread", "drift", "order"),
    [
        (2, 5, 0.05, 0.0, "blocks"),
        (8, 10, 0.03, 0.05, "blocks"),
        (24, 6, 0.2, 0.0, "blocks"),
        (6, 10, 0.05, 0.0, "sequential"),
    ],
)
def test_it_holds_the_truth_as_often_as_it_says(programs, blocks, spread, drift, order):
    source = random.Random(programs * 1000 + blocks)
    experiments, held = 400, 0
    inference = Inference(experiment([[1.0]] * 2 * programs, order=order))
    effects = [0.7 + 0.6 * source.random() for _ in range(programs)]
    truth = exp(sum(map(log, effects)) / programs)
    for _ in range(experiments):
        columns = drawn(source, programs, blocks, spread, drift, effects)
        levels = [TopLevel(tuple(column), tuple(range(blocks))) for column in columns]
        ratio = geometric_mean(list(zip(levels[::2], levels[1::2], strict=True)), inference)
        held += ratio.low <= truth <= ratio.high
    # 95 % of 400, and three and a half standard errors of that count.
    assert held / experiments > 0.95 - 3.5 * sqrt(0.95 * 0.05 / experiments)
    assert held / experiments < 1.0


def test_disturbances_of_whole_blocks_cancel():
    quiet = drawn(random.Random(5), 4, 10, 0.01)
    disturbed = drawn(random.Random(5), 4, 10, 0.01, drift=0.2)
    wide = mean_of_ratios(disturbed).ratio
    narrow = mean_of_ratios(quiet).ratio
    assert wide.half_width < 3 * narrow.half_width


def test_only_blocks_with_all_programs_count():
    columns = drawn(random.Random(1), 2, 8, 0.02)
    whole = mean_of_ratios([column[1:] for column in columns])
    lacking = mean_of_ratios(columns, failed={(3, 0)})
    assert lacking.ratio.high - lacking.ratio.low == pytest.approx(
        whole.ratio.high - whole.ratio.low, rel=0.2
    )
    assert isinstance(lacking.ratio, Estimate)


@pytest.mark.parametrize(
    ("columns", "reason"),
    [
        ([[1.0, 1.1], [0.0, 0.0], [1.0, 1.1], [1.0, 1.2]], "no-values"),
        ([[1.0], [1.1], [1.2], [1.3]], "one-value"),
    ],
)
def test_where_it_cannot_be_bounded_it_says_why(columns, reason):
    found = mean_of_ratios(columns)
    assert isinstance(found.ratio, Unbounded)
    assert found.ratio.reason == reason
    assert found.verdict == "undecided"


@pytest.mark.parametrize("order", ["blocks", "sequential"])
def test_an_interval_beyond_all_numbers_is_none(order):
    whole = experiment([[1.0, 2e3], [2e3, 1.0], [1.0, 2e3], [2e3, 1.0]], order=order)
    sure = replace(whole, spec=replace(whole.spec, confidence=1 - 1e-12))
    (found,) = answer(sure).geometric_means
    assert isinstance(found.ratio, Unbounded)
    assert (found.ratio.reason, found.ratio.estimate) == ("too-wide", pytest.approx(1.0))


def test_one_group_has_none():
    columns = [[1.0, 1.1], [1.0, 1.2], [2.0, 2.1], [2.0, 2.2]]
    assert answer(experiment(columns, groups=["", "", "", ""])).geometric_means == ()


@pytest.mark.parametrize("order", ["blocks", "sequential"])
def test_the_answer_of_an_interrupted_experiment_allows_for_looking_at_any_time(order):
    columns = drawn(random.Random(5), 3, 12, 0.02)
    planned = experiment(columns, order=order)
    (fixed,) = answer(planned).geometric_means
    (cut_short,) = answer(replace(planned, stopped="interrupted")).geometric_means
    assert cut_short.ratio.half_width > 2.0 * fixed.ratio.half_width
    few = experiment([column[:3] for column in columns], order=order)
    (unbounded,) = answer(replace(few, stopped="interrupted")).geometric_means
    assert isinstance(unbounded.ratio, Unbounded)
