import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.core.estimate import Estimate
from steelyard.report.texts.readable import (
    difference_text,
    document_value,
    elided,
    one_line,
    ratio_text,
    without_surrogates,
)


def estimate(low, value, high):
    return Estimate(value, low, high, 0.95, "fieller-blocks")


def test_a_bound_that_is_not_one_is_never_printed_as_one():
    assert ratio_text(estimate(0.94, 0.97, 0.9998)) == "0.9700 [0.9400, 0.9998]"


def test_narrow_intervals_get_more_decimals():
    assert ratio_text(estimate(0.9898, 0.9900, 0.9902)) == "0.9900 [0.9898, 0.9902]"


def test_a_difference_that_excludes_zero_does_not_look_as_if_it_held_it():
    assert difference_text(estimate(0.9405, 0.97, 0.9996)) == "3.00 % ± 2.96 %"


def test_an_exact_ratio_has_no_width():
    assert difference_text(estimate(0.5, 0.5, 0.5)) == "50.000 % ± 0.000 %"


def test_wide_intervals_drop_their_decimals():
    assert difference_text(estimate(3.0, 3.2, 3.4)) == "220 % ± 20 %"


def test_elision_keeps_both_ends():
    assert elided("abcdefghij", 10) == "abcdefghij"
    assert elided("abcdefghijk", 7) == "abcd…jk"


@given(st.text(st.characters(exclude_categories=())))
def test_any_text_becomes_one_printable_line(text):
    line = one_line(text)
    assert line.isprintable()
    line.encode()
    without_surrogates(text).encode()


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_a_document_never_holds_what_json_lacks(value):
    cleaned = document_value({"a": [value, (1.5, "\udc80")]})
    assert json.dumps(cleaned, allow_nan=False) == '{"a": [null, [1.5, "\\ufffd"]]}'
