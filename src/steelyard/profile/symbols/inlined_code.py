"""Which functions the compiler had put at an address, by a file's debugging information."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from os.path import normpath
from typing import IO, Any

from steelyard.core.elf_file import LOADED_SEGMENT, ElfFile, from_elf
from steelyard.core.native_program import native_program
from steelyard.profile.symbols.debug_files import (
    package_file,
    separate_file,
    split_file,
    supplementary_file,
)
from steelyard.profile.symbols.debug_sections import Section, debug_sections

_EXECUTABLE = 1  # PF_X
_INFORMATION = (".debug_info", ".zdebug_info")


@dataclass(frozen=True)
class DescribedFunction:
    r"""A function as debugging information tells of it.

    Parameters
    ----------
    entry : int
        The virtual address where its own code begins; 0 where it has none.
    linkage_name : str
        As symbols are called; empty where nothing is said of it.
    name : str
        As a programmer writes it, with its scopes where there is no `linkage_name`. Linkage names
        in it stand between ``\x01`` and ``\x02``.
    last_part : str
        Without scopes and parameters.
    source : str
        The path of the file that it is written in, where other sources do not see it (``static``);
        empty where they do, or where nothing is said of it.
    """

    entry: int
    linkage_name: str
    name: str
    last_part: str
    source: str = ""


def symbolizer_path() -> str:
    """The installed reader of debugging information.

    Raises
    ------
    MissingCapabilityError
        It was not built.
    """
    return native_program("steelyard-symbolizer", "the symbolizer")


def described_functions(
    path: str, addresses: Sequence[int], missing: set[str] | None = None
) -> list[tuple[DescribedFunction, ...]]:
    """For each virtual address of a file the functions there, the outermost last.

    All but the last were inlined into the next one.

    Parameters
    ----------
    path : str
    addresses : sequence of int
    missing : set of str or None
        Takes the files of split units that describe code at these addresses and are not there.

    Returns
    -------
    list of tuple
        Empty ones where nothing is described, or what describes it is damaged.
    """
    nothing: list[tuple[DescribedFunction, ...]] = [()] * len(addresses)
    source = debug_source(path)
    if not addresses or source is None:
        return nothing
    rising = sorted(set(addresses))
    with tempfile.TemporaryDirectory(prefix="steelyard-") as folder:
        found = _asked(path, source, rising, folder, set() if missing is None else missing)
    if found is None:
        return nothing
    at = dict(zip(rising, found, strict=True))
    return [at[address] for address in addresses]


def debug_source(path: str) -> str | None:
    """The file that describes the code of `path`: itself, or its separate one; or None."""
    for candidate in (path, separate_file(path)):
        if candidate is not None and from_elf(candidate, _has_information, False):
            return candidate
    return None


def _has_information(elf: ElfFile) -> bool:
    sections = (elf.section(name) for name in _INFORMATION)
    return any(section is not None and section.is_in_file for section in sections)


def _code_of(elf: ElfFile) -> list[tuple[int, int]]:
    return [
        (segment.address, segment.address + segment.memory_bytes)
        for segment in elf.segments_of(LOADED_SEGMENT)
        if segment.flags & _EXECUTABLE
    ]


def _asked(
    path: str, source: str, rising: Sequence[int], folder: str, missing: set[str]
) -> list[tuple[DescribedFunction, ...]] | None:
    """What the symbolizer answers; None where it does not."""
    lines = [*_section_lines("main", debug_sections(source, folder))]
    supplement = supplementary_file(source)
    if supplement is not None:
        lines += _section_lines("alt", debug_sections(supplement, folder))
    lines += [f"code\t{low:x}\t{high:x}" for low, high in from_elf(path, _code_of, [])]
    lines += [f"address\t{address:x}" for address in rising]
    with subprocess.Popen(
        [symbolizer_path()],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        encoding="utf-8",
        errors="surrogateescape",
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            _send(process.stdin, lines)
            answer = list(_answer(process, path, source, folder, missing))
        except BrokenPipeError:
            answer = []
        process.stdin.close()
    found = list(_chains(answer))
    return found if process.returncode == 0 and len(found) == len(rising) else None


def _send(pipe: IO[str], lines: Iterable[str]) -> None:
    pipe.write("\n".join([*lines, "end\n"]))
    pipe.flush()


def _answer(
    process: Any, path: str, source: str, folder: str, missing: set[str]
) -> Iterator[list[str]]:
    """The lines of an answer; where it asks for the files of split units it is told these."""
    wanted: list[list[str]] = []
    for line in process.stdout:
        fields = line.rstrip("\n").split("\t")
        if fields[0] == "dwo":
            wanted.append(fields)
        elif fields[0] == "wanted":
            _send(process.stdin, _split_lines(wanted, path, source, folder, missing))
        else:
            yield fields


def _split_lines(
    wanted: Sequence[Sequence[str]], path: str, source: str, folder: str, missing: set[str]
) -> Iterator[str]:
    package = package_file(path, source)
    if package is not None:
        yield from _section_lines("dwp", debug_sections(package, folder))
    for _, number, name, compiled_in in wanted:
        found = split_file(path, name, compiled_in)
        if found is not None:
            yield from _section_lines(number, debug_sections(found, folder))
        elif package is None:
            missing.add(name)


def _section_lines(which: str, sections: Iterable[Section]) -> Iterator[str]:
    for section in sections:
        # A name that is two lines names nothing that could be opened.
        if "\n" not in section.path and "\t" not in section.path:
            place = f"{section.path}\t{section.offset}\t{section.size}"
            yield f"section\t{which}\t{section.name}\t{place}"


def _chains(lines: Iterable[Sequence[str]]) -> Iterator[tuple[DescribedFunction, ...]]:
    functions: list[DescribedFunction] = []
    for kind, *fields in lines:
        if kind == "function":
            entry, naming, name, last, source = fields
            linkage = name if naming == "linkage" else ""
            described = (int(entry, 16), linkage, "" if linkage else name, last)
            functions.append(DescribedFunction(*described, normpath(source) if source else ""))
        elif kind == "at":
            yield tuple(functions[int(number)] for number in reversed(fields))
