"""Gates on comparisons."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from steelyard.analysis.comparison.experiment_answer import answer
from steelyard.analysis.comparison.gate_check import check_gates, is_shown
from steelyard.analysis.comparison.quantile_ratio import quantile_ratio
from steelyard.core.errors import UsageError
from steelyard.core.estimate import Estimate, Unbounded
from steelyard.core.experiment_results import Experiment
from steelyard.core.gate_spec import parse_gates
from steelyard.core.json_codec import experiment_spec_from_json, to_json
from steelyard.report.kinds.comparison.gate_sentences import gate_object, gate_sentences
from tests.experiments import make_experiment, make_trial


def interval(low: float, high: float) -> Estimate:
    return Estimate((low + high) / 2, low, high, 0.95, "fieller-blocks")


@pytest.mark.parametrize(
    ("claim", "bounds", "shown"),
    [
        ("slower", (1.021, 1.04), True),
        ("slower", (1.019, 1.04), False),
        ("faster", (0.90, 0.979), True),
        ("faster", (0.90, 0.981), False),
        ("not-slower", (0.5, 1.02), True),
        ("not-slower", (1.0, 1.021), False),
        ("not-faster", (0.98, 1.3), True),
        ("not-faster", (0.979, 1.3), False),
        ("equivalent", (0.98, 1.02), True),
        ("equivalent", (0.98, 1.03), False),
    ],
)
def test_a_claim_is_shown_by_the_whole_interval(claim, bounds, shown) -> None:
    assert is_shown(claim, interval(*bounds), 0.02, "lower") is shown
    mirrored = interval(2 - bounds[1], 2 - bounds[0])
    assert is_shown(claim, mirrored, 0.02, "higher") is shown


def test_an_interval_without_bounds_shows_nothing() -> None:
    nothing = Unbounded(1.0, 0.95, "fieller-blocks", "one-value", "One block.")
    assert not any(is_shown(claim, nothing, 0.02, "lower") for claim in ("slower", "not-slower"))


def gated(fail_if: list[str], require: list[str], slowdown: float = 1.05) -> Experiment:
    trials = tuple(
        make_trial(
            position,
            measurements={
                "wall_time": ((1 + 0.001 * (position % 3)) * (slowdown if position % 2 else 1.0),),
                "max_rss": (1000.0 + position % 3,),
            },
        )
        for position in range(40)
    )
    made = make_experiment(trials=trials)
    return replace(made, spec=replace(made.spec, gates=parse_gates(fail_if, require)))


def test_a_failed_gate_says_by_how_much_and_its_limit() -> None:
    found = answer(gated(["slower:2%"], []))
    (told,) = gate_sentences(found)
    assert told.startswith("gate failed: new is slower than old by 4.995 % ± ")
    assert told.endswith(", limit 2 %")
    document = gate_object(found)
    assert document is not None
    assert (document["passed"], document["limit"], document["metric"]) == (False, 0.02, "wall_time")


def test_what_is_undecided_passes_a_prohibition_and_fails_a_requirement() -> None:
    found = answer(gated(["slower:5%"], ["not-slower:5%"]))
    assert [check.passed for check in found.gates] == [True, False]


def test_gates_on_other_metrics_and_quantiles_are_checked_beside_the_first() -> None:
    found = answer(gated(["slower:max_rss"], ["not-slower:2%:median", "not-slower:9%:median"]))
    assert [(c.comparison.metric.name, c.passed) for c in found.gates] == [
        ("max_rss", True),
        ("wall_time", False),
        ("wall_time", True),
    ]
    assert "in the median of wall_time" in gate_sentences(found)[1]


def test_a_gate_on_what_is_not_measured_or_compared_is_refused() -> None:
    with pytest.raises(UsageError, match="no metric 'heap'"):
        check_gates(gated(["slower:heap"], []).spec)
    alone = replace(gated(["slower"], []).spec, kind="measurement")
    with pytest.raises(UsageError, match="only one variant"):
        check_gates(alone)


def test_gates_are_kept_with_the_experiment() -> None:
    spec = gated(["slower:2%"], ["not-slower:3%:median"]).spec
    assert experiment_spec_from_json(to_json(spec)).gates == spec.gates


def test_intervals_of_quantile_ratios_hold_as_often_as_they_say() -> None:
    random = np.random.default_rng(5)
    held = 0
    for _ in range(1000):
        # Skewed values whose medians are exp(0) and exp(0.1).
        baseline, candidate = random.lognormal([[0.0], [0.1]], 0.3, (2, 25)).tolist()
        found = quantile_ratio(baseline, candidate, 0.5, confidence=0.95)
        assert isinstance(found, Estimate)
        held += found.low <= np.exp(0.1) <= found.high
    # Of 1,000 draws at 95 %, by this seed: below 93 % would be 3 standard errors.
    assert 930 <= held <= 985


def test_too_few_values_do_not_bound_a_quantile() -> None:
    found = quantile_ratio([1.0, 2.0, 3.0] * 5, [1.0, 2.0, 3.0] * 5, 0.99, confidence=0.95)
    assert isinstance(found, Unbounded)
    assert found.reason == "too-few-values"
    assert isinstance(quantile_ratio([0.0] * 9, [1.0] * 9, 0.5, confidence=0.95), Unbounded)
