"""What a user writes of commands, taken apart: words, parameters, changes to the environment."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Sequence

from steelyard.core.errors import UsageError

Parameters = tuple[tuple[str, str], ...]
SUITE_PREFIX = "suite:"


def parse_parameters(texts: Sequence[str]) -> list[Parameters]:
    """Every combination of ``name=value,value`` options, the first varying slowest.

    Raises
    ------
    UsageError
        An option has no name or value, or a name comes twice.
    """
    combinations: list[Parameters] = [()]
    seen: set[str] = set()
    for text in texts:
        name, separator, values = text.partition("=")
        if not separator or not name or not all(values.split(",")):
            raise UsageError(
                f"--parameter takes name=value,value such as size=1,10,100; it got {text!r}.",
                field="--parameter",
            )
        if name in seen:
            raise UsageError(f"The parameter {name!r} is given twice.", field="--parameter")
        seen.add(name)
        combinations = [
            (*chosen, (name, value)) for chosen in combinations for value in values.split(",")
        ]
    return combinations


def fill(text: str, parameters: Parameters) -> str:
    """`text` with the value of each parameter in the place of its ``{name}``."""
    for name, value in parameters:
        text = text.replace("{" + name + "}", value)
    return text


def is_suite_name(text: str) -> bool:
    """Whether a command is the name of something in the suite."""
    return text.startswith(SUITE_PREFIX)


# Outside quotes these words are a shell's: redirections, pipes, lists of commands.
_SHELL_WORD = re.compile(r"(\d*|&)(>>?|<<?).*|\|\|?|&&|&|.*;", re.DOTALL)
_QUOTED = re.compile(r"'[^']*'|\"(?:\\.|[^\"\\])*\"|\\.", re.DOTALL)
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=", re.ASCII)


def shell_operator(text: str) -> str | None:
    """The first word of `text` that only a shell understands; None where there is none.

    What is quoted, or follows a backslash, is an argument.
    """
    bare = _QUOTED.sub("_", text)
    return next((word for word in bare.split() if _SHELL_WORD.fullmatch(word)), None)


def leading_assignments(
    words: tuple[str, ...],
) -> tuple[tuple[tuple[str, str], ...], tuple[str, ...]]:
    """The variables that a command sets before its program, as in ``A=1 ./prog``, and the rest.

    A word is one only where a program follows it and no file has its name.
    """
    count = 0
    while count < len(words) - 1 and _ASSIGNMENT.match(words[count]):
        if os.path.exists(words[count]):
            break
        count += 1
    pairs = (word.partition("=")[::2] for word in words[:count])
    return tuple((name, value) for name, value in pairs), words[count:]


def words_of_one(text: str, field: str) -> tuple[str, ...]:
    """The words of a program with its arguments that came as one word, as in ``measure 'sleep 1'``;
    of the name of a program that is there, the name alone."""
    if not any(character.isspace() for character in text) or os.path.exists(text):
        return (text,)
    return split_command(text, field)


def split_command(text: str, field: str) -> tuple[str, ...]:
    """The words of a command, split as a shell splits them but without running one.

    Raises
    ------
    UsageError
        It is empty, a quotation is not closed, or it takes a shell.
    """
    operator = shell_operator(text)
    if operator is not None:
        raise UsageError(
            f"{field} {elided_command(text)!r} has {operator!r}, which only a shell understands. "
            "Add --shell (`shell = true` in an experiment file) to run it by /bin/sh, or quote "
            f"{operator!r} if the program is to get it.",
            field=field,
        )
    try:
        words = tuple(shlex.split(text))
    except ValueError as error:
        raise UsageError(
            f"{field} {text!r} cannot be split into words: {error}. Close the quotation, or use "
            "--shell.",
            field=field,
        ) from None
    if not words or not words[0]:
        raise UsageError(f"{field} is empty: name the program to run.", field=field)
    return words


def elided_command(text: str, limit: int = 60) -> str:
    """`text` as it is named in a message."""
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def step(text: str | None, shell: bool, field: str) -> tuple[str, ...] | None:
    """The words of a command around trials, if there is one."""
    if text is None:
        return None
    return shell_words(text) if shell else split_command(text, field)


def shell_words(command: str) -> tuple[str, ...]:
    """What hands `command` to the shell."""
    return ("/bin/sh", "-c", command)


def parse_environment(texts: Sequence[str]) -> tuple[tuple[str, str | None], ...]:
    """Changes to the environment from ``NAME=VALUE``, or ``NAME`` alone to remove it."""
    changes: list[tuple[str, str | None]] = []
    for text in texts:
        name, separator, value = text.partition("=")
        if not name:
            raise UsageError(
                f"--env takes NAME=VALUE, or NAME to remove it; it got {text!r}.", field="--env"
            )
        changes.append((name, value if separator else None))
    return tuple(changes)


def fill_optional(text: str | None, parameters: Parameters) -> str | None:
    """`fill` where there is a text."""
    return None if text is None else fill(text, parameters)


def one_or_each(texts: tuple[str, ...], count: int, option: str) -> list[str | None]:
    """The text of each of `count` commands: none, the same one for all, or one for each."""
    if len(texts) in (0, 1):
        return [texts[0] if texts else None] * count
    if len(texts) != count:
        raise UsageError(
            f"{option} is given {len(texts)} times for {count} commands: give it once for all "
            "of them, or once for each.",
            field=option,
        )
    return list(texts)
