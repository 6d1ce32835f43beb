"""The ambiguous keys of a map, for a recording that walks stacks where it is at one of them."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from steelyard.analysis.paths.lookup import KeyedPaths
from steelyard.analysis.paths.path_map import PathMap
from steelyard.core.decoding import regular_opener
from steelyard.core.elf_file import ElfFile, NotElfError
from steelyard.core.errors import DataError
from steelyard.profile.paths.call_stubs import stub_span
from steelyard.profile.paths.crash_key import whole_functions
from steelyard.profile.recording_request import Recording
from steelyard.profile.symbols.frame_rules import FrameTables


@contextmanager
def walking_ambiguous(recording: Recording, path_map: PathMap, program: str) -> Iterator[Recording]:
    """A recording like the given one, whose sampler knows the ambiguous keys of a map.

    Parameters
    ----------
    recording : Recording
    path_map : PathMap
    program : str
        The file that the map is of.

    Raises
    ------
    DataError
        The file cannot be read as a program.
    """
    with tempfile.TemporaryDirectory(prefix="steelyard-keys-") as folder:
        path = os.path.join(folder, "keys")
        with open(path, "w", encoding="ascii") as file:
            file.writelines(f"{line}\n" for line in key_lines(path_map, program))
        yield replace(recording, walk_keys=path)


def key_lines(path_map: PathMap, program: str) -> Iterator[str]:
    """What the sampler reads: the parts of functions, and of each key with several paths the
    callers of each of those, innermost first. What leads calls on is a part of no function, 0."""
    own, stubs = _starts_of(program)
    for stub in stubs:
        yield f"part {stub} 0"
    starts = {*path_map.functions, *own}
    whole = whole_functions(program, starts)
    for part, function in whole.items():
        if part != function:
            yield f"part {part} {function}"
    for function, height_bytes, routes in KeyedPaths(path_map, whole).ambiguous():
        yield f"key {function} {height_bytes}"
        for route in sorted(routes):
            yield " ".join(("path", *map(str, reversed(route[:-1]))))


def _starts_of(program: str) -> tuple[list[int], list[int]]:
    """Functions, and the wrappers and marks of calls."""
    try:
        with open(program, "rb", opener=regular_opener) as file:
            elf = ElfFile(file)
            starts, _ = FrameTables(elf).spans()
            begin, end = stub_span(elf)
    except (OSError, NotElfError):
        raise DataError(f"{program} cannot be read as a program.", field="command") from None
    all_starts = starts.tolist()
    stubs = [one for one in all_starts if begin <= one < end]
    return [one for one in all_starts if not begin <= one < end], stubs
