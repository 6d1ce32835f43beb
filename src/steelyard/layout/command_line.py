"""A compiler's command line: what it asks for."""

from __future__ import annotations

import os

from steelyard.core.errors import UsageError
from steelyard.layout import clang_options as options
from steelyard.layout.layout_request import (
    DEFAULT_PARTS,
    LayoutWishes,
    parse_interval,
    parse_parts,
    parse_seed,
)
from steelyard.layout.response_files import expanded_words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


class CommandLine:
    """A compiler's arguments without the options of Steelyard, and what these say.

    Parameters
    ----------
    arguments : sequence of str
        What is passed on. Response files stand in it by their names, as long as nothing in them
        is for Steelyard or has to be left out.
    expanded : sequence of str
        The same with what response files hold.
    wishes : LayoutWishes
        What the options of Steelyard said.
    """

    def __init__(
        self, arguments: Sequence[str], expanded: Sequence[str], wishes: LayoutWishes
    ) -> None:
        self.arguments = tuple(arguments)
        self.expanded = tuple(expanded)
        self.wishes = wishes
        self.linker_words = tuple(_linker_words(self.expanded))
        self.is_query = any(options.is_query(word) for word in self.expanded)
        self._links = self._is_link()
        shared = not options.SHARED.isdisjoint(self.expanded)
        self.is_shared = shared or not options.LINKER_SHARED.isdisjoint(self.linker_words)

    @property
    def links_program(self) -> bool:
        """Whether a program comes out of it, rather than an object, a library or an answer."""
        return self._links and not self.is_shared

    @property
    def links_library(self) -> bool:
        """Whether a shared library comes out of it."""
        return self._links and self.is_shared

    @property
    def left_out(self) -> tuple[str, ...]:
        """What of the link's options is not kept: each with its reason, for the user to read."""
        if not self._links:
            return ()
        found: dict[str, str] = {}
        for word in self.expanded:
            kind = "-gz" if word.startswith("-gz") else word
            found[word] = options.LEFT_OUT.get(kind, "")
        for word in self.linker_words:
            reason = options.LINKER_LEFT_OUT.get(word.partition("=")[0], "")
            found[f"-Wl,{word}"] = reason
        return tuple(f"{word} is left out: {reason}." for word, reason in found.items() if reason)

    @property
    def output(self) -> str:
        """The file that comes out of linking."""
        found = "a.out"
        for word, following in _with_next(self.expanded):
            if word in ("-o", "--output"):
                found = following
            elif word.startswith("-o") and len(word) > len("-o"):
                found = word[len("-o") :]
            elif word.startswith("--output="):
                found = word.partition("=")[2]
        return found

    def inputs(self) -> Iterator[tuple[str, str]]:
        """Each input, libraries among them, with the language that ``-x`` said for it."""
        language, takes, only_inputs = "", "", False
        for word in self.expanded:
            if takes:
                language = word if takes in ("-x", "--language") else language
                takes = ""
            elif word == "--" and not only_inputs:
                only_inputs = True
            elif only_inputs or word == "-" or not word.startswith("-"):
                yield word, language
            elif word in options.TAKES_VALUE:
                if word == "-l":
                    yield word, language
                takes = word
            elif word.startswith("-l"):
                yield word, language
            elif word.startswith(("-x", "--language=")):
                language = word.removeprefix("-x").removeprefix("--language=")

    def _is_link(self) -> bool:
        if self.is_query or not options.NO_LINK.isdisjoint(self.expanded):
            return False
        if not options.NO_PROGRAM.isdisjoint(self.linker_words):
            return False
        return any(not _is_header(word, language) for word, language in self.inputs())


def parse_command_line(
    arguments: Sequence[str], default_parts: tuple[str, ...] = DEFAULT_PARTS
) -> CommandLine:
    """Take the options of Steelyard out of a compiler's arguments.

    Parameters
    ----------
    arguments : sequence of str
        As they were typed.
    default_parts : tuple of str
        What the program is to randomise where they do not say.

    Raises
    ------
    UsageError
        One of them is wrong, or an option of clang's cannot be with a moving program.
    """
    wishes = LayoutWishes(default_parts)
    expanded: list[str] = []
    for word in expanded_words(arguments):
        name, _, value = word.partition("=")
        if name == "--layout":
            wishes.parts = parse_parts(value)
        elif name == "--layout-interval":
            wishes.interval_ns = parse_interval(value)
        elif name == "--layout-seed":
            wishes.seed = parse_seed(value)
        else:
            expanded.append(word)
    from_files = any(word.startswith("@") for word in arguments)
    concerned = from_files and any(_is_ours(word) for word in expanded_words(arguments))
    passed_on = expanded if concerned or not from_files else arguments
    line = CommandLine(passed_on, expanded, wishes)
    _refuse(line)
    return line


def is_replaced(word: str, wishes: LayoutWishes) -> bool:
    """Whether a build decides itself what this word says."""
    if word in options.REPLACED_WITH_PADS:
        return "stack" in wishes.parts
    return word in options.REPLACED or word.startswith(options.REPLACED_PREFIXES)


def is_replaced_linker_word(word: str) -> bool:
    """The same of a word to the linker."""
    prefixes = options.LINKER_REPLACED_PREFIXES
    return word in options.LINKER_REPLACED or word.startswith(prefixes)


def _is_ours(word: str) -> bool:
    own = word.startswith(("--layout=", "--layout-interval=", "--layout-seed="))
    to_linker = word.startswith(("-Wl,", "-Xlinker"))
    return own or to_linker or is_replaced(word, LayoutWishes())


def _refuse(line: CommandLine) -> None:
    for word, following in _with_next(line.expanded):
        if word in options.REFUSED:
            raise UsageError(f"{word} is refused: {options.REFUSED[word]}.", field=word)
        _refuse_sanitizers(word)
        target = following if word == "-target" else ""
        if word.startswith("--target="):
            target = word.partition("=")[2]
        if target and options.is_foreign_target(target):
            raise UsageError(
                f"The target {target} is refused: functions are moved on x86-64 Linux with "
                "glibc only.",
                field="--target",
            )
    if line.links_program:
        _refuse_without_libc(line.expanded)


def _refuse_sanitizers(word: str) -> None:
    option, _, names = word.partition("=")
    if option != "-fsanitize":
        return
    refused = options.REFUSED_SANITIZERS & set(names.split(","))
    if refused:
        raise UsageError(
            f"-fsanitize={min(refused)} is refused: it takes the place of malloc or "
            "pthread_create, as moving programs do. -fsanitize=undefined works.",
            field=word,
        )


def _refuse_without_libc(words: Sequence[str]) -> None:
    for word in words:
        names_it = word in ("-nodefaultlibs", "-nolibc") and "-lc" in words
        if word in options.REFUSED_OF_PROGRAMS and not names_it:
            reason = options.REFUSED_OF_PROGRAMS[word]
            raise UsageError(f"{word} is refused: {reason}.", field=word)


def _is_header(word: str, language: str) -> bool:
    """Whether clang precompiles it instead of compiling it."""
    if language and language != "none":
        return language.endswith("-header")
    return os.path.splitext(word)[1] in options.HEADER_SUFFIXES


def _with_next(words: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Each word with the one behind it; behind the last there is none."""
    return zip(words, (*words[1:], ""), strict=False)


def _linker_words(words: Sequence[str]) -> Iterator[str]:
    for word, following in _with_next(words):
        if word.startswith("-Wl,"):
            yield from word.split(",")[1:]
        elif word == "-Xlinker":
            yield following
