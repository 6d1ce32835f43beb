"""Anderson and Darling's test of normality."""

import numpy as np

from steelyard.analysis.tests.anderson_darling import anderson_darling


def test_it_calls_one_normal_sample_in_twenty_not_normal():
    generator = np.random.default_rng(1)
    p = [anderson_darling(generator.normal(size=200)).p for _ in range(1000)]
    assert 0.03 < np.mean(np.array(p) < 0.05) < 0.07


def test_it_sees_tails_and_skew_however_far():
    generator = np.random.default_rng(2)
    assert anderson_darling(generator.standard_t(3, 2000)).p < 1e-6
    assert anderson_darling(generator.exponential(size=100_000)).p < 1e-20


def test_few_values_or_values_that_are_alike_have_no_answer():
    assert anderson_darling(np.arange(7.0)) is None
    assert anderson_darling(np.ones(100)) is None
