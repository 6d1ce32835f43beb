import pytest

from steelyard.core.errors import UsageError
from steelyard.core.quantity import (
    parse_budget,
    parse_cpus,
    parse_duration,
    parse_ratio,
    parse_size,
)


@pytest.mark.parametrize(
    ("text", "ratio"), [("2%", 0.02), ("0.02", 0.02), ("0.5 %", 0.005), (" 1% ", 0.01)]
)
def test_a_ratio_is_a_percentage_or_a_share(text, ratio):
    assert parse_ratio(text, "--precision") == pytest.approx(ratio)


@pytest.mark.parametrize("text", ["", "0", "100%", "-1%", "2", "two", "1 s", "nan", "%"])
def test_a_ratio_out_of_range_names_the_option(text):
    with pytest.raises(UsageError, match="--precision takes a share") as caught:
        parse_ratio(text, "--precision")
    assert caught.value.field == "--precision"


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("50us", 5e-5),
        ("50µs", 5e-5),
        ("500ms", 0.5),
        ("30s", 30),
        ("30", 30),
        ("1.5min", 90),
        ("2m", 120),
        ("1h", 3600),
    ],
)
def test_a_duration_carries_its_unit_or_is_in_seconds(text, seconds):
    assert parse_duration(text, "--budget") == pytest.approx(seconds)


@pytest.mark.parametrize("text", ["", "0", "-3s", "3 days", "s", "inf", "1e400", "1e200s"])
def test_a_duration_that_is_none_is_refused(text):
    with pytest.raises(UsageError, match="takes a time"):
        parse_duration(text, "--timeout")


def test_a_budget_is_a_time_or_a_number_of_trials():
    assert parse_budget("2min", "--budget") == (120.0, None)
    assert parse_budget("200runs", "--budget") == (None, 200)
    assert parse_budget("1 run", "--budget") == (None, 1)


@pytest.mark.parametrize("text", ["0runs", "1.5runs", "runs", "-2runs", "many"])
def test_a_budget_of_nothing_is_refused(text):
    with pytest.raises(UsageError, match="--budget takes"):
        parse_budget(text, "--budget")


@pytest.mark.parametrize(
    ("text", "cpus"), [("1", (1,)), ("0,2-3", (0, 2, 3)), ("3,1,1", (1, 3)), ("4-4", (4,))]
)
def test_a_cpu_list_reads_as_the_kernel_writes_it(text, cpus):
    assert parse_cpus(text, "--cpus") == cpus


@pytest.mark.parametrize("text", ["", "a", "3-1", "-1", "1-", "1,,2"])
def test_a_cpu_list_that_is_none_is_refused(text):
    with pytest.raises(UsageError, match="--cpus takes CPU numbers"):
        parse_cpus(text, "--cpus")


@pytest.mark.parametrize(
    ("text", "size"),
    [("64M", 64 << 20), ("1G", 1 << 30), ("500kB", 500 << 10), ("7", 7), ("2MiB", 2 << 20)],
)
def test_a_size_is_in_bytes_or_powers_of_1024(text, size):
    assert parse_size(text, "--rotate") == size


@pytest.mark.parametrize("text", ["", "0", "-1M", "M", "1T B", "inf", "nanG"])
def test_a_size_that_is_none_is_refused(text):
    with pytest.raises(UsageError, match="--rotate takes a size"):
        parse_size(text, "--rotate")
