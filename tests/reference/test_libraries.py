"""Our own routines beside those of scipy, over random tables."""

import pytest

from benchmarks.libraries import PAIRS, difference

# Royston's polynomials have six digits, and the two differ in what they round.
SIX_DIGITS = {"Shapiro-Wilk (5,000 values)"}


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.name)
def test_a_routine_of_ours_gives_the_digits_of_the_librarys(pair):
    assert difference(pair) < (1e-6 if pair.name in SIX_DIGITS else 1e-11)
