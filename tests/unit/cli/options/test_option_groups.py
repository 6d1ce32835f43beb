import ast
import dataclasses
import importlib
import pkgutil
import types
import typing
from pathlib import Path

import click
import pytest

import steelyard.cli
from steelyard.cli.options.idle_options import all_but, refuse_idle
from steelyard.cli.options.once_option import make_strict
from steelyard.cli.options.option_groups import gathered, group, option, options_of, takes
from steelyard.core.errors import UsageError

SOURCES = Path(steelyard.cli.__file__).parent


def modules():
    found = pkgutil.walk_packages(steelyard.cli.__path__, "steelyard.cli.")
    return [importlib.import_module(item.name) for item in found if not item.ispkg]


def groups():
    """Every dataclass of the command line that has options of its own."""
    return [
        kind
        for module in modules()
        for kind in vars(module).values()
        if isinstance(kind, type)
        and kind.__module__ == module.__name__
        and dataclasses.is_dataclass(kind)
        and any("option" in item.metadata for item in dataclasses.fields(kind))
    ]


def own_options(kind):
    """The options of a group itself, as click has them, with the types that are declared."""
    hints = typing.get_type_hints(kind)
    for item in dataclasses.fields(kind):
        if "option" in item.metadata:
            declarations, attributes = item.metadata["option"]
            yield hints[item.name], click.Option([*declarations, item.name], **attributes)


def value_type(found):
    """The Python type of what an option's type makes of one word."""
    if isinstance(found, click.Choice):
        return str
    names = {"integer": int, "integer range": int, "float range": float, "boolean": bool}
    return names.get(found.name, str)


def unsaid(made):
    """The value of an option in a call without it."""
    return click.Command("x", params=[made]).make_context("x", []).params[made.name]


def parts(hint):
    """The types that a value may have, without None, and whether it may be None."""
    union = typing.get_args(hint) if isinstance(hint, types.UnionType) else (hint,)
    return [part for part in union if part is not type(None)], type(None) in union


@pytest.mark.parametrize("kind", groups(), ids=lambda kind: kind.__name__)
def test_the_type_of_every_option_is_what_click_makes_of_it(kind):
    for hint, made in own_options(kind):
        (declared,), may_be_none = parts(hint)
        if made.multiple:
            assert typing.get_origin(declared) is tuple, made.opts
            declared = typing.get_args(declared)[0]
        elif made.is_flag and not made.secondary_opts:
            assert declared is bool, made.opts
        if made.nargs > 1:
            values = typing.get_args(declared)
            assert values == (value_type(made.type),) * made.nargs, made.opts
            declared = values[0]
        assert may_be_none is (not made.required and unsaid(made) is None), made.opts
        if typing.get_origin(declared) is typing.Literal:
            assert isinstance(made.type, click.Choice), made.opts
            assert set(typing.get_args(declared)) == set(made.type.choices), made.opts
        else:
            assert declared is value_type(made.type), made.opts


def test_options_are_declared_in_groups():
    assert len(groups()) > 30
    assert sum(len(list(own_options(kind))) for kind in groups()) > 150


def test_no_command_looks_an_option_up_by_its_name():
    found = []
    for path in SOURCES.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            called = isinstance(node, ast.Call) and ast.unparse(node.func)
            if called == "click.option" and path.name != "option_groups.py":
                found.append(f"{path}:{node.lineno} declares an option outside of a group")
            looked_up = isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant)
            if looked_up and ast.unparse(node.value) in ("values", "options", "given", "params"):
                found.append(f"{path}:{node.lineno} looks an option up by its name")
    assert found == []


@dataclasses.dataclass(frozen=True, kw_only=True)
class Inner:
    runs: int | None = option("--runs", type=int)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Outer:
    names: tuple[str, ...] = option("--name", multiple=True)
    inner: Inner = group(Inner)
    quiet: bool = option("--quiet", is_flag=True)


def test_a_command_receives_its_groups_with_the_values_that_were_given():
    received = []

    @click.command()
    @takes(Outer)
    @click.argument("word")
    def command(given: Outer, word: str) -> None:
        received.append((given, word))

    command.main(["--runs", "3", "--name", "a", "--name", "b", "w"], standalone_mode=False)
    expected = Outer(names=("a", "b"), inner=Inner(runs=3), quiet=False)
    assert received == [(expected, "w")]


def test_options_stand_in_the_order_of_their_fields_through_nested_groups():
    assert [item.name for item in options_of(Outer)] == ["names", "runs", "quiet"]


def test_a_group_that_is_made_without_values_has_those_of_a_call_without_options():
    @click.command()
    @takes(Outer)
    def command(given: Outer) -> Outer:
        return given

    assert command.main([], standalone_mode=False) == Outer()


def test_gathering_takes_the_values_out_and_leaves_the_arguments():
    values = {"runs": 3, "names": (), "quiet": True, "word": "w"}
    assert gathered(Outer, values) == Outer(inner=Inner(runs=3), quiet=True)
    assert values == {"word": "w"}


def call_with(applies):
    @click.command()
    @takes(Outer)
    def command(given: Outer) -> None:
        refuse_idle("here", applies())

    return make_strict(command)


def test_an_option_that_does_nothing_is_refused_and_one_that_does_is_not():
    command = call_with(lambda: {"runs"})
    command.main(["--runs", "3"], standalone_mode=False)
    with pytest.raises(UsageError, match="--quiet does not belong here"):
        command.main(["--quiet"], standalone_mode=False)


@pytest.mark.parametrize("applies", [lambda: {"rnus"}, lambda: all_but({"rnus"})])
def test_a_misspelt_parameter_among_those_that_apply_is_found_at_the_first_call(applies):
    with pytest.raises(LookupError, match="rnus"):
        call_with(applies).main([], standalone_mode=False)
