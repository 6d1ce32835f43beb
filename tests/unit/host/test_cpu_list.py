"""Lists and masks of CPUs."""

from __future__ import annotations

import pytest

from steelyard.core.errors import UsageError
from steelyard.host.cpu_list import format_cpu_list, parse_cpu_list
from steelyard.host.irqs import format_cpu_mask, parse_cpu_mask


@pytest.mark.parametrize(
    ("text", "cpus"),
    [("", ()), ("0", (0,)), ("0-3,8", (0, 1, 2, 3, 8)), (" 2,1\n", (1, 2)), ("5-5", (5,))],
)
def test_a_list_of_cpus_is_read(text, cpus):
    assert parse_cpu_list(text) == cpus


@pytest.mark.parametrize("text", ["a", "1-", "0-x", "1;2", "-"])
def test_what_is_no_list_of_cpus_is_an_error_that_names_it(text):
    with pytest.raises(UsageError, match="not a list of CPUs") as caught:
        parse_cpu_list(text)
    assert caught.value.field == "cpus"


@pytest.mark.parametrize(
    ("cpus", "text"), [((), ""), ((3,), "3"), ((0, 1, 2, 5, 7, 8), "0-2,5,7-8"), ((1, 0), "0-1")]
)
def test_cpus_are_written_in_the_kernels_notation(cpus, text):
    assert format_cpu_list(cpus) == text


@pytest.mark.parametrize(
    ("mask", "cpus"), [("f", (0, 1, 2, 3)), ("00000001,00000000", (32,)), ("80000002", (1, 31))]
)
def test_a_mask_of_cpus_goes_there_and_back(mask, cpus):
    assert parse_cpu_mask(mask) == cpus
    assert format_cpu_mask(cpus, mask) == mask


def test_a_mask_keeps_the_groups_of_its_model():
    assert format_cpu_mask((0,), "ff,ffffffff") == "00,00000001"
