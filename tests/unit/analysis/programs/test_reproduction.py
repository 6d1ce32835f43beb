"""What of an experiment is found again: sizes as a published table has them, and what agrees."""

from __future__ import annotations

import numpy as np
import pytest

from steelyard.analysis.programs.reproduction import CellEffect, reproduction
from steelyard.core.estimate import Estimate, Unbounded


def effect(host, benchmark, term, centre, half=1.0):
    change = Estimate(centre, centre - half, centre + half, 0.95, "t")
    return CellEffect(host, benchmark, term, change)


def test_sizes_are_means_and_maxima_without_signs_over_hosts_and_benchmarks() -> None:
    original = [effect("a", "x", "aslr", -2.0), effect("b", "x", "aslr", 1.0)]
    original += [effect("a", "y", "aslr", 0.0), effect("b", "y", "aslr", 3.0)]
    again = [effect("a", "x", "aslr", -6.0)]
    found = reproduction(original, again)
    (sizes,) = found.factors
    assert (sizes.original_mean, sizes.original_most) == (1.5, 3.0)
    assert (sizes.again_mean, sizes.again_most) == (6.0, 6.0)
    assert (found.hosts, found.benchmarks) == ((2, 1), (2, 1))


def test_an_effect_is_compared_on_the_hosts_that_ran_both() -> None:
    original = [effect("a", "x", "f", 2.0), effect("b", "x", "f", 20.0)]
    (pair,) = reproduction(original, [effect("a", "x", "f", 3.0, 2.0)]).pairs
    assert pair.hosts == ("a",)
    assert pair.original is not None
    assert pair.original.estimate == 2.0
    assert pair.difference is not None
    assert pair.difference.estimate == 1.0
    assert pair.difference.half_width == pytest.approx(5**0.5)
    assert (pair.agrees, pair.same_answer) == (True, True)


def test_without_a_host_of_both_the_means_of_all_are_compared() -> None:
    original = [effect("a", "x", "f", 2.0, 3.0), effect("b", "x", "f", 4.0, 4.0)]
    (pair,) = reproduction(original, [effect("c", "x", "f", -9.0)]).pairs
    assert pair.hosts == ()
    assert pair.original is not None
    assert (pair.original.estimate, pair.original.half_width) == (3.0, 2.5)
    assert (pair.agrees, pair.same_answer) == (False, False)


def test_what_one_of_both_lacks_or_has_no_bound_is_not_said_to_agree() -> None:
    endless = CellEffect("a", "x", "f", Unbounded(None, 0.95, "t", "few", ""))
    (pair,) = reproduction(
        [effect("a", "x", "f", 1.0), effect("a", "z", "f", 1.0)], [endless]
    ).pairs
    assert (pair.benchmark, pair.again, pair.agrees, pair.same_answer) == ("x", None, None, None)


def test_effects_that_are_the_same_disagree_as_often_as_their_confidence_says() -> None:
    draw = np.random.default_rng(7)
    half, wrong = 1.96, 0
    for _ in range(4000):
        original = [effect(h, "x", "f", draw.normal(5.0), half) for h in ("a", "b", "c")]
        again = [effect(h, "x", "f", draw.normal(5.0), half) for h in ("a", "b")]
        (pair,) = reproduction(original, again).pairs
        wrong += not pair.agrees
    assert 0.04 < wrong / 4000 < 0.06
