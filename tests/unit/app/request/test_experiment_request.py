from dataclasses import replace

import pytest

from steelyard.app.request.command_text import parse_environment, parse_parameters, split_command
from steelyard.app.request.experiment_request import build_variants
from steelyard.app.request.request import Request
from steelyard.core.errors import UsageError
from steelyard.core.experiment_spec import ExperimentSpec


def names(request):
    return [variant.name for variant in build_variants(request)]


def test_a_command_is_split_as_a_shell_would_but_nothing_is_expanded():
    assert split_command("a 'b c' $HOME *", "command") == ("a", "b c", "$HOME", "*")


def test_an_open_quotation_is_told_with_the_command():
    with pytest.raises(UsageError, match="cannot be split") as caught:
        split_command("echo 'a", "command")
    assert caught.value.field == "command"


def test_the_shell_gets_the_command_as_it_stands():
    variant = build_variants(Request(commands=(("a | b",),), shell=True))[0]
    assert variant.launch.argv == ("/bin/sh", "-c", "a | b")


def test_commands_alike_get_names_that_differ():
    assert names(Request(commands=(("true",), ("true",)))) == ["true", "true [2]"]


def test_given_names_go_to_the_commands_in_order():
    assert names(Request(commands=(("a",), ("b",)), names=("old",))) == ["old", "b"]


def test_more_names_than_commands_are_refused():
    with pytest.raises(UsageError, match="--name is given 2 times"):
        build_variants(Request(commands=(("a",),), names=("x", "y")))


def test_a_sweep_of_one_command_is_one_group():
    variants = build_variants(Request(commands=(("p", "{n}"),), parameters=("n=1,2",)))
    assert [variant.launch.argv for variant in variants] == [("p", "1"), ("p", "2")]
    assert {variant.group for variant in variants} == {""}


def test_a_sweep_of_two_commands_compares_at_equal_parameters():
    variants = build_variants(Request(commands=(("a", "{n}"), ("b", "{n}")), parameters=("n=1,2",)))
    spec = ExperimentSpec("id", "comparison", variants, (), seed=1)
    assert spec.groups() == ((0, 1), (2, 3))
    request = Request(commands=(("a", "{n}"), ("b", "{n}")), names=("a", "b"))
    assert names(replace(request, parameters=("n=1,2",))) == [
        "a (n=1)",
        "b (n=1)",
        "a (n=2)",
        "b (n=2)",
    ]


def test_a_parameter_that_stands_nowhere_is_refused_and_one_of_the_environment_is_not():
    with pytest.raises(UsageError, match="--parameter n is used nowhere"):
        build_variants(Request(commands=(("a",), ("b",)), parameters=("n=1,2",)))
    used = Request(commands=(("a",),), environment=("N={n}",), parameters=("n=1,2",))
    assert len(build_variants(used)) == 2


def test_parameters_reach_preparation_and_files():
    variant = build_variants(
        Request(
            commands=(("p",),),
            prepare=("make {n}",),
            stdin_file="in-{n}",
            parameters=("n=7",),
        )
    )[0]
    assert variant.prepare == ("make", "7")
    assert variant.launch.stdin_file == "in-7"


@pytest.mark.parametrize("text", ["size", "=1", "size=", "size=1,,2"])
def test_a_parameter_without_name_or_value_is_refused(text):
    with pytest.raises(UsageError, match="--parameter takes"):
        parse_parameters([text])


def test_two_parameters_give_every_combination():
    assert parse_parameters(["a=1,2", "b=x,y"]) == [
        (("a", "1"), ("b", "x")),
        (("a", "1"), ("b", "y")),
        (("a", "2"), ("b", "x")),
        (("a", "2"), ("b", "y")),
    ]


def test_a_variable_without_value_is_removed():
    assert parse_environment(["A=1", "B=", "C"]) == (("A", "1"), ("B", ""), ("C", None))


def test_preparation_comes_once_for_all_or_once_for_each():
    both = build_variants(Request(commands=(("a",), ("b",)), prepare=("p",)))
    each = build_variants(Request(commands=(("a",), ("b",)), prepare=("p", "q")))
    assert [variant.prepare for variant in both] == [("p",), ("p",)]
    assert [variant.prepare for variant in each] == [("p",), ("q",)]
    with pytest.raises(UsageError, match="once for all"):
        build_variants(Request(commands=(("a",),), prepare=("p", "q")))


def test_an_empty_command_is_refused():
    with pytest.raises(UsageError, match="empty"):
        build_variants(Request(commands=((),)))
