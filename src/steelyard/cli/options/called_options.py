"""Options as keywords: what a call says by name becomes the words of the command line.

So a keyword takes what the option of its name takes, is checked as that is, and a new option is a
keyword at once.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import click

from steelyard.core.errors import UsageError

Command = str | Sequence[str]


def command_text(command: Command) -> str:
    """A command as one text: as it stands, or quoted from its words.

    Raises
    ------
    UsageError
        It is neither a text nor a sequence of texts.
    """
    if isinstance(command, str):
        return command
    words = list(command) if isinstance(command, Sequence) else [command]
    if not words or not all(isinstance(word, str) for word in words):
        raise UsageError(
            f"A command is a text such as 'gzip -6 -c f' or a list of words; it got {command!r}.",
            field="command",
        )
    return shlex.join(words)


def option_words(command: click.Command, options: Mapping[str, Any]) -> list[str]:
    """The words that give a command these options.

    Parameters
    ----------
    command : click.Command
    options : mapping of str to value
        By the option's name with ``_`` in place of ``-``. True gives a flag; None and False give
        nothing; a sequence gives the option once for each item; a mapping once for each pair, as
        ``NAME=VALUE``, ``NAME`` where the value is None, ``NAME=V,V`` where it is a sequence.

    Raises
    ------
    UsageError
        The command has no such option, or the value fits no option.
    """
    known = keywords_of(command)
    words: list[str] = []
    for keyword, value in options.items():
        option = known.get(keyword)
        if option is None:
            raise UsageError(
                f"{command.name} has no option {keyword!r}. It has: {', '.join(sorted(known))}.",
                field=keyword,
            )
        words += _words_of(option, value)
    return words


def option_values(command: click.Command, options: Mapping[str, Any]) -> dict[str, Any]:
    """The same as values by the names that click has for options, as its `default_map` takes.

    Raises
    ------
    UsageError
        As `option_words` does.
    """
    known = keywords_of(command)
    values: dict[str, Any] = {}
    for keyword, value in options.items():
        option, name = known[keyword], known[keyword].opts[-1]
        found: Any = value
        if option.is_flag:
            if not isinstance(value, bool):
                raise UsageError(f"{name} is on or off; it got {value!r}.", field=name)
        elif option.multiple:
            found = list(_texts(name, value))
        else:
            found = _text(name, value)
        values[str(option.name)] = found
    return values


def given_options(command: click.Command, words: Sequence[str]) -> dict[str, None]:
    """The keywords of the options that these words give, whatever their values."""
    named = {word.partition("=")[0] for word in _before_dashes(words)}
    return {
        keyword: None
        for keyword, option in keywords_of(command).items()
        if named & {*option.opts, *option.secondary_opts}
    }


def arguments_of(command: click.Command, words: Sequence[str]) -> list[str]:
    """The words that are no options and no values of options."""
    with command.make_context(
        command.name, list(words), resilient_parsing=True, ignore_unknown_options=True
    ) as context:
        found = [context.params.get(p.name or "") for p in command.params if _is_argument(p)]
    return [word for value in found for word in (value or ())]


def _is_argument(parameter: click.Parameter) -> bool:
    return isinstance(parameter, click.Argument)


def _before_dashes(words: Sequence[str]) -> Sequence[str]:
    return words[: words.index("--")] if "--" in words else words


def keywords_of(command: click.Command) -> dict[str, click.Option]:
    """The options that may be keywords, by their names: all but those about printing."""
    return {
        option.opts[-1].removeprefix("--").replace("-", "_"): option
        for option in command.params
        if isinstance(option, click.Option) and option.name not in ("json_target", "help")
    }


def _words_of(option: click.Option, value: Any) -> Iterator[str]:
    name = option.opts[-1]
    if value is None or value is False:
        return
    if option.is_flag:
        if value is not True:
            raise UsageError(f"{name} is on or off; it got {value!r}.", field=name)
        yield name
        return
    for text in _texts(name, value) if option.multiple else [_text(name, value)]:
        # Never two words: a value that begins with - is no option.
        yield f"{name}={text}"


def _texts(name: str, value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield str(key) if item is None else f"{key}={_joined(name, item)}"
    elif isinstance(value, Sequence) and not isinstance(value, str):
        for item in value:
            yield _text(name, item)
    else:
        yield _text(name, value)


def _joined(name: str, item: Any) -> str:
    if isinstance(item, str) or not isinstance(item, Sequence):
        return _text(name, item)
    texts = [_text(name, each) for each in item]
    if any("," in text for text in texts):
        raise UsageError(f"A value of {name} in a list has no comma; it got {item!r}.", field=name)
    return ",".join(texts)


def _text(name: str, value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise UsageError(f"{name} takes a text or a number; it got {value!r}.", field=name)
    return value if isinstance(value, str) else repr(value)
