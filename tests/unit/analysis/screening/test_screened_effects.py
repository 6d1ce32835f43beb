"""Which factors a screening proposes."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from steelyard.analysis.methods import ANALYSES
from steelyard.analysis.screening.lenth import lenth_margins
from steelyard.analysis.tables.table_analysis import Analysis
from steelyard.core.errors import AnalysisError
from steelyard.core.estimate import Estimate, Unbounded
from steelyard.design.design import DesignFactor
from steelyard.design.plackett_burman import plackett_burman
from tests.unit.analysis.trials_tables import question, table

NAMES = "abcdefgh"


def screened(points, values, names=NAMES) -> Analysis:
    columns = {name: [row[k] for row in points] for k, name in enumerate(names)}
    found = ANALYSES.get("screening").analyze(
        table(**columns, y=values), question(factors=",".join(names))
    )
    assert isinstance(found, Analysis)
    return found


def pb12():
    return plackett_burman([DesignFactor(name, ("0", "1")) for name in NAMES]).points


def proposed(found):
    return set(str(found.facts["proposed"]).split(", ")) - {"none"}


def test_lenths_margins_are_those_of_his_paper():
    """Montgomery's filtration experiment as BsMD and FrF2 give it: PSE 2.625, ME 6.7478 of the
    effects of the 2^4."""
    effects = [21.625, 3.125, 9.875, 14.625, 0.125, -18.125, 16.625, 2.375, -0.375, -1.125, 1.875,
               4.125, -1.625, -2.625, 1.375]  # fmt: skip
    found = lenth_margins(np.array(effects), 0.95)
    assert found.error == pytest.approx(2.625)
    assert found.degrees == 5
    assert found.margin == pytest.approx(6.748, abs=1e-3)


def test_active_factors_of_an_unreplicated_design_are_proposed_and_their_aliases_named():
    noise = 0.2 * np.random.default_rng(4).standard_normal(12)
    values = [
        50 + 3 * (2 * p[1] - 1) - 2 * (2 * p[4] - 1) + e for p, e in zip(pb12(), noise, strict=True)
    ]
    found = screened(pb12(), values)
    assert proposed(found) == {"b", "e"}
    effects = {effect.term: effect for effect in found.effects}
    assert isinstance(effects["b"].effect, Estimate)
    assert effects["b"].effect.low < 3 < effects["b"].effect.high
    assert effects["b"].effect.method == "lenth"
    # In twelve runs every interaction of two others is mixed into a main effect by a third.
    assert len(effects["b"].aliases) == 21
    assert all(alias.startswith(("0.33 ", "-0.33 ")) for alias in effects["b"].aliases)
    assert "aliased" in {caution.code for caution in found.cautions}


def test_a_fraction_names_the_interaction_that_cannot_be_told_from_a_factor():
    points = [(a, b, a ^ b ^ 1) for a, b in product((0, 1), repeat=2) for _ in range(4)]
    noise = 0.1 * np.random.default_rng(1).standard_normal(16)
    found = screened(points, [p[2] + e for p, e in zip(points, noise, strict=True)], names="abc")
    assert proposed(found) == {"c"}
    assert {e.term: e.aliases for e in found.effects}["c"] == ("a:b",)


def test_replicates_are_the_error_where_there_are_enough():
    points = [p for p in pb12() for _ in range(3)]
    values = 10 + np.random.default_rng(2).standard_normal(36) + [2 * p[0] for p in points]
    found = screened(points, values)
    assert found.effects[1].effect.method == "student-replicates"
    assert "a" in proposed(found)


def test_nothing_is_proposed_of_a_constant_response_or_of_too_few_runs():
    found = screened(pb12(), [3.0] * 12)
    assert proposed(found) == set()
    assert "constant-response" in {caution.code for caution in found.cautions}
    few = screened(list(product((0, 1), repeat=2)), [1.0, 2.0, 3.0, 4.5], names="ab")
    assert isinstance(few.effects[1].effect, Unbounded)
    assert "no-error-degrees" in {caution.code for caution in few.cautions}


def test_a_margin_that_nothing_passes_is_told_with_its_confidence():
    values = 10 + np.random.default_rng(2).standard_normal(12)
    columns = {name: [row[k] for row in pb12()] for k, name in enumerate(NAMES)}
    asked = replace(question(factors=",".join(NAMES)), confidence=0.9999)
    found = ANALYSES.get("screening").analyze(table(**columns, y=values), asked)
    assert "(99.99 % margin of one effect)" in " ".join(found.conclusion)


def test_a_factor_with_three_levels_is_refused_by_name():
    with pytest.raises(AnalysisError, match="'a' has 3"):
        screened([(0, 0), (1, 1), (2, 0)], [1.0, 2.0, 3.0], names="ab")


def test_chance_alone_is_seldom_proposed():
    """Lenth's margin of one effect lets about 5 % of twelve-run null effects pass."""
    generator = np.random.default_rng(9)
    points = pb12()
    passed = sum(len(proposed(screened(points, generator.standard_normal(12)))) for _ in range(200))
    assert 0.02 < passed / (200 * 8) < 0.07


def of_hosts(random, effect=0.0):
    """Trials of a screening that three unlike hosts ran twice each, and the host of each."""
    points = [row for row in pb12() for _ in range(6)]
    hosts = [k % 3 for k in range(len(points))]
    noise = random.normal(1.0, 0.02, len(points))
    changed = [1 + effect * (row[0] == 1) for row in points]
    values = noise * np.array(changed) * np.array([1.0, 1.8, 0.6])[hosts]
    return points, [f"h{k}" for k in hosts], values


def within_hosts(points, hosts, values):
    columns = {name: [row[k] for row in points] for k, name in enumerate(NAMES)}
    asked = question(factors=",".join(NAMES))
    found = ANALYSES.get("screening").analyze(
        table(**columns, host=hosts, y=list(values)), replace(asked, extra={"within": "host"})
    )
    assert isinstance(found, Analysis)
    return found


def test_beside_their_own_means_unlike_hosts_hide_no_effect_and_make_none():
    random = np.random.default_rng(5)
    drawn = [of_hosts(random) for _ in range(150)]
    null = sum(len(proposed(within_hosts(*each))) for each in drawn) / (150 * len(NAMES))
    assert 0.03 < null < 0.07
    for _ in range(20):
        points, hosts, values = of_hosts(random, 0.03)
        assert "a" in proposed(within_hosts(points, hosts, values))
        # Without it the hosts' difference hides so small an effect.
        assert "a" not in proposed(screened(points, list(values)))


def test_the_error_has_a_degree_less_for_each_further_host():
    points, hosts, values = of_hosts(np.random.default_rng(1))
    found = within_hosts(points, hosts, values)
    assert found.facts["error_degrees"] == len(points) - 12 - 2


def test_nothing_is_relative_to_a_host_whose_mean_is_nought():
    points, hosts, values = of_hosts(np.random.default_rng(1))
    values[[k for k, host in enumerate(hosts) if host == "h1"]] = 0.0
    with pytest.raises(AnalysisError, match="host 'h1' has the mean 0"):
        within_hosts(points, hosts, values)
