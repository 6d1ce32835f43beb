"""What an answer may spend of the error, and the sequence that holds at every number of blocks."""

from math import exp, inf, lgamma, log, pi

import numpy as np
import pytest

from steelyard.analysis.distributions.student import student_quantile
from steelyard.analysis.intervals.error_spending import (
    ONE_LOOK,
    Spending,
    sequence_quantile,
    sequence_widening,
    spending_of,
)
from steelyard.analysis.intervals.mean import two_sided
from steelyard.core.rng import derive_seed
from steelyard.core.stopping_spec import PastLook, StoppingSpec

BY_VERDICT = StoppingSpec(until="decided")


def test_a_fixed_number_of_runs_has_the_interval_of_one_look():
    assert spending_of(StoppingSpec(runs=30), "runs") == ONE_LOOK


@pytest.mark.parametrize("stopped", ["precision", "budget"])
def test_an_end_that_the_ratio_did_not_choose_leaves_room_to_go_on(stopped):
    assert spending_of(StoppingSpec(), stopped) == Spending(0.8, sequence=False)


@pytest.mark.parametrize("stopped", ["interrupted", None])
def test_who_interrupts_or_looks_at_what_still_runs_may_have_chosen_that_by_the_ratio(stopped):
    assert spending_of(StoppingSpec(), stopped) == Spending(0.3, sequence=True)
    assert spending_of(StoppingSpec(runs=30), stopped) == Spending(0.1, sequence=True)


def test_a_budget_that_cuts_a_fixed_number_of_runs_short_leaves_its_end_to_come():
    assert spending_of(StoppingSpec(runs=30), "budget") == Spending(0.1, sequence=True)


def test_an_end_that_the_verdict_chose_belongs_to_the_sequence():
    assert spending_of(BY_VERDICT, "decided") == Spending(0.3, sequence=True)


def test_whatever_comes_after_a_first_answer_belongs_to_the_sequence():
    after_budget = StoppingSpec(looks=(PastLook(12, "decided"),))
    after_runs = StoppingSpec(runs=60, looks=(PastLook(30, "runs"), PastLook(40, "precision")))
    assert spending_of(after_budget, "precision") == Spending(0.3, sequence=True)
    assert spending_of(after_runs, "runs") == Spending(0.1, sequence=True)


def test_no_course_spends_more_than_eleven_tenths_of_the_error():
    firsts = [(StoppingSpec(runs=30), "runs"), (StoppingSpec(), "budget")]
    for first, stopped in firsts:
        later = StoppingSpec(looks=(PastLook(30, first.rule),))
        shares = [spending_of(first, stopped).share, spending_of(later, "decided").share]
        assert sum(shares) == pytest.approx(1.1)


def test_an_effect_that_is_named_in_a_file_is_judged_by_one_look():
    assert spending_of(StoppingSpec(effect="optimisation"), "precision") == ONE_LOOK


def mixture_by_integration(t, count, mixing):
    """The likelihood ratio of Student's t, averaged over normal effects, by numerical integration.

    Noncentral t densities by their integral over the scale: a second derivation, which shares
    nothing with the closed form.
    """
    degrees = count - 1
    scales = np.linspace(1e-4, 4.0, 4001)
    effects = np.linspace(-8, 8, 3201) * mixing**0.5
    # The density of t given an effect is proportional to the mean, over the scale s = sqrt(chi2 /
    # degrees), of s times a normal density of t s around sqrt(n) effect.
    log_scale = degrees * np.log(scales) - degrees * scales**2 / 2
    weight = np.exp(log_scale - log_scale.max())
    shift = np.sqrt(count) * effects
    density = np.exp(-((t * scales[:, None] - shift[None, :]) ** 2) / 2)
    by_effect = (
        np.trapezoid(weight[:, None] * density, scales, axis=0)
        if hasattr(np, "trapezoid")
        else np.trapz(weight[:, None] * density, scales, axis=0)
    )
    prior = np.exp(-(effects**2) / (2 * mixing)) / (2 * pi * mixing) ** 0.5
    step = effects[1] - effects[0]
    null = float(by_effect[len(effects) // 2])
    return float((by_effect * prior).sum() * step) / null


@pytest.mark.parametrize("count", [10, 25, 60])
@pytest.mark.parametrize("confidence", [0.95, 0.98])
def test_at_the_quantile_the_averaged_likelihood_ratio_is_one_over_the_error(count, confidence):
    quantile = sequence_quantile(confidence, count)
    ratio = mixture_by_integration(quantile, count, 0.5)
    assert ratio == pytest.approx(1 / (1 - confidence), rel=2e-3)


def test_for_many_blocks_it_is_the_normal_mixture_of_robbins():
    """Robbins, Annals of Mathematical Statistics 41 (1970) 1397, for a known variance."""
    count, mixing = 100_000, 0.5
    k = 1 + count * mixing
    expected = ((log(k) - 2 * log(0.05)) * k / (k - 1)) ** 0.5
    assert sequence_quantile(0.95, count) == pytest.approx(expected, rel=1e-4)


def test_too_few_blocks_have_no_bound_and_more_never_have_less_than_one_look():
    assert sequence_quantile(0.98, 1) == inf
    assert sequence_quantile(0.98, 4) == inf
    for count in (8, 10, 20, 100, 10_000, 10**7):
        single = student_quantile(two_sided(0.98), count - 1)
        assert sequence_widening(0.98, count) == pytest.approx(
            sequence_quantile(0.98, count) / single
        )
        assert sequence_widening(0.98, count) > 1.3


def test_the_sequence_holds_at_every_number_of_blocks_together():
    """400 normal sequences of 10 to 1,000 blocks: Ville's bound is 5 %."""
    generator = np.random.default_rng(derive_seed(1, "sequence"))
    values = generator.standard_normal((400, 1000))
    counts = np.arange(1, 1001)
    means = values.cumsum(axis=1) / counts
    squares = (values**2).cumsum(axis=1) - counts * means**2
    with np.errstate(invalid="ignore", divide="ignore"):
        t = means / np.sqrt(squares / (counts - 1) / counts)
    quantiles = np.array([sequence_quantile(0.95, n) for n in counts.tolist()])
    ever = (np.abs(t[:, 9:]) > quantiles[9:]).any(axis=1).mean()
    at_one_look = (np.abs(t[:, 9:]) > 1.96).any(axis=1).mean()
    assert ever <= 0.05
    assert at_one_look > 0.25


def test_student_densities_of_the_integration_are_those_of_student():
    """The integration's own check: without an effect it gives Student's density."""
    t, count = 1.7, 10
    degrees = count - 1
    scales = np.linspace(1e-4, 6.0, 20001)
    density = degrees ** (degrees / 2) * 2 ** (1 - degrees / 2) / exp(lgamma(degrees / 2))
    weight = density * scales ** (degrees - 1) * np.exp(-degrees * scales**2 / 2)
    step = scales[1] - scales[0]
    by_scale = (weight * scales * np.exp(-((t * scales) ** 2) / 2) / (2 * pi) ** 0.5).sum() * step
    constant = exp(lgamma((degrees + 1) / 2) - lgamma(degrees / 2)) / (degrees * pi) ** 0.5
    assert by_scale == pytest.approx(constant * (1 + t * t / degrees) ** (-(degrees + 1) / 2), 1e-6)


@pytest.mark.parametrize("count", [0, 1, 2, 3])
def test_too_few_values_for_a_sequence_have_no_bounds_and_no_error(count):
    assert sequence_widening(0.985, count) == inf
