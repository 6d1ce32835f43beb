"""The project's own objects and archives among the inputs of a link, as modules of a layout."""

from __future__ import annotations

import os
import re
import tempfile
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from steelyard.build import static_library
from steelyard.build.code_layout import CodeSection, Module
from steelyard.build.elf_functions import read_elf_functions
from steelyard.build.link_line import Input, InputKind, LinkLine
from steelyard.core.elf_file import MAGIC, RELOCATABLE

_SYSTEM = ("/usr/", "/lib/", "/lib32/", "/lib64/", "/opt/")
# What compiler drivers bring of their own: start and end of every program.
_BITCODE_MAGICS = (b"BC\xc0\xde", b"\xde\xc0\x17\x0b")  # LLVM: Bitcode Format, "Magic Numbers"
_START_FILE = re.compile(r"^(crt|Scrt|gcrt|rcrt|Mcrt|grcrt)[A-Za-z0-9]*\.o$")
_COMPILED_SOURCE = re.compile(r"\.(c|cc|cpp|cxx|c\+\+|C|m|mm|f|f77|f90|f95|f03|f08|F|F90|for|d)$")
_ARCHIVE_LINE = re.compile(r"^\((?P<a>.+)\)(?P<m>[^()]+)$|^(?P<a2>.+)\((?P<m2>[^()]+)\)$")


@dataclass(frozen=True)
class ReadModule:
    """A module, and what stands against moving its functions."""

    module: Module
    source: str
    lto: bool
    lumped_count: int

    @property
    def compiled_whole(self) -> bool:
        """Whether a compiler put several functions into one section. Assembly may well do that
        for a reason, and moves as one."""
        return self.lumped_count > 1 and bool(_COMPILED_SOURCE.search(self.source))


def kind_of(path: str) -> InputKind:
    """What the file at `path` is, by its first bytes."""
    try:
        with open(path, "rb") as file:
            start = file.read(20)
    except OSError:
        return "other"
    if start.startswith(_BITCODE_MAGICS):
        return "bitcode"
    if start.startswith((static_library.MAGIC, static_library.THIN_MAGIC)):
        return "archive"
    if start.startswith(MAGIC) and len(start) == 20:
        order = "little" if start[5] == 1 else "big"
        return "object" if int.from_bytes(start[16:18], order) == RELOCATABLE else "other"
    return "other"


def own_inputs(line: LinkLine, directory: str) -> list[Input]:
    """The inputs that are the project's, as against those of the system and the compiler."""
    root = os.path.realpath(directory) + "/"
    found: list[Input] = []
    for each in line.inputs:
        path = os.path.realpath(each.path)
        outside = not path.startswith(root) and path.startswith(_SYSTEM)
        if each.kind != "other" and not outside and not _START_FILE.match(os.path.basename(path)):
            found.append(each)
    return found


def read_module(path: str, label: str) -> ReadModule:
    """The module of one object file.

    Raises
    ------
    NotElfError
        It cannot be read as one.
    """
    with open(path, "rb") as file:
        if kind_of(path) == "bitcode":
            return ReadModule(Module(label, path, ()), label, True, 0)
        object_file = read_elf_functions(file)
    names: dict[str, list[str]] = {
        section.name: []
        for section in object_file.sections
        if section.code and section.size_bytes and _is_text(section.name)
    }
    lumped: set[int] = set()
    for each in object_file.functions:
        section = object_file.sections[each.section]
        if section.name in names:
            names[section.name].append(each.name)
        if section.name == ".text":
            lumped.add(each.address)
    sections = tuple(CodeSection(name, tuple(functions)) for name, functions in names.items())
    module = Module(label, path, sections)
    return ReadModule(module, object_file.source, object_file.holds_lto, len(lumped))


def _is_text(name: str) -> bool:
    return name == ".text" or name.startswith(".text.")


def read_modules(objects: Sequence[tuple[str, str]]) -> list[ReadModule]:
    """The modules of objects given as (path, name), with labels that tell them apart: the name,
    the source where the compiler gave the object a passing name, and a number where that is not
    the first of its name."""
    counts: Counter[str] = Counter()
    labelled: list[ReadModule] = []
    for path, given in objects:
        found = read_module(path, given)
        passing = os.path.dirname(os.path.realpath(path)) == _temporary()
        name = (found.source or given) if passing else given
        counts[name] += 1
        label = name if counts[name] == 1 else f"{name}#{counts[name]}"
        labelled.append(replace(found, module=replace(found.module, label=label)))
    return labelled


def _temporary() -> str:
    return os.path.realpath(tempfile.gettempdir())


class ArchiveKeptError(ValueError):
    """The members of an archive cannot be told apart, so it stays as it is."""


def loaded_objects(
    trace: Iterable[str], inputs: Sequence[Input], directory: str, work: str
) -> list[tuple[str, str]]:
    """The objects that a link took in, in its order, as (path, name).

    Parameters
    ----------
    trace : iterable of str
        What the linker wrote with ``--trace``.
    inputs : sequence of Input
        The project's own. Members of its archives are written into files in `work`.
    directory : str
        That of the build: names are relative to it.

    Raises
    ------
    ArchiveKeptError
        Two members of one archive have the same name.
    """
    known: dict[tuple[str, str], tuple[str, str]] = {}
    for number, each in enumerate(inputs):
        path = os.path.realpath(each.path)
        if each.kind == "archive":
            folder = os.path.join(work, str(number))
            known.update(_members(path, folder, os.path.relpath(path, directory)))
        else:
            known[path, ""] = (each.path, os.path.relpath(path, os.path.realpath(directory)))
    found: dict[tuple[str, str], None] = {}
    for line in trace:
        match = _ARCHIVE_LINE.match(line.rstrip("\n"))
        if match:
            key = (os.path.realpath(match["a"] or match["a2"]), match["m"] or match["m2"])
        else:
            key = (os.path.realpath(line.rstrip("\n")), "")
        if key in known:
            found[known[key]] = None
    return list(found)


def _members(path: str, folder: str, name: str) -> dict[tuple[str, str], tuple[str, str]]:
    """Every way in which linkers call the members of an archive, with the file of each."""
    found: dict[tuple[str, str], tuple[str, str]] = {}
    os.makedirs(folder, exist_ok=True)
    for member in static_library.read_archive(path):
        base = os.path.basename(member.name)
        if (path, base) in found:
            raise ArchiveKeptError(f"{name} has two members called {base}")
        file = member.path
        if file is None:
            file = os.path.join(folder, base)
            with open(file, "wb") as written:
                written.write(member.data)
        entry = (file, f"{name}({base})")
        found[path, base] = found[path, member.name] = entry
        if member.path is not None:
            found[os.path.realpath(file), ""] = found[path, file] = entry
    return found
