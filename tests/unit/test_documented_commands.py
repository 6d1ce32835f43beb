"""Every command line in the README and the docs is one that the program takes."""

import re
import shlex
from pathlib import Path

import click
import pytest

from steelyard.cli.main import program

PAGES = [Path("README.md"), *sorted(Path("docs").rglob("*.md"))]
BLOCK = re.compile(r"^```[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
# Usages, not calls: their words stand for something, or may be left out.
USAGE = re.compile(r"\[[A-Z\-<]|\[--|\.\.\.|…|<[a-z]| \| --|[A-Z]\|[A-Z]|\{[A-Z]|\w\|\w")
CALL = re.compile(r"steelyard +[a-z-]")
DRIVERS = ("cc", "c++", "fc")


def documented():
    for page in PAGES:
        for block in BLOCK.findall(page.read_text("utf-8")):
            for line in block.replace("\\\n", " ").splitlines():
                text = line.strip().removeprefix("$ ")
                if CALL.match(text) and not USAGE.search(text):
                    yield pytest.param(text, id=f"{page}: {text[:60]}")


def words_of(text):
    """The words up to a comment, a pipe or a redirection."""
    lexer = shlex.shlex(text, posix=True, punctuation_chars="|>&;")
    lexer.whitespace_split, lexer.commenters = True, "#"
    words = []
    for word in lexer:
        if word in ("|", ">", "&&", "||", ";", "&"):
            break
        words.append(word)
    return words


@pytest.mark.parametrize("text", list(documented()))
def test_a_documented_command_line_has_a_command_and_options_that_there_are(text):
    words = words_of(text)[1:]
    command, context = program, click.Context(program, info_name="steelyard")
    while isinstance(command, click.Group) and words and not words[0].startswith("-"):
        found = command.get_command(context, words[0])
        assert found is not None, f"there is no command {words[0]}"
        command, words = found, words[1:]
        context = click.Context(command, info_name=command.name, parent=context)
        context.allow_interspersed_args = command.allow_interspersed_args
        context.ignore_unknown_options = command.ignore_unknown_options
    if command.name not in DRIVERS and "--help" not in words:
        command.make_parser(context).parse_args(list(words))


def test_there_are_command_lines_to_check():
    assert len(list(documented())) > 60
