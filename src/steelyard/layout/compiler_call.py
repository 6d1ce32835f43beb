"""What a layout build calls: the compiler with its own options among the user's, the relinker."""

from __future__ import annotations

from steelyard.core.errors import UsageError
from steelyard.layout import clang_options as options
from steelyard.layout.command_line import is_replaced, is_replaced_linker_word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from steelyard.layout.command_line import CommandLine
    from steelyard.layout.toolchain import Language, Toolchain

# By one thread: lld's threads race where they scan relocations (LLVM's pull request 208956).
# With two of them 3 of 240 links of one program lost relocations in silence, and 2 crashed.
_LINKER = ("-fuse-ld=lld", "-Wl,--emit-relocs", "-Wl,--threads=1")


def compiler_arguments(line: CommandLine, tools: Toolchain, language: Language) -> list[str]:
    """What clang, or gfortran, is to be called with."""
    if line.is_query:
        return [tools.compiler, *line.arguments]
    words = list(_kept_words(line))
    # What stands behind `--` are inputs.
    end = words.index("--") if "--" in words else len(words)
    own = _own_words(line, tools, language)
    return [tools.compiler, *words[:end], *own, *words[end:]]


def relinker_arguments(line: CommandLine, tools: Toolchain) -> list[str]:
    """What the relinker is to be called with after the link."""
    wishes = line.wishes
    numbers = (wishes.mask, wishes.interval_ns, wishes.seed)
    return [tools.relinker, *map(str, numbers), line.output]


def _own_words(line: CommandLine, tools: Toolchain, language: Language) -> Iterator[str]:
    yield "-ffunction-sections"
    if options.POSITION_INDEPENDENT.isdisjoint(line.expanded):
        yield "-fPIE"
    if language == "fortran":
        yield from _fortran_words(line, tools)
    else:
        yield "-Wno-unused-command-line-argument"
    if "stack" in line.wishes.parts and language != "fortran":
        yield from _stack_words(line, tools)
    if line.links_program:
        yield "-pie"
        yield from _LINKER
        yield from (f"-Wl,--export-dynamic-symbol={name}" for name in options.EXPORTED)
        if any(word.lstrip("-").startswith("version-script") for word in line.linker_words):
            # What that script hides, libraries would not find.
            yield from ("-Xlinker", f"--version-script={tools.exports}")
        # Objects, as --exclude-libs hides what archives define.
        yield from ("-Xlinker", tools.runtime)
        # Where the program, or a library that is linked into it, has a malloc, that stays.
        yield from _to_linker("--start-lib", tools.allocator, "--end-lib")
    elif line.links_library:
        yield from _LINKER
        yield from _to_linker("--whole-archive", tools.module, "--no-whole-archive")
    elif not options.LINKER_QUERIES.isdisjoint(line.linker_words):
        yield _LINKER[0]


def _kept_words(line: CommandLine) -> Iterator[str]:
    to_linker = False
    for word in line.arguments:
        if to_linker:
            to_linker = False
            if not is_replaced_linker_word(word):
                yield from ("-Xlinker", word)
        elif word == "-Xlinker":
            to_linker = True
        elif word.startswith("-Wl,"):
            kept = [part for part in word.split(",") if not is_replaced_linker_word(part)]
            if len(kept) > 1:
                yield ",".join(kept)
        elif not is_replaced(word, line.wishes):
            yield word


def _fortran_words(line: CommandLine, tools: Toolchain) -> Sequence[str]:
    if "stack" in line.wishes.parts:
        raise UsageError(
            "Frames are padded in what clang compiles; --layout takes code and heap for Fortran.",
            field="--layout",
        )
    return (f"-B{tools.linker_folder}",)


def _stack_words(line: CommandLine, tools: Toolchain) -> Sequence[str]:
    if any(word.startswith("-flto") for word in line.expanded):
        raise UsageError(
            "Stack pads are put in by the assembler, and -flto leaves nothing to it; "
            "use --layout=code,heap with it.",
            field="-flto",
        )
    return (
        "-fno-omit-frame-pointer",
        "-momit-leaf-frame-pointer",
        "-fno-integrated-as",
        f"-B{tools.pads_folder}",
    )


def _to_linker(*words: str) -> Sequence[str]:
    """As words to the linker: an input would be of the language that ``-x`` said last."""
    return tuple(part for word in words for part in ("-Xlinker", word))
