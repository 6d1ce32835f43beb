"""Where the code of a function is that somebody names: in a program, or in its libraries."""

from __future__ import annotations

import ctypes
import os
import re
import subprocess
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np

from steelyard.analysis.profiles.profile_samples import Frame
from steelyard.core.errors import UsageError
from steelyard.profile.symbols.code_places import code_places
from steelyard.profile.symbols.demangling import function_name, readable_name
from steelyard.profile.symbols.elf_symbols import Symbols, read_symbols
from steelyard.profile.symbols.same_names import told_apart

_LIBRARY = re.compile(r"^\s*(\S+) => (/.*) \(0x[0-9a-f]+\)$")
_LIMIT_S = 30.0


class FunctionPlace(NamedTuple):
    """A function: the file that it is in, and where its code begins in that file."""

    path: str
    offset: int


def find_function(
    text: str, program: str | None, environment: Mapping[str, str | None] | None = None
) -> FunctionPlace:
    """The function that `text` names.

    Parameters
    ----------
    text : str
        ``NAME``, in the program or else in the first library that has it; ``FILE:NAME``, where FILE
        may be what the program calls a library (``libc.so.6``). The name is that of a symbol, with
        or without its version, or what `steelyard profile report` shows, with the source where
        functions of several have that name (``init [net.c]``).
    program : str or None
        Its path, where it is there already.
    environment : mapping or None
        What of the environment is changed for the program, where None removes a variable: it may
        lead to other libraries.

    Raises
    ------
    UsageError
        There is no such file or function, or functions of several sources have that name.
    """
    file, name = split_place(text)
    if not file:
        if program is None:
            raise UsageError(
                f"The program of {name!r} is not there yet: name its file, as FILE:{name}.",
                field="--function",
            )
        paths = [program, *libraries_of(program, environment).values()]
    else:
        paths = [file_of(file, text, program, environment)]
    for path in paths:
        found = _in_file(os.path.realpath(path), name)
        if found is not None:
            return found
    where = f"{os.path.realpath(paths[0])} has" if file else f"{paths[0]} and its libraries have"
    raise UsageError(
        f"{where} no function {name!r} among the symbols; a stripped file has only those that "
        "others call.",
        field="--function",
    )


def split_place(text: str) -> tuple[str, str]:
    """The file and the name of ``FILE:NAME``; the colons of C++ and Rust part nothing."""
    found = re.search(r"(?<!:):(?!:)", text.partition(" [")[0])
    return (text[: found.start()], text[found.end() :]) if found else ("", text)


def file_of(
    file: str, text: str, program: str | None, environment: Mapping[str, str | None] | None = None
) -> str:
    """The path of a file, or of the library that the program knows by that name.

    Raises
    ------
    UsageError
        There is neither.
    """
    if os.path.isfile(file):
        return os.path.realpath(file)
    libraries = libraries_of(program, environment) if program else {}
    if file in libraries:
        return os.path.realpath(libraries[file])
    known = f" The program's libraries: {', '.join(libraries)}." if libraries else ""
    raise UsageError(f"There is no file {file!r} for {text!r}.{known}", field="--function")


def libraries_of(
    program: str, environment: Mapping[str, str | None] | None = None
) -> dict[str, str]:
    """The libraries that a program is started with, by its names for them; in its order.

    As its own loader tells (``ldd``): none for scripts, and for programs that are static.
    """
    changed = {**os.environ, **(environment or {})}
    try:
        told = subprocess.run(
            ["ldd", program],
            env={name: value for name, value in changed.items() if value is not None},
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_LIMIT_S,
            check=False,
        ).stdout
    except (OSError, subprocess.SubprocessError):
        return {}
    lines = (_LIBRARY.match(line) for line in told.splitlines())
    return {found[1]: found[2] for found in lines if found}


def _in_file(path: str, wanted: str) -> FunctionPlace | None:
    symbols = read_symbols(path)
    for index in _of_name(symbols, wanted):
        if symbols.aliases.indirect[index]:
            return _chosen(path, wanted)
        _refuse_several(path, symbols, index)
        return _place_of(path, symbols, index)
    name, space, source = wanted.rpartition(" [")
    sources = _sources(path, symbols, name) if space and source.endswith("]") else {}
    return next(
        (_place_of(path, symbols, i) for i, told in sources.items() if _ends(told, source[:-1])),
        None,
    )


def _place_of(path: str, symbols: Symbols, index: int) -> FunctionPlace:
    address = symbols.aliases.addresses[index : index + 1]
    return FunctionPlace(path, int(file_offsets(symbols, address)[0]))


def _sources(path: str, symbols: Symbols, name: str) -> dict[int, str]:
    """The symbols of that name that one source alone sees, with the source of each."""
    indices = sorted(set(_of_name(symbols, name)))
    addresses = symbols.aliases.addresses[indices].tolist()
    told = zip(indices, code_places(path, symbols, addresses), strict=True)
    return {index: place.sources[-1] for index, place in told if any(place.sources[-1:])}


def _ends(path: str, end: str) -> bool:
    return path == end or path.endswith(f"/{end}")


def _refuse_several(path: str, symbols: Symbols, index: int) -> None:
    symbol = symbols.aliases.names[index]
    often = [number for number, name in enumerate(symbols.aliases.names) if name == symbol]
    if len(often) < 2:
        return
    sources = _sources(path, symbols, symbol.decode("utf-8", "replace"))
    frames = [(Frame(function_name(symbol), path), source) for source in sources.values()]
    names = sorted({frame.name for frame in told_apart(frames)})
    if len(names) > 1:
        plain = names[0].rpartition(" [")[0]
        raise UsageError(
            f"{path} has {len(names)} functions {plain!r}: name one of them, {', '.join(names)}.",
            field="--function",
        )


def _of_name(symbols: Symbols, wanted: str) -> Iterator[int]:
    for index, symbol in enumerate(symbols.aliases.names):
        plain = symbol.decode("utf-8", "replace")
        if wanted == plain or wanted == plain.partition("@")[0]:
            yield index
    for index, symbol in enumerate(symbols.aliases.names):
        if wanted in (readable_name(symbol), function_name(symbol)):
            yield index


def file_offsets(symbols: Symbols, addresses: np.ndarray) -> np.ndarray:
    """Offsets in the file of virtual addresses; one in no segment stays as it is."""
    offsets = addresses.copy()
    for offset, size, start in symbols.segments:
        inside = (addresses >= start) & (addresses < start + size)
        offsets[inside] = addresses[inside] - np.uint64(start) + np.uint64(offset)
    return offsets


def _chosen(path: str, name: str) -> FunctionPlace:
    """The code that this machine's processor calls for a function with several versions.

    Its symbol stands for code that chooses one when a program starts. A library that is loaded here
    too, as the C library is, has chosen.

    Raises
    ------
    UsageError
        The library is not loaded here.
    """
    with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as maps:
        fields = [line.rstrip("\n").split(None, 5) for line in maps]
    own = [part for part in fields if len(part) == 6 and os.path.realpath(part[5]) == path]
    if own:
        function = getattr(ctypes.CDLL(path), name, None)
        address = ctypes.cast(function, ctypes.c_void_p).value or 0 if function else 0
        for part in own:
            begin, end = (int(word, 16) for word in part[0].split("-"))
            if begin <= address < end:
                return FunctionPlace(path, address - begin + int(part[2], 16))
    raise UsageError(
        f"{name!r} of {path} has several versions, of which a program calls the one for its "
        "processor: name that one, such as NAME_avx2.",
        field="--function",
    )
