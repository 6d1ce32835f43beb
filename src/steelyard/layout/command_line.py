"""A compiler's command line: what it asks for, and what a layout build makes of it."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from steelyard.core.errors import UsageError
from steelyard.layout.toolchain import Language, Toolchain
from steelyard.layout.wishes import (
    DEFAULT_PARTS,
    LayoutWishes,
    parse_interval,
    parse_parts,
    parse_seed,
)

# Options after which clang links nothing.
_NO_LINK = frozenset(
    (
        *("-c", "-S", "-E", "-M", "-MM", "-fsyntax-only", "--precompile", "-emit-ast", "-###"),
        *("-r", "-Wl,-r"),
    )
)
_SHARED = {"-shared", "--shared", "-Wl,-shared"}
_QUERIES = ("--version", "--help", "-help", "-dump", "-print-", "--print-", "--target-help")
# Options of clang whose value is the next argument; it must not be taken for an input.
_TAKES_VALUE = frozenset(
    [
        "-o",
        "-x",
        "-I",
        "-D",
        "-U",
        "-L",
        "-l",
        "-T",
        "-u",
        "-z",
        "-B",
        "-F",
        "-MF",
        "-MT",
        "-MQ",
        "-include",
        "-imacros",
        "-isystem",
        "-iquote",
        "-idirafter",
        "-iprefix",
        "-isysroot",
        "-iwithprefix",
        "-iwithprefixbefore",
        "-Xclang",
        "-Xlinker",
        "-Xassembler",
        "-Xpreprocessor",
        "-arch",
        "-target",
        "--target",
        "--sysroot",
        "-mllvm",
        "-framework",
        "-dumpdir",
    ]
)
# What moving takes is decided here, so the opposite is left out of the user's words.
_REPLACED = frozenset(
    [
        "-no-pie",
        "-nopie",
        "-fno-pie",
        "-fno-PIE",
        "-fno-pic",
        "-fno-PIC",
        "-fno-function-sections",
        "-s",
        "-Wl,-s",
        "-Wl,--strip-all",
        "-Wl,-S",
        "-Wl,--strip-debug",
        "-gz",
        "-static-libgcc",
        "-fno-ident",
        "-Qn",
        "-fomit-frame-pointer",
        "-fintegrated-as",
    ]
)
# Of these the user would see something in the program, and is told.
_LEFT_OUT = {
    **dict.fromkeys(
        ("-s", "-Wl,-s", "-Wl,--strip-all", "-Wl,-S", "-Wl,--strip-debug"),
        "functions are found by their symbols; `strip` the program afterwards, it moves still",
    ),
    "-gz": "debugging sections have to be read; `objcopy --compress-debug-sections` it afterwards",
    **dict.fromkeys(
        ("-no-pie", "-nopie", "-fno-pie", "-fno-PIE"),
        "only position-independent programs can move",
    ),
}
_REFUSED_SANITIZERS = frozenset(("address", "hwaddress", "leak", "memory", "thread"))
_REFUSED = {
    "-static": "a program that is linked statically has no dynamic linker to start the runtime; "
    "take -static-libstdc++ for the library of the language",
    "-m32": "functions are moved on x86-64 only",
    "-mx32": "functions are moved on x86-64 only",
    "-fsplit-stack": "stack pads use the field of split stacks",
    "--unwindlib=libunwind": "exceptions find moved functions through libgcc's unwinder",
    "-unwindlib=libunwind": "exceptions find moved functions through libgcc's unwinder",
}
# Of a program; a library finds the runtime in the program that loads it.
_REFUSED_OF_PROGRAMS = {
    "-nostdlib": "the runtime needs the C library",
    "-nodefaultlibs": "the runtime needs the C library; name it with -lc",
    "-nostartfiles": "the runtime is started by the C library's start-up files",
}
_POSITION_INDEPENDENT = frozenset(("-fPIC", "-fpic", "-fPIE", "-fpie"))
_LINKER = ("-fuse-ld=lld", "-Wl,--emit-relocs")
# What shared libraries must find in the program instead of in the C library.
_EXPORTED = [
    "_Unwind_Find_FDE",
    "_Unwind_SetIP",
    "malloc",
    "free",
    "calloc",
    "realloc",
    "reallocarray",
    "memalign",
    "posix_memalign",
    "aligned_alloc",
    "valloc",
    "pvalloc",
    "malloc_usable_size",
    "pthread_create",
    "dlclose",
    "steelyard_layout_enter",
    "steelyard_layout_leave",
]


@dataclass(frozen=True)
class CommandLine:
    """A compiler's arguments without the options of Steelyard, and what these say."""

    arguments: tuple[str, ...]
    expanded: tuple[str, ...]
    wishes: LayoutWishes

    @property
    def links_program(self) -> bool:
        """Whether a program comes out of it, rather than an object, a library or an answer."""
        return self._links and not _SHARED & set(self.expanded)

    @property
    def links_library(self) -> bool:
        """Whether a shared library comes out of it."""
        return self._links and bool(_SHARED & set(self.expanded))

    @property
    def left_out(self) -> tuple[str, ...]:
        """What of the link's options is not kept: each with its reason, for the user to read."""
        if not self._links:
            return ()
        words = dict.fromkeys(word for word in self.expanded if word in _LEFT_OUT)
        return tuple(f"{word} is left out: {_LEFT_OUT[word]}." for word in words)

    @property
    def _links(self) -> bool:
        if any(word in _NO_LINK or word.startswith(_QUERIES) for word in self.expanded):
            return False
        return any(True for _ in self._inputs())

    @property
    def output(self) -> str:
        """The file that comes out of linking."""
        found = "a.out"
        for word, following in zip(self.expanded, (*self.expanded[1:], ""), strict=True):
            if word == "-o":
                found = following
            elif word.startswith("-o") and len(word) > len("-o"):
                found = word[len("-o") :]
            elif word.startswith("--output="):
                found = word.partition("=")[2]
        return found

    def _inputs(self) -> Iterator[str]:
        skip = False
        for word in self.expanded:
            if not skip and (word == "-" or not word.startswith("-") or word.startswith("-l")):
                yield word
            skip = not skip and word in _TAKES_VALUE


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
    parts, interval_ns, seed = wishes.parts, wishes.interval_ns, wishes.seed
    kept: list[str] = []
    for word in arguments:
        name, _, value = word.partition("=")
        if name == "--layout":
            parts = parse_parts(value)
        elif name == "--layout-interval":
            interval_ns = parse_interval(value)
        elif name == "--layout-seed":
            seed = parse_seed(value)
        else:
            kept.append(word)
    expanded = tuple(_expand(kept))
    for word in expanded:
        if word in _REFUSED:
            raise UsageError(f"{word} is refused: {_REFUSED[word]}.", field=word)
        _refuse_sanitizers(word)
    line = CommandLine(tuple(kept), expanded, LayoutWishes(parts, interval_ns, seed))
    if line.links_program:
        _refuse_without_libc(expanded)
    return line


def _refuse_sanitizers(word: str) -> None:
    option, _, names = word.partition("=")
    refused = _REFUSED_SANITIZERS & set(names.split(",")) if option == "-fsanitize" else set()
    if refused:
        raise UsageError(
            f"-fsanitize={min(refused)} is refused: it takes the place of malloc and "
            "pthread_create, as moving programs do. -fsanitize=undefined works.",
            field=word,
        )


def _refuse_without_libc(words: Sequence[str]) -> None:
    for word in words:
        names_it = word == "-nodefaultlibs" and "-lc" in words
        if word in _REFUSED_OF_PROGRAMS and not names_it:
            raise UsageError(f"{word} is refused: {_REFUSED_OF_PROGRAMS[word]}.", field=word)


def compiler_arguments(line: CommandLine, tools: Toolchain, language: Language) -> list[str]:
    """What clang, or gfortran, is to be called with."""
    argv = [tools.compiler]
    argv += [word for word in line.arguments if word not in _REPLACED and not _is_linker(word)]
    if any(word.startswith(_QUERIES) for word in line.expanded):
        return [tools.compiler, *line.arguments]
    argv.append("-ffunction-sections")
    if not _POSITION_INDEPENDENT & set(line.expanded):
        argv.append("-fPIE")
    if language == "fortran":
        argv += _fortran_arguments(line, tools)
    else:
        argv.append("-Wno-unused-command-line-argument")
    if "stack" in line.wishes.parts and language != "fortran":
        argv += _stack_arguments(line, tools)
    if line.links_program:
        argv += _link_arguments(tools)
    elif line.links_library:
        argv += [*_LINKER, *_whole(tools.module)]
    return argv


def relinker_arguments(line: CommandLine, tools: Toolchain) -> list[str]:
    """What the relinker is to be called with after the link."""
    wishes = line.wishes
    numbers = (wishes.mask, wishes.interval_ns, wishes.seed)
    return [tools.relinker, *map(str, numbers), line.output]


def _fortran_arguments(line: CommandLine, tools: Toolchain) -> list[str]:
    if "stack" in line.wishes.parts:
        raise UsageError(
            "Frames are padded in what clang compiles; --layout takes code and heap for Fortran.",
            field="--layout",
        )
    return [f"-B{tools.linker_folder}"]


def _stack_arguments(line: CommandLine, tools: Toolchain) -> list[str]:
    if any(word.startswith("-flto") and word != "-fno-lto" for word in line.expanded):
        raise UsageError(
            "Stack pads are put in by the assembler, and -flto leaves nothing to it; "
            "use --layout=code,heap with it.",
            field="-flto",
        )
    return [
        "-fno-omit-frame-pointer",
        "-momit-leaf-frame-pointer",
        "-fno-integrated-as",
        f"-B{tools.assembler_folder}",
    ]


def _link_arguments(tools: Toolchain) -> list[str]:
    exports = [f"-Wl,--export-dynamic-symbol={name}" for name in _EXPORTED]
    return ["-pie", *_LINKER, *exports, *_whole(tools.runtime)]


def _whole(archive: str) -> list[str]:
    return ["-Wl,--whole-archive", archive, "-Wl,--no-whole-archive"]


def _is_linker(word: str) -> bool:
    return word.startswith("-fuse-ld=")


def _expand(words: Sequence[str]) -> Iterator[str]:
    """The arguments with those of response files in their places."""
    for word in words:
        path = word[1:]
        if word.startswith("@") and os.path.isfile(path):
            with open(path, encoding="utf-8", errors="surrogateescape") as file:
                yield from _expand(shlex.split(file.read()))
        else:
            yield word
