"""The rule to stop that a call asks for."""

import pytest

from steelyard.cli.options.option_groups import gathered
from steelyard.cli.weigh import compare_command, measure_command
from steelyard.cli.weigh.weighing_options import WeighingOptions
from steelyard.cli.weigh.weighing_request import request_from
from steelyard.core.stopping_spec import MEAN_MINIMUM_BLOCKS, StoppingSpec


def stopping_of(module, *words, until="precision"):
    values = module.command.make_context("steelyard", list(words)).params
    given = gathered(WeighingOptions, values)
    commands = values.get("words") or values["commands"]
    return request_from(tuple((word,) for word in commands), given, until=until).stopping


def test_one_program_is_run_often_enough_to_see_the_shape_of_its_times():
    assert stopping_of(measure_command, "true").minimum_blocks == MEAN_MINIMUM_BLOCKS == 20


def test_whoever_asks_for_fewer_runs_gets_them():
    assert stopping_of(measure_command, "--min-runs", "7", "true").minimum_blocks == 7


@pytest.mark.parametrize("option", ["--parameter=size=1,2", "--layout=fixed"])
def test_several_variants_of_one_program_are_compared_from_ten_blocks_on(option):
    found = stopping_of(measure_command, option, "true")
    assert found.minimum_blocks == StoppingSpec().minimum_blocks == 10


def test_a_comparison_looks_from_ten_blocks_on():
    found = stopping_of(compare_command, "true", "false", until="decided")
    assert (found.minimum_blocks, found.until) == (10, "decided")
