from dataclasses import replace

import pytest

from steelyard.core.build_spec import BuildSpec
from steelyard.core.errors import UsageError
from steelyard.core.experiment_spec import (
    ExperimentSpec,
    LaunchSpec,
    MetricSpec,
    NuisanceFactor,
    Variant,
)
from steelyard.factors.kinds import FACTORS
from steelyard.factors.randomised_setups import at_setup, drawn_setup

VARIANT = Variant("a", LaunchSpec(("./a",)), build=BuildSpec(("make",)))
SPEC = ExperimentSpec(
    identifier="x",
    kind="measurement",
    variants=(VARIANT,),
    metrics=(MetricSpec("wall_time", "s"),),
    seed=3,
    nuisance=(
        NuisanceFactor("size", "environment-size", options=(("maximum", 100),)),
        NuisanceFactor("order", "link-order", levels=("default", "random:5")),
    ),
)


def test_a_block_shares_its_setup_and_another_block_has_another():
    assert drawn_setup(SPEC, 1, 4) == drawn_setup(SPEC, 2, 4)
    assert len({drawn_setup(SPEC, 0, block)["size"] for block in range(40)}) > 20


def test_drawn_for_each_trial_the_build_stays_that_of_the_block():
    spec = replace(SPEC, setup_each="trial")
    setups = [drawn_setup(spec, position, 4) for position in range(40)]
    assert len({setup["size"] for setup in setups}) > 20
    assert len({setup["order"] for setup in setups}) == 1


def test_named_levels_are_drawn_about_equally_often():
    orders = [drawn_setup(SPEC, 0, block)["order"] for block in range(2000)]
    # Binomial with 2,000 draws: four standard deviations are 89.
    assert abs(orders.count("default") - 1000) < 90


def test_options_bound_what_is_drawn():
    sizes = [int(drawn_setup(SPEC, 0, block)["size"]) for block in range(500)]
    assert min(sizes) >= 0
    assert max(sizes) <= 100


def test_each_part_of_the_variant_takes_its_own_factors():
    setup = {"size": "64", "order": "random:5"}
    launched = at_setup(VARIANT, SPEC, setup, "launch")
    built = at_setup(VARIANT, SPEC, setup, "build")
    assert launched.launch.environment_padding_bytes == 64
    assert launched.build == VARIANT.build
    assert built.build is not None
    assert built.build.randomize == ("link-order",)
    assert built.build.seeds == (("link-order", 5),)
    assert built.launch == VARIANT.launch


@pytest.mark.parametrize("options", [{"orders": 0}, {"orders": -3}])
def test_no_order_to_draw_from_is_refused_by_name(options):
    with pytest.raises(UsageError, match="the factor link-order cannot draw with orders = "):
        FACTORS.get("link-order").check_draws(options, "nuisance[0]")
