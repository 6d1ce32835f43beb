"""Read the command line of a Unix linker: its inputs and their places, its output, its manner.

The options are those that GNU ld, gold and LLVM's lld share; ld(1).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

InputKind = Literal["object", "archive", "bitcode", "other"]

# Options whose value is the next word.
_WITH_VALUE = frozenset(
    """
    -A -F -G -I -T -Y -a -b -c -e -f -h -m -u -y -z -dT -Map -R -assert -dynamic-linker
    -plugin -plugin-opt -rpath -rpath-link -soname -fini -init -mllvm -Tbss -Tdata -Ttext
    -Ttext-segment -Trodata-segment -Tldata-segment -section-start --architecture
    --auxiliary --filter --defsym --dynamic-linker --dynamic-list --entry --fini --format
    --init --just-symbols --library-path --plugin --plugin-opt --retain-symbols-file
    --rpath --rpath-link --script --default-script --section-start --soname --sort-section
    --trace-symbol --undefined --version-script --wrap --hash-style --oformat --out-implib
    --dependency-file --exclude-libs --image-base --thinlto-cache-dir --chroot --threads
    --unresolved-symbols --version-exports-section --dynamic-list-file --Map
    --symbol-ordering-file --section-ordering-file --call-graph-ordering-file
    """.split()  # noqa: SIM905
)
# What makes the layout the project's own business: linker scripts, and orders of its own.
_SCRIPT = (
    "-T",
    "-dT",
    "--script",
    "--default-script",
    "-Ttext",
    "--section-start",
    "-section-start",
)
_ORDERS = (
    "--symbol-ordering-file",
    "--section-ordering-file",
    "--call-graph-ordering-file",
    "--shuffle-sections",
)
STRIPPING = ("-s", "--strip-all")
_PARTIAL = ("-r", "--relocatable", "-i", "-Ur")
_STATIC = {
    **dict.fromkeys(("-Bstatic", "-dn", "-non_shared", "-static", "--static"), True),
    **dict.fromkeys(("-Bdynamic", "-dy", "-call_shared"), False),
}


@dataclass(frozen=True)
class Input:
    """A file given to the linker: where on its line, which, and what it is."""

    position: int
    path: str
    kind: InputKind


@dataclass(frozen=True)
class LinkLine:
    """A call of the linker, understood.

    `args` has no response files any more; `script` and `order_option` are the words by which the
    project itself decides the layout, None where it does not.
    """

    args: tuple[str, ...]
    output: str = "a.out"
    inputs: tuple[Input, ...] = ()
    partial: bool = False
    stripping: bool = False
    script: str | None = None
    order_option: str | None = None
    hides_archives: bool = False

    def with_objects(self, paths: Sequence[str], replaced: Sequence[Input]) -> tuple[str, ...]:
        """The words of the call with `paths` where the first of `replaced` was, without those."""
        gone = {each.position for each in replaced}
        first = min(gone, default=-1)
        found: list[str] = []
        for position, word in enumerate(self.args):
            if position == first:
                found += paths
            if position not in gone:
                found.append(word)
            elif self.args[position - 1] in ("-l", "--library"):
                found.pop()
        return tuple(found)

    def writing_to(self, output: str) -> tuple[str, ...]:
        """The words of the call with another file to write; a later ``-o`` wins."""
        return (*self.args, "-o", output)


@dataclass
class _State:
    static: bool = False
    saved: list[bool] = field(default_factory=list[bool])
    directories: list[str] = field(default_factory=list[str])


def parse_link_line(args: Sequence[str], kind_of: Callable[[str], InputKind]) -> LinkLine:
    """Understand the words of a call, whose response files are expanded.

    Parameters
    ----------
    args : sequence of str
        The call without the name of the linker.
    kind_of : function
        Tells what the file at a path is.
    """
    line = LinkLine(tuple(args))
    state = _State(directories=_directories(args))
    inputs: list[Input] = []
    position = 0
    while position < len(args):
        word = args[position]
        following = args[position + 1] if position + 1 < len(args) else ""
        name, _, value = word.partition("=")
        if word in ("-o", "--output"):
            line = replace(line, output=following)
            position += 1
        elif name == "--output":
            line = replace(line, output=value)
        elif word in ("-l", "--library"):
            position += 1
            inputs += _library(position, following, state, kind_of)
        elif name == "--library" or (word.startswith("-l") and len(word) > 2):
            inputs += _library(position, value or word[2:], state, kind_of)
        elif not word.startswith("-"):
            inputs.append(Input(position, word, kind_of(word)))
        else:
            line = _manner(line, name, word)
            _switch(state, word)
            position += word in _WITH_VALUE or word in ("-L",)
        position += 1
    return replace(line, inputs=tuple(inputs))


def expand_response_files(args: Sequence[str]) -> list[str]:
    """The words with those of each ``@file`` in its place, as libiberty's expandargv reads it."""
    found: list[str] = []
    for word in args:
        if word.startswith("@") and os.path.isfile(word[1:]):
            with open(word[1:], encoding="utf-8", errors="surrogateescape") as file:
                found += expand_response_files(split_response(file.read()))
        else:
            found.append(word)
    return found


def split_response(text: str) -> list[str]:
    """The words of a response file: white space parts them, quotes and backslashes keep it."""
    words: list[str] = []
    word: list[str] | None = None
    quote = ""
    characters = iter(text)
    for character in characters:
        if character == "\\":
            word = word or []
            word.append(next(characters, ""))
        elif quote:
            if character == quote:
                quote = ""
            elif word is not None:
                word.append(character)
        elif character in "'\"":
            word = word or []
            quote = character
        elif character.isspace():
            if word is not None:
                words.append("".join(word))
            word = None
        else:
            word = word or []
            word.append(character)
    if word is not None:
        words.append("".join(word))
    return words


def quote_response(words: Sequence[str]) -> str:
    """A response file that holds `words`."""
    special = "\\'\" \t\r\n\f\v"
    return "\n".join(
        "".join(f"\\{each}" if each in special else each for each in word) or '""' for word in words
    )


def _manner(line: LinkLine, name: str, word: str) -> LinkLine:
    if word in _PARTIAL:
        return replace(line, partial=True)
    if word in STRIPPING:
        return replace(line, stripping=True)
    if name in _SCRIPT or (word.startswith("-T") and not word.startswith(("-Tbss", "-Tdata"))):
        return replace(line, script=word)
    if name in _ORDERS:
        return replace(line, order_option=word)
    if name == "--exclude-libs":
        return replace(line, hides_archives=True)
    return line


def _switch(state: _State, word: str) -> None:
    state.static = _STATIC.get(word, state.static)
    if word == "--push-state":
        state.saved.append(state.static)
    elif word == "--pop-state" and state.saved:
        state.static = state.saved.pop()


def _directories(args: Sequence[str]) -> list[str]:
    """Where ``-l`` looks: every ``-L`` counts for all of the line."""
    found: list[str] = []
    for word, following in zip(args, [*args[1:], ""], strict=True):
        if word in ("-L", "--library-path"):
            found.append(following)
        elif word.startswith("-L"):
            found.append(word[2:])
        elif word.startswith("--library-path="):
            found.append(word.partition("=")[2])
    return found


def _library(
    position: int, name: str, state: _State, kind_of: Callable[[str], InputKind]
) -> list[Input]:
    names = [f"lib{name}.a"] if state.static else [f"lib{name}.so", f"lib{name}.a"]
    if name.startswith(":"):
        names = [name[1:]]
    for directory in state.directories:
        for file in names:
            path = os.path.join(directory, file)
            if os.path.exists(path):
                return [Input(position, path, kind_of(path))]
    return []
