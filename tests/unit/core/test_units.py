import pytest

from steelyard.core.units import format_duration, format_value, scale_for


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (0.01235, "s", "12.35 ms"),
        (1.0, "s", "1.000 s"),
        (999e-9, "s", "999.0 ns"),
        (2.5e-6, "s", "2.500 µs"),
        (123.456, "s", "123.5 s"),
        (-0.01235, "s", "-12.35 ms"),
        (3 * 2**20, "bytes", "3.000 MiB"),
        (512, "bytes", "512.0 B"),
        (1_234_567, "count", "1.235 M"),
        (12, "count", "12.00"),
        (7.5, "requests/s", "7.500 requests/s"),
        (123456, "1/s", "123456 1/s"),
    ],
)
def test_values_are_printed_in_a_readable_unit(value, unit, text):
    assert format_value(value, unit) == text


def test_nothing_is_nought_of_the_unit_itself():
    assert format_value(0.0, "s") == "0.000 s"
    assert format_value(0.0, "bytes") == "0.000 B"


def test_a_value_below_the_smallest_unit_stays_in_it():
    assert scale_for(1e-12, "s") == (1e-9, "ns")
    assert scale_for(0.25, "bytes") == (1.0, "B")


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.85, "850 ms"),
        (12.34, "12.3 s"),
        (245, "4 min 05 s"),
        (7800, "2 h 10 min"),
        (59.94, "59.9 s"),
    ],
)
def test_durations_read_as_people_say_them(seconds, text):
    assert format_duration(seconds) == text
