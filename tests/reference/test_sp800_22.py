"""The tests of randomness against the examples and tables of the publication itself."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

from benchmarks import sp800_22

PUBLISHED = json.loads(Path(__file__).with_name("sp800_22.json").read_text())
MILLION = 1_000_000


@pytest.fixture(scope="module")
def digits_of_e():
    """The series of 1 / k!, by splitting, to a million binary digits and some."""

    def split(low, high):
        if high - low == 1:
            return 1, high
        middle = (low + high) // 2
        left, right = split(low, middle), split(middle, high)
        return left[0] * right[1] + right[0], left[1] * right[1]

    numerator, denominator = split(0, 72_000)
    number = ((numerator + denominator) << (MILLION + 62)) // denominator
    return np.unpackbits(np.frombuffer(number.to_bytes(MILLION // 8 + 8), dtype=np.uint8))[:MILLION]


@pytest.mark.parametrize(
    "example", PUBLISHED["short"], ids=lambda e: f"{e['test']}-{e['bits'][:9]}"
)
def test_the_examples_of_the_publication_come_out(example):
    text = PUBLISHED["pi"] if example["bits"] == "pi" else example["bits"]
    bits = np.array([int(digit) for digit in text], dtype=np.uint8)
    parameter = [example["parameter"]] if "parameter" in example else []
    found = getattr(sp800_22, example["test"])(bits, *parameter)
    assert found[: len(example["p"])] == pytest.approx(example["p"], abs=2e-6)


def test_heights_below_the_threshold_are_counted_as_section_2_6_defines_them():
    bits = np.array([1, 0, 0, 1, 0, 1, 0, 0, 1, 1], dtype=np.uint8)
    # The heights are 0, 2, 4.47, 2 and 4.47, all below the square root of 10 log 20, 5.47.
    expected = math.erfc((5 - 4.75) / math.sqrt(10 * 0.95 * 0.05 / 4) / math.sqrt(2))
    assert sp800_22.spectral(bits) == pytest.approx((expected,))


def test_the_example_of_matrices_and_that_of_pairs_come_out(digits_of_e):
    found = sp800_22.rank(digits_of_e[:100_000])
    assert found == pytest.approx(PUBLISHED["rank_of_e_100000"], abs=1e-6)
    found = sp800_22.serial(digits_of_e, 2)
    assert found == pytest.approx(PUBLISHED["serial_of_e_2"], abs=1e-6)


@pytest.mark.parametrize("test", sp800_22.TESTS)
def test_a_million_digits_of_e_give_what_the_appendix_says(digits_of_e, test):
    expected = PUBLISHED["appendix_b_of_e"][test]
    expected = expected if isinstance(expected, list) else [expected]
    found = sp800_22.TESTS[test](digits_of_e)
    assert found[: len(expected)] == pytest.approx(expected, abs=2e-6)


def test_a_sequence_that_counts_is_seen_by_every_test():
    counting = np.unpackbits(np.arange(1 << 15, dtype=">u4").view(np.uint8))
    for name, test in sp800_22.TESTS.items():
        assert min(test(counting)) < 0.01, name


def test_p_values_of_chance_are_spread_evenly_and_those_of_a_pattern_are_not():
    chance = np.random.default_rng(1).random(200)
    assert sp800_22.uniformity(chance) > 0.01
    assert sp800_22.uniformity(chance / 3) < 1e-6
