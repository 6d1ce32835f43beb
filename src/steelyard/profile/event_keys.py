"""Call paths of events of which the registers alone were recorded: by their keys, out of a map."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from steelyard.analysis.events.call_paths import OTHER_BUILD
from steelyard.analysis.paths.lookup import Candidate, KeyedPaths
from steelyard.analysis.paths.named_candidates import common_end
from steelyard.analysis.paths.sampled_paths import NOT_LEARNT
from steelyard.core.decoding import regular_opener
from steelyard.core.elf_file import ElfFile, NotElfError
from steelyard.profile.paths.aligned_stacks import with_alignments
from steelyard.profile.paths.crash_key import whole_functions
from steelyard.profile.paths.learning_run import build_of
from steelyard.profile.paths.map_file import read_map
from steelyard.profile.paths.sample_keys import (
    ELSEWHERE,
    FRAME_POINTER,
    LACKS,
    NO_FRAME,
    NO_STACK,
)
from steelyard.profile.symbols.elf_symbols import read_symbols
from steelyard.profile.symbols.frame_rules import (
    STACK_POINTER,
    FrameTables,
    UnreadableRulesError,
)

if TYPE_CHECKING:
    from steelyard.analysis.paths.path_map import PathMap

Key = tuple[int, int]
Function = tuple[str, str]


class Register(NamedTuple):
    """Where an event was, and how far its registers were from where its stack begins; -1: not
    known."""

    file: int
    offset: int
    stack_bytes: int
    frame_bytes: int


@dataclass(frozen=True)
class FoundPath:
    """What the map says of some events.

    Parameters
    ----------
    path : tuple of (name, file)
        The functions, outermost first; of several candidates what they end with alike, and none
        where `reason` says why.
    candidates : tuple of (share, path)
        Those of an ambiguous key.
    """

    path: tuple[Function, ...]
    candidates: tuple[tuple[float, tuple[Function, ...]], ...] = ()
    reason: str = ""

    @property
    def outcome(self) -> str:
        """``resolved``, ``ambiguous`` or ``missing``."""
        return "missing" if self.reason else "ambiguous" if self.candidates else "resolved"


def found_paths(
    map_path: str, files: Sequence[str], recorded: Iterable[Register]
) -> dict[Register, FoundPath]:
    """Look up what a recorder noted.

    Parameters
    ----------
    map_path : str
    files : sequence of str
        By the numbers in `recorded`.
    recorded : iterable of Register

    Raises
    ------
    DataError
        The map or the program cannot be read.
    """
    path_map = read_map(map_path)
    of_files: dict[int, list[Register]] = {}
    for one in recorded:
        of_files.setdefault(one.file, []).append(one)
    found: dict[Register, FoundPath] = {}
    for file, here in of_files.items():
        reason = _foreign(files[file], path_map)
        if reason:
            found |= dict.fromkeys(here, FoundPath((), reason=reason))
        else:
            found |= _in_program(files[file], path_map, here)
    return found


def _foreign(path: str, path_map: PathMap) -> str:
    """Why a file is not what the map is of; empty where it is."""
    try:
        if path.startswith("/") and not path.startswith("//") and build_of(path) == path_map.build:
            return ""
    except OSError:
        pass
    return OTHER_BUILD if os.path.basename(path) == path_map.program else LACKS[ELSEWHERE]


def _in_program(
    path: str, path_map: PathMap, recorded: Sequence[Register]
) -> dict[Register, FoundPath]:
    keys = _keys(path, recorded)
    functions = {key[0] for key in keys.values() if not isinstance(key, str)}
    whole = whole_functions(path, functions | set(path_map.functions))
    # The recorder notes heights, and not where stacks begin: paths of any of these are candidates.
    keyed = KeyedPaths(with_alignments(path_map, path), whole)
    found: dict[Register, FoundPath] = {}
    for one, key in keys.items():
        if isinstance(key, str):
            found[one] = FoundPath((), reason=key)
        else:
            found[one] = _told(keyed.candidates(whole[key[0]], key[1]), path)
    return found


def _told(candidates: tuple[Candidate, ...], file: str) -> FoundPath:
    if not candidates:
        return FoundPath((), reason=NOT_LEARNT)
    path = _in_file(common_end(candidates), file)
    if len(candidates) == 1:
        return FoundPath(path)
    return FoundPath(path, tuple((one.share, _in_file(one.functions, file)) for one in candidates))


def _in_file(names: Iterable[str], file: str) -> tuple[Function, ...]:
    return tuple((name, file) for name in names)


def _keys(path: str, recorded: Sequence[Register]) -> dict[Register, Key | str]:
    """The key of each, or why it has none."""
    offsets = np.array([one.offset for one in recorded], np.uint64)
    addresses = read_symbols(path).virtual_addresses(offsets).tolist()
    try:
        with open(path, "rb", opener=regular_opener) as file:
            tables = FrameTables(ElfFile(file))
    except (OSError, NotElfError):
        return dict.fromkeys(recorded, LACKS[NO_FRAME])
    return {
        one: _key(tables, address, one) for one, address in zip(recorded, addresses, strict=True)
    }


def _key(tables: FrameTables, address: int, one: Register) -> Key | str:
    try:
        found = tables.at(address)
    except UnreadableRulesError:
        found = None
    if found is None or found[1].register not in (STACK_POINTER, FRAME_POINTER):
        return LACKS[NO_FRAME]
    function, rules = found
    depth = one.stack_bytes if rules.register == STACK_POINTER else one.frame_bytes
    if depth < 0:
        return LACKS[NO_STACK]
    return function, depth - rules.offset_bytes


def told_keys(
    raw: Mapping[str, Any],
    map_path: str,
    innermost: Mapping[tuple[int, int], tuple[Function, ...]],
    index: dict[Function, int],
) -> list[list[Any]]:
    """The events of a recorder's file by the paths that a map gives them.

    Parameters
    ----------
    raw : mapping
        With ``keys``.
    map_path : str
    innermost : mapping
        The functions at each place, the innermost first; one without a path is in them.
    index : dict
        The numbers of functions, which grows.

    Returns
    -------
    list
        Kind, count, indices of functions as of other paths, and ``outcome``, ``candidates`` (pairs
        of share and indices) and ``reason``.
    """
    keys = [(kind, count, Register(*numbers)) for kind, count, *numbers in raw["keys"]]
    found = found_paths(map_path, raw["files"], {one for _, _, one in keys})
    counts: Counter[tuple[int, FoundPath]] = Counter()
    for kind, count, one in keys:
        known = found[one]
        if known.reason:
            known = FoundPath(tuple(reversed(innermost[one.file, one.offset])), (), known.reason)
        counts[kind, known] += count

    def numbers(path: Iterable[Function]) -> list[int]:
        return [index.setdefault(function, len(index)) for function in path]

    return [
        [
            kind,
            count,
            numbers(known.path),
            {
                "outcome": known.outcome,
                "candidates": [[share, numbers(path)] for share, path in known.candidates],
                "reason": known.reason,
            },
        ]
        for (kind, known), count in counts.most_common()
    ]
