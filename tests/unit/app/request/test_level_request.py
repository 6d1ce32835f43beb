import pytest

from steelyard.app.request.level_request import requested_levels
from steelyard.core.errors import UsageError
from steelyard.core.repetition import RepetitionLevel


def ask(named=(), repeat=(), *, builds=False, iterations=False):
    return requested_levels(named, repeat, builds=builds, iterations=iterations)


def names_and_counts(found):
    return [(level.name, level.count) for level in found.levels]


def test_executions_alone_need_no_levels():
    assert ask() == ask(repeat=())
    assert ask().levels == ()
    found = ask(repeat=["execution=30"])
    assert (found.levels, found.top_level, found.top_count) == ((), "execution", 30)


def test_builds_are_the_highest_level_and_executions_come_once_in_each():
    found = ask(builds=True)
    assert names_and_counts(found) == [("build", None), ("execution", 1)]
    assert (found.top_level, found.top_count) == ("build", None)


def test_a_count_of_the_highest_level_is_the_number_of_its_repetitions_in_all():
    found = ask(repeat=["build=5", "execution=3"], builds=True)
    assert names_and_counts(found) == [("build", None), ("execution", 3)]
    assert found.top_count == 5


def test_one_build_in_all_is_no_level():
    found = ask(repeat=["build=1", "execution=7"], builds=True)
    assert (found.levels, found.top_level, found.top_count) == ((), "execution", 7)


def test_levels_of_the_user_stand_above_in_their_order_with_their_commands():
    found = ask(
        named=["machine", "reboot=./restart --now"],
        repeat=["build=3", "iteration=20", "reboot=2"],
        builds=True,
        iterations=True,
    )
    assert found.levels == (
        RepetitionLevel("machine", None),
        RepetitionLevel("reboot", 2, ("./restart", "--now")),
        RepetitionLevel("build", 3),
        RepetitionLevel("execution", 1),
    )
    assert found.iteration_count == 20


def test_below_a_level_of_the_user_one_build_is_a_new_one_for_each():
    found = ask(named=["session"], repeat=["build=1"], builds=True)
    assert names_and_counts(found) == [("session", None), ("build", 1), ("execution", 1)]


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"repeat": ["build=3"]}, "--repeat build needs a --build command"),
        ({"repeat": ["iteration=3"]}, "needs --iterations"),
        ({"repeat": ["machine=3"]}, "the levels are execution"),
        ({"repeat": ["execution"]}, "takes LEVEL=COUNT"),
        ({"repeat": ["execution=0"]}, "takes LEVEL=COUNT"),
        ({"repeat": ["execution=2", "execution=3"]}, "names execution twice"),
        ({"named": ["build"]}, "is there without being named"),
        ({"named": ["a", "a"]}, "named twice"),
        ({"named": ["=x"]}, "takes NAME or NAME=CMD"),
        ({"named": ["a="]}, "names no command"),
        ({"named": ["a='x"]}, "cannot be split"),
        ({"named": ["a"], "repeat": ["a=1"]}, "repeats nothing"),
    ],
)
def test_what_cannot_be_is_told(asked, message):
    with pytest.raises(UsageError, match=message):
        ask(**asked)
