import pytest

from steelyard.cli.options.option_groups import gathered
from steelyard.cli.profile.profile_command import record
from steelyard.cli.profile.record_options import RecordOptions
from steelyard.cli.profile.record_request import recording_from
from steelyard.core.errors import UsageError


def recording(*words):
    """What the words of a command ask for."""
    context = record.make_context("record", [*words, "--", "true"])
    argv = context.params.pop("argv")
    return recording_from(gathered(RecordOptions, context.params), argv)


@pytest.mark.parametrize(
    ("period", "period_ns"), [("20us", 20_000), ("0.02ms", 20_000), ("1ms", 1e6), ("1h", 3600e9)]
)
def test_periods_up_to_both_limits_are_taken(period, period_ns):
    assert recording("--period", period).period_ns == period_ns


@pytest.mark.parametrize("period", ["19.999us", "1.001h"])
def test_a_period_beyond_a_limit_is_refused(period):
    with pytest.raises(UsageError, match="at least 20 µs and at most 1 h"):
        recording("--period", period)


def test_seeds_and_counts_of_files_go_as_far_as_the_sampler_takes_them():
    words = ("--seed", str(2**64 - 1), "--rotate", "1M", "--keep", str(2**32 - 1))
    assert (recording(*words).seed, recording(*words).keep_files) == (2**64 - 1, 2**32 - 1)
