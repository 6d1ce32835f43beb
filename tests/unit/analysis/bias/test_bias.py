"""Measurement bias: what the setup does to a ratio, and what is only noise."""

import numpy as np
import pytest

from steelyard.analysis.methods import ANALYSES
from steelyard.core.errors import AnalysisError
from tests.unit.analysis.trials_tables import question, table


def bias(data, asked):
    return ANALYSES.get("bias").analyze(data, asked)


def setups(effect, between, noise, count=30, repeats=4, seed=1):
    """Trials of O2 and O3 in setups; the log ratio has a mean and varies between setups."""
    generator = np.random.default_rng(seed)
    setup = np.repeat(np.arange(count), 2 * repeats)
    variant = np.tile(np.repeat([0, 1], repeats), count)
    logs = (effect + between * generator.normal(size=count))[setup] * variant
    logs = logs + noise * generator.normal(size=len(setup))
    labels = ["default", "alphabetical", *(f"random-{k}" for k in range(count - 2))]
    return {
        "setup": [labels[k] for k in setup],
        "level": [("O2", "O3")[v] for v in variant],
        "time": 2.0 * np.exp(logs),
    }


def test_a_sign_that_setups_turn_is_said_to_flip():
    found = bias(table(**setups(0.0, 0.03, 0.002)), question("time", "level"))
    assert "Its sign flips" in found.conclusion[0]
    assert "of all setups would contradict the mean" in found.conclusion[0]
    assert found.tests[0].p < 1e-6


def test_noise_alone_is_not_called_a_flip():
    found = bias(table(**setups(0.0, 0.0, 0.02)), question("time", "level"))
    assert "not on both sides beyond noise" in found.conclusion[0]
    assert found.tests[0].p > 0.01


@pytest.mark.parametrize("seed", range(1, 9))
def test_setups_that_noise_alone_lets_vary_contradict_nothing(seed):
    found = bias(table(**setups(0.0, 0.0, 0.02, seed=seed)), question("time", "level"))
    chance = found.tests[0].p > 0.05
    assert ("would contradict" in found.conclusion[0]) is not chance
    varies = "varies by" in found.conclusion[0]
    assert ("may be chance" in found.conclusion[0]) is (varies and chance)


def test_one_setup_says_nothing_of_others():
    found = bias(table(**setups(-0.2, 0.0, 0.005, count=1)), question("time", "level"))
    assert "in the only setup" in found.conclusion[0]
    assert "flip" not in found.conclusion[0]


def test_a_large_effect_stays_on_its_side():
    found = bias(table(**setups(-0.2, 0.02, 0.005)), question("time", "level"))
    assert "all on one side of 1" in found.conclusion[0]
    ratio, share = found.effects[0].effect, found.effects[1].effect
    assert ratio.low < np.exp(-0.2) < ratio.high
    assert (share.estimate, share.high) == (1.0, 1.0)


def test_without_repetition_noise_and_setups_are_not_told_apart():
    found = bias(table(**setups(0.0, 0.03, 0.002, repeats=1)), question("time", "level"))
    assert "cannot be told" in found.conclusion[0]
    assert found.tests == ()
    assert found.assumptions[1].holds is False


def test_the_spread_between_setups_is_found_without_the_noise():
    found = bias(table(**setups(0.05, 0.02, 0.02, count=300)), question("time", "level"))
    text = found.conclusion[0]
    percent = float(text.split("varies by ")[1].split(" %")[0])
    assert percent == pytest.approx(2.0, rel=0.2)


def test_default_and_alphabetical_are_marked():
    found = bias(table(**setups(0.0, 0.03, 0.002)), question("time", "level"))
    violin = found.figures[0].violins[0]
    assert sorted(name for name, _ in violin.marks) == ["alphabetical", "default"]
    assert len(violin.values) == 30


def test_setups_that_share_levels_do_not_count_as_independent():
    generator = np.random.default_rng(2)
    link = np.repeat(np.arange(12), 24)
    environment = np.tile(np.repeat(np.arange(12), 2), 12)
    variant = np.tile([0, 1], 144)
    # All of the bias comes from twelve link orders.
    ratio = np.exp(0.05 * generator.normal(size=12))[link]
    data = table(
        link=link, environment=environment, level=variant, time=np.where(variant, ratio, 1.0)
    )
    crossed = bias(data, question("time", "level", setup="link,environment"))
    data = table(setup=link * 12 + environment, level=variant, time=np.where(variant, ratio, 1.0))
    alone = bias(data, question("time", "level"))
    assert crossed.effects[0].effect.method == "ratio-crossed-setups"
    assert crossed.effects[0].effect.half_width > 2 * alone.effects[0].effect.half_width


def test_a_suite_has_a_mean_ratio_in_each_setup():
    parts = [setups(0.01 * k, 0.02, 0.002, seed=k) for k in range(4)]
    joined = {name: [v for part in parts for v in part[name]] for name in parts[0]}
    program = np.repeat([f"p{k}" for k in range(4)], len(parts[0]["time"])).tolist()
    found = bias(table(program=program, **joined), question("time", "level", program="program"))
    assert found.effects[0].measure == "geometric-mean-ratio"
    assert len(found.figures[0].violins) == 4
    assert sum(found.figures[1].counts) == 30
    suite = found.effects[0].effect
    assert found.figures[1].band == (suite.low, suite.high)
    assert found.conclusion[0].startswith("4 of 4 programs have setups on both sides of 1")


def test_a_program_without_a_common_setup_is_left_out_by_name():
    data = setups(0.0, 0.01, 0.01, count=4)
    program = ["p"] * len(data["time"])
    program[0] = "alone"
    found = bias(table(program=program, **data), question("time", "level", program="program"))
    assert "'alone'" in next(c.message for c in found.cautions if c.code == "missing-cells")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"level": ["x"] * 240}, "between two variants"),
        ({"time": [-1.0] * 240}, "values above 0"),
        ({"setup": [f"s{k}" for k in range(240)]}, "No setup has a value of both"),
    ],
)
def test_what_it_cannot_take_is_named(change, message):
    with pytest.raises(AnalysisError, match=message):
        bias(table(**{**setups(0, 0, 0.1), **change}), question("time", "level"))


def test_a_map_shows_every_combination_and_names_the_ends():
    x, y = np.meshgrid(np.arange(4), np.arange(3))
    x, y = np.repeat(x.ravel(), 2), np.repeat(y.ravel(), 2)
    time = 1.0 + 0.5 * (x == 2) + 0.001 * np.tile([0, 1], 12)
    found = ANALYSES.get("map").analyze(table(x=x, y=y, t=time), question("t", "x,y"))
    figure = found.figures[0]
    assert (figure.x, figure.y) == (("0", "1", "2", "3"), ("0", "1", "2"))
    assert figure.values[1][2] == pytest.approx(1.5005)
    assert "x=2" in found.facts["highest_at"]
    shares = {e.term: e.effect.estimate for e in found.effects}
    assert shares["x"] > 0.99
    assert shares["y"] < 0.1


def test_a_map_leaves_what_was_not_measured_blank():
    found = ANALYSES.get("map").analyze(
        table(x=[0, 1, 0], y=[0, 0, 1], t=[1.0, 2.0, 3.0]), question("t", "x,y")
    )
    assert found.figures[0].values[1][1] is None
    assert {c.code for c in found.cautions} == {"missing-cells", "one-replicate"}
    with pytest.raises(AnalysisError, match="two factors"):
        ANALYSES.get("map").analyze(table(x=[0], t=[1.0]), question("t", "x"))


def test_drift_that_hits_both_variants_of_a_pair_is_no_noise_of_their_ratio():
    """Without the order of rows a small bias hides behind the drift; with it the test has its
    level, and finds the bias."""
    generator = np.random.default_rng(3)
    alarms = {"": 0, "order": 0}
    for seed in range(40):
        made = setups(0.0, 0.0, 0.004, repeats=2, seed=seed)
        drift = np.repeat(0.03 * generator.normal(size=(30, 1, 2)), 2, axis=1).reshape(-1)
        data = table(**{**made, "time": made["time"] * np.exp(drift)}, at=range(120))
        for how in alarms:
            asked = question("time", "level", **({"order": "at"} if how else {}))
            alarms[how] += bias(data, asked).tests[0].p < 0.05
    assert alarms[""] == 0
    assert alarms["order"] <= 6
    made = setups(0.0, 0.01, 0.004, repeats=2)
    data = table(**{**made, "time": made["time"] * np.exp(drift)}, at=range(120))
    assert bias(data, question("time", "level")).tests[0].p > 0.05
    assert bias(data, question("time", "level", order="at")).tests[0].p < 0.001
