"""A compilation of one file as two calls: clang's, which writes assembly, and the assembler's.

Where clang calls the assembler itself, it compiles in a second process, whose start takes half of
the time of a small file. Only calls whose every word is known to mean the same both ways are split.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard.layout.command_line import CommandLine
    from steelyard.layout.toolchain import Toolchain

_SUFFIXES = (".c", ".cc", ".cpp", ".cxx", ".C", ".c++", ".CPP", ".i", ".ii")
_LANGUAGES = ("c", "c++")
_WITH_NEXT = frozenset(
    (
        *("-I", "-D", "-U", "-o", "-x", "-include", "-isystem", "-iquote", "-idirafter"),
        *("-MF", "-MT", "-MQ", "-imacros"),
    )
)
_WORDS = frozenset(
    (
        *("-O", "-O0", "-O1", "-O2", "-O3", "-Os", "-Oz", "-Og", "-Ofast"),
        *("-c", "-w", "-pthread", "-pipe", "-pedantic", "-ansi", "-MD", "-MMD", "-MP", "-g", "-g0"),
        *("-gdwarf-4", "-gdwarf-5", "-fPIC", "-fPIE", "-fpic"),
        *("-fpie", "-fexceptions", "-fwrapv", "-fcommon", "-fopenmp", "-fsigned-char"),
        *("-funsigned-char", "-ffunction-sections", "-fdata-sections", "-funroll-loops"),
        *("-fomit-frame-pointer", "-fstrict-aliasing", "-fasynchronous-unwind-tables"),
        *("-fstack-clash-protection", "-fcf-protection", "-ffast-math", "-pedantic-errors"),
    )
)
_PREFIXES = (
    *("-I", "-D", "-U", "-std=", "-march=", "-mtune=", "-fvisibility=", "-fno-"),
    *("-fvisibility-", "-fstack-protector", "-fcf-protection=", "-fdiagnostics-", "-mavx", "-msse"),
    *("-x", "-fmessage-length="),
)


def split_compile(
    line: CommandLine, tools: Toolchain, argv: Sequence[str], assembly: str
) -> tuple[list[str], list[str]] | None:
    """The two calls instead of `argv`, which goes to clang; None where it stays one.

    Parameters
    ----------
    line : CommandLine
        What the user typed.
    tools : Toolchain
        Whose assembler puts pads into frames.
    argv : sequence of str
        The one call.
    assembly : str
        A file for what clang writes.
    """
    is_compile = "-c" in argv and "stack" in line.wishes.parts
    from_files = any(word.startswith("@") for word in argv)
    if not is_compile or from_files or not _is_known(line.expanded):
        return None
    source = _only_source(line)
    if source is None:
        return None
    output = _output(line.expanded) or f"{os.path.splitext(os.path.basename(source))[0]}.o"
    compiled = ["-S" if word == "-c" else word for word in _without_output(argv)]
    assembler = [os.path.join(tools.pads_folder, "as"), "--64", *_folders(line.expanded)]
    assembler += ["-o", output, assembly, *_debugging(line.expanded)]
    return [*compiled, "-o", assembly], assembler


def _is_known(words: Sequence[str]) -> bool:
    takes_value = False
    for word in words:
        if takes_value and word.startswith("-"):
            return False
        if takes_value or word in _WORDS or not word.startswith("-"):
            takes_value = False
        elif word in _WITH_NEXT:
            takes_value = True
        elif word.startswith("-W"):
            if word.startswith(("-Wa,", "-Wp,", "-Wl,")):
                return False
        elif not word.startswith(_PREFIXES):
            return False
    # What depends on what has to be named after the object, and clang would name the assembly.
    names = {word for word in words if word in ("-MD", "-MMD", "-MF", "-MT", "-MQ")}
    makes_rules = bool(names & {"-MD", "-MMD"})
    return not takes_value and (not makes_rules or ("-MF" in names and len(names) > 2))


def _only_source(line: CommandLine) -> str | None:
    inputs = [*line.inputs()]
    if len(inputs) != 1 or "--" in line.expanded:
        return None
    name, language = inputs[0]
    if language in ("", "none"):
        return name if name.endswith(_SUFFIXES) else None
    return name if language in _LANGUAGES and name != "-" else None


def _output(words: Sequence[str]) -> str:
    found = ""
    for at, word in enumerate(words):
        if word == "-o" and at + 1 < len(words):
            found = words[at + 1]
    return found


def _without_output(argv: Sequence[str]) -> list[str]:
    """The words but `-o` and its file. No known word has a value that could be `-o`."""
    kept: list[str] = []
    skips = False
    for word in argv:
        if skips:
            skips = False
        elif word == "-o":
            skips = True
        else:
            kept.append(word)
    return kept


def _folders(words: Sequence[str]) -> list[str]:
    """Where the assembler looks for what assembly within the source includes."""
    found: list[str] = []
    for at, word in enumerate(words):
        if word == "-I":
            found += ["-I", words[at + 1]]
        elif word.startswith("-I"):
            found += ["-I", word[2:]]
    return found


def _debugging(words: Sequence[str]) -> list[str]:
    chosen = [word for word in words if word.startswith("-g")]
    if not chosen or chosen[-1] == "-g0":
        return []
    versions = [word for word in chosen if word.startswith("-gdwarf-")]
    plain = [word for word in chosen if not word.startswith("-gdwarf-")]
    return [
        *(["-g"] if plain and plain[-1] == "-g" else []),
        versions[-1] if versions else "-gdwarf-5",
    ]
