"""The effect that an experiment is stopped by."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from steelyard.analysis.comparison.named_effect import effect_sides, named_effects
from steelyard.analysis.comparison.stopping import Stopping, side_means
from steelyard.core.errors import UsageError
from steelyard.core.estimate import Estimate
from steelyard.core.experiment_results import Trial
from steelyard.core.experiment_spec import ExperimentSpec, LaunchSpec, MetricSpec, Variant
from steelyard.core.stopping_spec import StoppingSpec

VARIED = (("flag", ("-O2", "-O3")), ("aslr", ("on", "off")))


def spec(effect: str, precision: float = 0.01) -> ExperimentSpec:
    variants = tuple(
        Variant(f"{flag} {aslr}", LaunchSpec(("p",)), parameters=(("flag", flag), ("aslr", aslr)))
        for flag, aslr in product(("-O2", "-O3"), ("on", "off"))
    )
    return ExperimentSpec(
        "e",
        "comparison",
        variants,
        (MetricSpec("time", "s"),),
        seed=1,
        stopping=StoppingSpec(precision_ratio=precision, effect=effect),
        varied=VARIED,
    )


def trial(position: int, block: int, variant: int, value: float) -> Trial:
    return Trial(position, block, variant, False, "ok", None, 0.0, 1.0, {"time": (value,)})


def test_the_sides_of_a_factor_are_its_levels_and_those_of_an_interaction_its_signs():
    assert effect_sides(spec("flag"), range(4), "flag") == ((0, 1), (2, 3))
    assert effect_sides(spec("flag"), range(4), "flag:aslr") == ((1, 2), (0, 3))


@pytest.mark.parametrize("term", ["moon", "flag:moon"])
def test_an_effect_of_nothing_is_refused_by_name(term):
    with pytest.raises(UsageError, match="'moon', which is no factor"):
        effect_sides(spec("flag"), range(4), term)


def test_a_side_lacks_a_value_where_one_of_its_variants_failed():
    assert side_means({0: 1.0, 1: 3.0, 2: None, 3: 4.0}, ((0, 1), (2, 3))) == [2.0, None]


def test_its_ratio_is_that_of_the_means_over_the_other_factors():
    trials = [
        trial(4 * block + v, block, v, value * (1 + 0.001 * block))
        for block in range(12)
        for v, value in enumerate((1.0, 3.0, 1.1, 3.3))
    ]
    (found,) = named_effects(spec("flag"), trials)
    assert found.term == "flag: -O3 / -O2"
    assert isinstance(found.ratio, Estimate)
    assert found.ratio.estimate == pytest.approx(1.1)


def test_intervals_of_experiments_that_stop_by_it_cover_the_truth():
    """400 experiments of a 2^2 with drifting blocks, each stopped when the interval is narrow."""
    generator = np.random.default_rng(11)
    asked, means = spec("flag", 0.012), np.array([1.0, 1.5, 0.97, 1.6])
    truth = (means[2] + means[3]) / (means[0] + means[1])
    sides = effect_sides(asked, range(4), "flag")
    covered, stops = 0, []
    for _ in range(400):
        rule = Stopping(asked.stopping, 2)
        while True:
            drift = 1 + 0.05 * generator.standard_normal()
            values = means * drift * (1 + 0.03 * generator.standard_normal(4))
            rule.add_block(side_means(dict(enumerate(values)), sides))
            look = rule.look()
            if look.done:
                break
        (interval,) = look.intervals
        assert isinstance(interval, Estimate)
        assert interval.half_width <= 0.012
        covered += interval.low <= truth <= interval.high
        stops.append(look.block_count)
    assert 0.93 <= covered / 400 <= 0.975
    assert len(set(stops)) > 10
