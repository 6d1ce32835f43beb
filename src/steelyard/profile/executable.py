"""The program that a command runs, and the names of the functions at its addresses."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cached_property

import numpy as np

from steelyard.core.decoding import regular_opener
from steelyard.core.errors import UsageError
from steelyard.core.program_path import program_path
from steelyard.profile.symbols.demangling import function_name
from steelyard.profile.symbols.elf_symbols import Symbols, read_symbols


def executable_of(argv: Sequence[str]) -> str:
    """The path of the file that `argv` runs, without symbolic links.

    Raises
    ------
    UsageError
        No program is named, there is none of that name, or it may not be executed.
    """
    if not argv:
        raise UsageError(
            "Which program was it? This profile has no names: give the command after --.",
            field="command",
        )
    return os.path.realpath(program_path(argv[0]))


def is_gprof_build(path: str) -> bool:
    """Whether a program was linked with -pg: its start files then bring one known function."""
    with open(path, "rb", opener=regular_opener) as file:
        return b"__monstartup" in file.read()


def refuse_gprof_build(profiler: str, argv: Sequence[str]) -> None:
    """Refuse a program that profiles itself, for the sake of a profiler that it would disturb.

    Raises
    ------
    UsageError
        The program was linked with -pg.
    """
    if argv and is_gprof_build(executable_of(argv)):
        raise UsageError(
            f"{argv[0]} was built with -pg: its own timer keeps {profiler} from working. Give "
            f"{profiler} a build without.",
            field="--profiler",
        )


class FunctionNames:
    """The functions of one file, by address; what has no symbol has the file's name in brackets."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._names: dict[int, str] = {}

    @cached_property
    def _symbols(self) -> Symbols:
        return read_symbols(self.path)

    def at(self, address: int) -> str:
        """The function at a virtual address of the file."""
        name = self._names.get(address)
        if name is None:
            name = self._names[address] = self._lookup(address)
        return name

    def at_offset(self, offset: int) -> str:
        """The function at a place in the file."""
        found = self._symbols.virtual_addresses(np.array([offset], np.uint64))
        return self.at(int(found[0]))

    def _lookup(self, address: int) -> str:
        index = int(self._symbols.function_indices(np.array([address], np.uint64))[0])
        if index < 0:
            return f"[{os.path.basename(self.path)}]"
        return function_name(self._symbols.names[index])
