import pytest

from steelyard.app.dimension.initial_experiment import initial_counts, names_experiment


@pytest.mark.parametrize(
    ("asked", "counts"),
    [
        ({}, {"execution": 30}),
        ({"iterations": True}, {"execution": 30, "iteration": 30}),
        ({"builds": True}, {"build": 30, "execution": 30}),
        ({"builds": True, "iterations": True}, {"build": 20, "execution": 10, "iteration": 10}),
        ({"named": ["a=x y"], "builds": True}, {"a": 20, "build": 10, "execution": 10}),
        ({"repeat": ["execution=7"], "iterations": True}, {"execution": 7, "iteration": 30}),
        (
            {"repeat": ["build=1"], "builds": True, "iterations": True},
            {"build": 1, "execution": 30, "iteration": 30},
        ),
    ],
)
def test_counts_that_are_not_said_follow_from_the_number_of_levels(asked, counts):
    known = {"named": [], "repeat": [], "builds": False, "iterations": False, **asked}
    found = initial_counts(known.pop("named"), known.pop("repeat"), **known)
    assert dict(text.split("=") for text in found) == {k: str(v) for k, v in counts.items()}


@pytest.mark.parametrize(
    ("words", "is_experiment"),
    [
        (("latest",), True),
        (("01M7YECEA7ECHTG6P9Y2JFQJZA",), True),
        (("01m7ye",), True),
        (("ls",), False),
        (("0ok",), False),
        (("./01",), False),
        (("latest", "now"), False),
        ((), False),
    ],
)
def test_an_experiment_is_told_from_a_command(words, is_experiment):
    assert names_experiment(words) is is_experiment
