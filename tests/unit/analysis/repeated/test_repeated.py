"""Within-subject analyses and mixed models: what they tell apart, and what they refuse."""

import numpy as np
import pytest

from steelyard.analysis.methods import ANALYSES
from steelyard.core.errors import AnalysisError
from tests.unit.analysis.trials_tables import question, table


def within(data, asked):
    return ANALYSES.get("within").analyze(data, asked)


def mixed(data, asked):
    return ANALYSES.get("mixed").analyze(data, asked)


def suite(program_count=12, seed=1):
    """Programs of very different lengths, each 5 % slower at the second level."""
    generator = np.random.default_rng(seed)
    program = np.repeat(np.arange(program_count), 2)
    level = np.tile([0.0, 1.0], program_count)
    scale = np.repeat(np.exp(generator.normal(0, 1.5, program_count)), 2)
    noise = np.exp(generator.normal(0, 0.005, 2 * program_count))
    return {"program": program, "level": level, "y": scale * np.where(level, 1.05, 1.0) * noise}


def test_a_ratio_that_all_programs_share_is_found_whatever_their_length():
    found = within(table(**suite()), question("y", "level"))
    ratio = next(e.effect for e in found.effects if e.measure == "geometric-ratio")
    assert ratio.low < 1.05 < ratio.high
    assert ratio.half_width < 0.01


def test_programs_of_very_different_length_are_advised_logarithms():
    found = within(table(**suite(30)), question("y", "level"))
    normal = found.assumptions[0]
    assert normal.holds is False
    assert "transform=log" in normal.advice
    again = within(table(**suite(30)), question("y", "level", transform="log"))
    assert again.assumptions[0].holds is True


def test_a_program_without_a_value_somewhere_is_left_out_and_told_of():
    data = suite()
    data["y"][3] = float("nan")
    found = within(table(**data), question("y", "level"))
    assert found.facts["subjects"] == 11
    assert {"missing-values", "missing-cells"} <= {c.code for c in found.cautions}


def test_one_program_is_not_enough():
    data = {name: values[:2] for name, values in suite().items()}
    with pytest.raises(AnalysisError, match="two are the least"):
        within(table(**data), question("y", "level"))


def nested(builds=20, executions=4, rows=3, seed=2, deviation=1.0):
    """Builds that differ, executions that differ less, and a factor between builds."""
    generator = np.random.default_rng(seed)
    build = np.repeat(np.arange(builds), executions * rows)
    execution = np.tile(np.repeat(np.arange(executions), rows), builds)
    flag = (build % 2).astype(float)
    y = 10 + flag + deviation * generator.normal(size=builds)[build]
    y = y + 0.3 * generator.normal(size=builds * executions)[build * executions + execution]
    y = y + 0.1 * generator.normal(size=len(build))
    return {"build": build, "execution": execution, "flag": flag, "y": y}


def test_the_interval_is_that_of_builds_however_many_rows_each_has():
    few = mixed(table(**nested(rows=3)), question("y", "flag", levels="build,execution"))
    many = mixed(table(**nested(rows=30)), question("y", "flag", levels="build,execution"))
    widths = [found.effects[1].effect.half_width for found in (few, many)]
    assert widths[0] == pytest.approx(widths[1], rel=0.2)
    alone = ANALYSES.get("anova").analyze(table(**nested(rows=30)), question("y", "flag"))
    assert alone.effects[1].effect.half_width < widths[1] / 3


def test_the_variances_are_found_again():
    found = mixed(table(**nested(60)), question("y", "flag", levels="build,execution"))
    assert found.facts["variance_build"] == pytest.approx(1.0, rel=0.5)
    assert found.facts["variance_execution"] == pytest.approx(0.09, rel=0.4)
    assert found.facts["variance_residual"] == pytest.approx(0.01, rel=0.2)


def test_a_level_that_does_not_vary_is_told_of():
    data = nested(deviation=0.0)
    data["y"] = data["flag"] + np.tile([0.0, 0.1, -0.1], 80)
    found = mixed(table(**data), question("y", "flag", levels="build,execution"))
    assert "no-variance" in {c.code for c in found.cautions}


@pytest.mark.parametrize(
    ("change", "levels", "message"),
    [
        ({}, "", "takes --option levels"),
        ({}, "flag", "takes --option levels"),
        ({}, "row", "a 'row' of its own"),
        ({"y": np.ones(240)}, "build", "does not vary"),
    ],
)
def test_what_it_cannot_take_is_named(change, levels, message):
    data = {**nested(), "row": np.arange(240), **change}
    with pytest.raises(AnalysisError, match=message):
        mixed(table(**data), question("y", "flag", levels=levels))
