"""Options of the command line as keywords of a call."""

from __future__ import annotations

import pytest

from steelyard.cli.options.called_options import command_text, keywords_of, option_words
from steelyard.cli.weigh.compare_command import command as compare_command
from steelyard.cli.weigh.measure_command import command as measure_command
from steelyard.cli.weigh.resume_command import command as resume_command
from steelyard.core.errors import UsageError


@pytest.mark.parametrize("command", [measure_command, compare_command, resume_command])
def test_every_option_but_those_of_printing_is_a_keyword(command):
    options = {option for p in command.params for option in p.opts if option.startswith("--")}
    keywords = {f"--{name.replace('_', '-')}" for name in keywords_of(command)}
    assert keywords == options - {"--json"}


GIVEN = {
    "text": ({"note": "a b"}, ["--note=a b"]),
    "number": ({"runs": 10}, ["--runs=10"]),
    "share": ({"precision": 0.01}, ["--precision=0.01"]),
    "on": ({"quiet": True}, ["--quiet"]),
    "off": ({"quiet": False, "seed": None}, []),
    "value like an option": ({"note": "--quiet"}, ["--note=--quiet"]),
    "once": ({"metric": "max_rss"}, ["--metric=max_rss"]),
    "several": ({"metric": ["a", "b"]}, ["--metric=a", "--metric=b"]),
    "pairs": ({"env": {"A": 1, "B": None}}, ["--env=A=1", "--env=B"]),
    "lists": ({"parameter": {"level": [1, 6]}}, ["--parameter=level=1,6"]),
    "underscores": ({"exit_code": [0, 3]}, ["--exit-code=0", "--exit-code=3"]),
}


@pytest.mark.parametrize("name", GIVEN)
def test_a_keyword_becomes_the_words_of_its_option(name):
    options, words = GIVEN[name]
    assert option_words(compare_command, options) == words


WRONG = {
    "misspelt": ({"precison": "1%"}, r"has no option 'precison'\. It has: "),
    "of printing": ({"json": "-"}, "has no option 'json'"),
    "a flag's text": ({"quiet": "yes"}, "--quiet is on or off; it got 'yes'"),
    "an object": ({"note": object()}, "--note takes a text or a number"),
    "true as number": ({"runs": True}, "--runs takes a text or a number; it got True"),
    "a list for one": ({"note": ["a", "b"]}, "--note takes a text or a number"),
    "bytes": ({"metric": [b"x"]}, "--metric takes a text or a number"),
    "a comma in a list": ({"parameter": {"a": ["1,2"]}}, "has no comma"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_keyword_that_no_option_takes_is_refused_by_name(name):
    options, message = WRONG[name]
    with pytest.raises(UsageError, match=message):
        option_words(compare_command, options)


def test_the_words_of_a_command_are_quoted_into_one_text():
    assert command_text(["sh", "-c", "echo a b"]) == "sh -c 'echo a b'"
    assert command_text("sh -c x") == "sh -c x"


@pytest.mark.parametrize("command", [[], 3, ["a", 1], [b"a"], None])
def test_what_is_no_command_is_refused(command):
    with pytest.raises(UsageError, match="A command is a text"):
        command_text(command)
