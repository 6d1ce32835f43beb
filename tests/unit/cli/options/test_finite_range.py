import click
import pytest

from steelyard.cli.main import program
from steelyard.cli.options.finite_range import FiniteRange


def options_below(group, context):
    """Every option of every command."""
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        yield from command.params
        if isinstance(command, click.Group):
            yield from options_below(command, click.Context(command, parent=context))


def test_every_option_that_takes_a_number_refuses_one_that_is_not_finite():
    # click.FloatRange and click.FLOAT are of this type too.
    kind = type(click.FLOAT)
    numbers = [
        option
        for option in options_below(program, click.Context(program))
        if isinstance(option.type, kind)
    ]
    assert numbers
    assert [option.name for option in numbers if not isinstance(option.type, FiniteRange)] == []


@pytest.mark.parametrize("text", ["nan", "NaN", "inf", "-inf", "1e400"])
def test_what_is_not_finite_is_refused(text):
    with pytest.raises(click.BadParameter):
        FiniteRange().convert(text, None, None)


def test_limits_hold_as_ever():
    limited = FiniteRange(0, 1, min_open=True)
    assert limited.convert("0.5", None, None) == 0.5
    with pytest.raises(click.BadParameter, match="not in the range"):
        limited.convert("0", None, None)
