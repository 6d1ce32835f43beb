"""What factors do to each program of a suite."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from steelyard.analysis.methods import ANALYSES
from steelyard.analysis.tables.table_analysis import Analysis
from steelyard.core.errors import AnalysisError
from steelyard.core.estimate import Estimate
from tests.unit.analysis.trials_tables import question, table

PROGRAMS = ("bzip2", "lua", "xz", "zopfli", "tcc", "nauty", "brotli", "picosat")


def suite(noise, change=0.0, seed=1, replicates=5):
    """Programs of unlike times under two factors; `change` is what b does to lua, `noise` the
    deviation at each level of a, both relative to the mean."""
    generator = np.random.default_rng(seed)
    rows = [
        (name, a, b, (1 + k) * (1 + change * b * (name == "lua") + noise[a] * generator.normal()))
        for k, name in enumerate(PROGRAMS)
        for a, b in product((0, 1), repeat=2)
        for _ in range(replicates)
    ]
    program, a, b, y = zip(*rows, strict=True)
    return table(program=program, a=a, b=b, y=y)


def p_of(p: float | None) -> float:
    assert p is not None
    return p


def answered(data) -> Analysis:
    found = ANALYSES.get("programs").analyze(data, question(factors="a,b"))
    assert isinstance(found, Analysis)
    return found


def test_an_effect_is_told_in_percent_of_its_programs_mean():
    found = answered(suite((0.002, 0.002), change=0.05))
    effects = {effect.term: effect for effect in found.effects}
    lua = effects["lua: b[1]"]
    assert isinstance(lua.effect, Estimate)
    assert lua.effect.low < 100 * 0.05 / 1.025 < lua.effect.high
    assert lua.unit == "%"
    assert "b changes the mean" in found.conclusion[1]
    assert "beyond chance for 1 of 8 (lua)." in found.conclusion[1]


def test_a_factor_that_makes_programs_vary_more_is_found():
    found = answered(suite((0.01, 0.03)))
    effects = {effect.term: effect for effect in found.effects}
    ratio = effects["variation: a[1]"].effect
    assert isinstance(ratio, Estimate)
    assert ratio.low < 3 < ratio.high
    assert ratio.low > 1.5
    assert p_of(effects["variation: b[1]"].p) > 0.05
    tests = {test.name: p_of(test.p) for test in found.tests}
    assert tests["Kruskal-Wallis of variations: a"] < 0.01
    assert tests["Kruskal-Wallis of variations: b"] > 0.05


def test_nothing_is_found_in_chance_more_often_than_it_should_be():
    alarms = varied = 0
    for seed in range(60):
        found = answered(suite((0.02, 0.02), seed=seed))
        alarms += any(e.adjusted_p is not None and e.adjusted_p < 0.05 for e in found.effects)
        varied += sum(p_of(e.p) < 0.05 for e in found.effects if e.term.startswith("variation"))
    assert alarms <= 9  # Of 60 families at 5 %: more has a probability below 0.1 %.
    assert varied <= 15  # Of 120.


def test_one_replicate_leaves_the_variation_untold_and_the_means_told():
    found = answered(suite((0.02, 0.02), replicates=1))
    assert "no-variations" in {caution.code for caution in found.cautions}
    assert {effect.measure for effect in found.effects} == {"change-of-mean"}


def test_a_suite_in_which_nothing_but_the_program_varies_is_refused():
    with pytest.raises(AnalysisError, match="varies nothing but"):
        ANALYSES.get("programs").analyze(
            table(program=["x", "y"], y=[1.0, 2.0]), question(factors="program")
        )
