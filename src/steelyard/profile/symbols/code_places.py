"""The functions at addresses of a file, by its symbols and its debugging information."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from steelyard.profile.symbols.demangling import (
    base_name,
    function_name,
    is_part,
    is_rust,
    readable_name,
)
from steelyard.profile.symbols.elf_symbols import Symbols
from steelyard.profile.symbols.inlined_code import DescribedFunction, described_functions
from steelyard.profile.symbols.same_code import twins
from steelyard.profile.symbols.same_names import is_one_source

_LINKAGE = re.compile("\x01([^\x02]*)\x02")
_IDENTIFIER = re.compile(r"\w+")
_LOCAL_NUMBER = re.compile(r"\.\d+$")


class CodePlace(NamedTuple):
    """The functions at an address, the inmost first: all but the last were inlined there.

    `is_part` says that the code is the rest of the last function, which gcc had made a function of
    its own (``.part``) so that it could inline the beginning: the caller of one is the other.
    `sources` has for each function the file that it is written in, where other sources may have one
    of that name; empty where they cannot, or where nothing is said of it. `twins` are the other
    functions that the last one's code is of: compilers and linkers keep one of several alike.
    """

    names: tuple[str, ...] = ()
    is_part: bool = False
    sources: tuple[str, ...] = ()
    twins: tuple[str, ...] = ()


def code_places(
    path: str,
    symbols: Symbols,
    addresses: Sequence[int],
    *,
    inlined: bool = True,
    clones_apart: bool = False,
    missing: set[str] | None = None,
) -> list[CodePlace]:
    """What stands at virtual addresses of a file.

    Parameters
    ----------
    path : str
    symbols : Symbols
        Of that file.
    addresses : sequence of int
    inlined : bool
        Read debugging information, which tells of inlined functions.
    clones_apart : bool
        Name the copies and parts that gcc makes of a function for themselves.
    missing : set of str or None
        Takes the files that would tell of inlined functions and are not there.

    Returns
    -------
    list of CodePlace
        Without names where neither symbols nor debugging information know the address.
    """
    indices = symbols.function_indices(np.array(addresses, np.uint64)).tolist()
    described: Sequence[tuple[DescribedFunction, ...]] = [()] * len(addresses)
    if inlined:
        described = described_functions(path, addresses, missing)
    names = _Names(symbols, clones_apart)
    return [names.place(index, chain) for index, chain in zip(indices, described, strict=True)]


class _Names:
    """One name for a function, whether it was inlined or not."""

    def __init__(self, symbols: Symbols, clones_apart: bool) -> None:
        self._symbols = symbols
        self._clones_apart = clones_apart
        self._known: dict[DescribedFunction, str] = {}
        self._twins: dict[int, tuple[str, ...]] = {}

    def place(self, index: int, chain: Sequence[DescribedFunction]) -> CodePlace:
        inner = [(self._described(function), function.source) for function in chain[:-1]]
        if index < 0:
            outer = self._described(chain[-1]) if chain else ""
            if not outer:
                return CodePlace()
            return _place([*inner, (outer, chain[-1].source)], is_rest=False)
        symbol = self._symbols.names[index]
        outer = function_name(symbol, self._clones_apart)
        rest = is_part(symbol) and not self._clones_apart
        source = (chain[-1].source if chain else "") or self._source_of(index, symbol)
        place = _place([*inner, (outer, source)], is_rest=rest)
        return place._replace(twins=self._twins_of(index))

    def _twins_of(self, index: int) -> tuple[str, ...]:
        """The other functions whose code a symbol's is, by their names."""
        found = self._twins.get(index)
        if found is None:
            aliases = self._symbols.aliases.at(int(self._symbols.addresses[index]))
            found = self._twins[index] = twins(self._symbols.names[index], aliases)
        return found

    def _source_of(self, index: int, symbol: bytes) -> str:
        """By the symbols; empty where these name what a linker or several units made."""
        source = self._symbols.sources[index] if self._symbols.sources else b""
        # Units of Rust are made by the compiler, and each may have its own copy of a generic one.
        is_made = source.startswith(b"<") or source.endswith(b".o") or is_rust(symbol)
        return "" if is_made else source.decode("utf-8", "replace")

    def _described(self, function: DescribedFunction) -> str:
        found = self._known.get(function)
        if found is None:
            found = self._known[function] = self._name(function)
        return found

    def _name(self, function: DescribedFunction) -> str:
        linkage = function.linkage_name
        symbol = b"" if linkage.startswith("_Z") else self._symbol_of(function)
        if symbol or linkage:
            return function_name(symbol or linkage.encode())
        return _LINKAGE.sub(lambda part: readable_name(part[1].encode()), function.name)

    def _symbol_of(self, function: DescribedFunction) -> bytes:
        """The symbol of a function's own code; empty where it has none, or another's stands there.

        Linkers put functions of like code together, and several names may stand for one.
        """
        if not function.entry:
            return b""
        aliases = list(self._symbols.aliases.at(function.entry))
        if not any(_is_called(function, alias.decode("utf-8", "replace")) for alias in aliases):
            return b""
        index = int(self._symbols.function_indices(np.array([function.entry], np.uint64))[0])
        return self._symbols.names[index] if index >= 0 else b""


def _place(functions: Iterable[tuple[str, str]], *, is_rest: bool) -> CodePlace:
    """A place by the names and sources of its functions, each once in a row.

    gcc parts a function in two, and where it puts both together again it tells of the function as
    inlined into itself. A recursion that it inlined looks the same.
    """
    kept: list[tuple[str, str]] = []
    for name, source in functions:
        if kept and kept[-1][0] == name and is_one_source(kept[-1][1], source):
            kept[-1] = (name, max(kept[-1][1], source, key=len))
        elif name:
            kept.append((name, source))
    return CodePlace(tuple(name for name, _ in kept), is_rest, tuple(at for _, at in kept))


def _is_called(function: DescribedFunction, symbol: str) -> bool:
    base = base_name(symbol)
    if function.linkage_name:
        return base == function.linkage_name
    # gcc numbers functions inside of others: those of C, Fortran and Ada.
    if base == function.last_part or _LOCAL_NUMBER.sub("", base) == function.last_part:
        return True
    # A function of C++ that only its unit sees is described without its name for linkers.
    found = _IDENTIFIER.search(function.last_part)
    return base.startswith("_Z") and found is not None and found[0] in base
