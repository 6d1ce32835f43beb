"""The key of each sample of a profile: a function of the program, and how high its stack was.

By the registers of the sample alone: the instruction says by its table where the frame begins, as
a distance from the stack or the frame pointer. No byte of the stack is read.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from steelyard.core.decoding import regular_opener
from steelyard.core.elf_file import ElfFile, NotElfError
from steelyard.core.errors import DataError
from steelyard.profile.file.profile_file import Mapping, RawProfile
from steelyard.profile.paths.call_stubs import LeftStubs, left_stubs
from steelyard.profile.paths.learning_run import build_of
from steelyard.profile.symbols.address_space import mapping_indices
from steelyard.profile.symbols.elf_symbols import read_symbols
from steelyard.profile.symbols.frame_rules import (
    STACK_POINTER,
    FrameTables,
    UnreadableRulesError,
)
from steelyard.profile.symbols.mapped_files import MappedFile, mapped_file, open_path

FRAME_POINTER = 6
NO_FUNCTION = -1
# What a profile says of its walks where those end with the first frame of the program.
LIBRARIES = "libraries"
# The same where they end as soon as they tell the path of an ambiguous key.
AMBIGUOUS = "ambiguous"
# Why a sample has no key.
KEYED, ELSEWHERE, NO_STACK, NO_FRAME = range(4)
LACKS = {
    ELSEWHERE: "in code that is not the program's",
    NO_STACK: "where its thread's stack begins is not known",
    NO_FRAME: "no table says where its frame begins",
}

Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class SampleKeys:
    """The keys of samples, one after the other.

    Parameters
    ----------
    program : str
        The file that the functions are of.
    functions : array of int
        Address of the function in the file; `NO_FUNCTION` where there is no key.
    heights : array of int
        From where the stack begins to the canonical frame address, in bytes.
    lacks : array of int
        `KEYED`; or why there is no key: `ELSEWHERE`, in code that is not the program's;
        `NO_STACK`, where the thread's stack begins is not known; `NO_FRAME`, no table says where
        the frame begins.
    mappings : tuple of int
        Indices of those mappings in the profile that are of the program.
    in_stubs : array of bool
        Whether it was in the wrapper or the mark of a call: the key is that of the caller there.
    """

    program: str
    functions: Numbers
    heights: Numbers
    lacks: Numbers
    mappings: tuple[int, ...]
    in_stubs: npt.NDArray[np.bool_]


@dataclass(frozen=True)
class _Frames:
    """Where the frame begins at each of some addresses: at a register, and so much."""

    functions: Numbers
    by_stack: npt.NDArray[np.bool_]
    offsets: Numbers


def sample_keys(raw: RawProfile, program: str, build: str) -> SampleKeys:
    """The keys of the samples of a program in a profile.

    Parameters
    ----------
    raw : RawProfile
        Of which all samples are of processes.
    program, build : str
        Name and build of the program.

    Raises
    ------
    DataError
        That build of it did not run, or its file is not there any more.
    """
    samples = raw.samples
    addresses = _key_addresses(raw)
    mappings = mapping_indices(raw, samples["process"], samples["time_ns"], addresses)
    own = _own_mappings(raw, program, build)
    is_own = np.isin(mappings, list(own))
    if not own:
        raise _foreign(raw, mappings, program, build)
    path = next(iter(own.values()))
    linked = linked_addresses(raw, path, mappings[is_own], addresses[is_own])
    tables, stubs = _opened(path, linked)
    frames = _frames_at(tables, stubs.addresses)
    bases = stack_bases(raw)[is_own]
    pointers = np.where(
        frames.by_stack,
        samples["stack_pointer"][is_own].astype(np.int64) + stubs.added_bytes,
        samples["base_pointer"][is_own].astype(np.int64),
    )
    heights = bases - pointers - frames.offsets
    functions = np.full(len(samples), NO_FUNCTION, np.int64)
    all_heights = np.zeros(len(samples), np.int64)
    lacks = np.full(len(samples), ELSEWHERE, np.int64)
    found = np.where(frames.functions == NO_FUNCTION, NO_FRAME, KEYED)
    lacks[is_own] = np.where((found == KEYED) & (bases == 0), NO_STACK, found)
    functions[is_own] = frames.functions
    functions[lacks != KEYED] = NO_FUNCTION
    all_heights[is_own] = heights
    in_stubs = np.zeros(len(samples), bool)
    in_stubs[is_own] = stubs.were_inside
    return SampleKeys(path, functions, all_heights, lacks, tuple(own), in_stubs)


def _key_addresses(raw: RawProfile) -> npt.NDArray[np.uint64]:
    """Where each sample was; in a library whose frames alone were walked, where it was called."""
    addresses = raw.samples["user_address"].copy()
    if raw.header.get("path_map", {}).get("walked") == LIBRARIES:
        lengths = raw.samples["chain_length"].astype(np.int64)
        walked = lengths > 1
        # A return address stands behind the call; one byte before it is inside.
        addresses[walked] = raw.chains[(np.cumsum(lengths) - 1)[walked]] - np.uint64(1)
    return addresses


def _own_mappings(raw: RawProfile, program: str, build: str) -> dict[int, str]:
    """The mappings of that build, with where its file can be opened now."""
    processes: dict[MappedFile, set[int]] = {}
    for mapping in raw.mappings:
        processes.setdefault(mapped_file(mapping), set()).add(mapping.process)
    paths: dict[MappedFile, str] = {}
    for file, having in processes.items():
        named = not file.build_id and os.path.basename(file.path) == program
        if file.build_id != build and not named:
            continue
        path = open_path(file, having)
        if path is not None and build_of(path) == build:
            paths[file] = path
        elif path is None and file.build_id == build:
            raise DataError(
                f"{file.path} is not there any more as build {build}.\nIts tables say where frames "
                "begin: put that build back to read this profile.",
                field="profile",
            )
    found = ((at, paths.get(mapped_file(mapping))) for at, mapping in enumerate(raw.mappings))
    return {at: path for at, path in found if path is not None}


def _foreign(raw: RawProfile, mappings: Numbers, program: str, build: str) -> DataError:
    """That the build that was learnt did not run, and which of that name did."""
    used: list[Mapping] = [raw.mappings[at] for at in np.unique(mappings[mappings >= 0]).tolist()]
    others = sorted(
        {one.build_id for one in used if os.path.basename(one.path) == program and one.build_id}
    )
    seen = f"They are of build {', '.join(others)}. " if others else ""
    return DataError(
        f"No sample of this profile is in {program} of build {build}, which the map is of.\n{seen}"
        "Heights and addresses differ between builds: learn a map of the one that was recorded.",
        field="profile",
    )


def linked_addresses(
    raw: RawProfile, path: str, mappings: Numbers, addresses: npt.NDArray[np.uint64]
) -> npt.NDArray[np.uint64]:
    """Addresses as the linker of the program at `path` gave them, by the mapping of each."""
    starts = np.array([item.start for item in raw.mappings], np.uint64)[mappings]
    offsets = np.array([item.offset for item in raw.mappings], np.uint64)[mappings]
    return read_symbols(path).virtual_addresses(addresses - starts + offsets)


def _opened(path: str, addresses: npt.NDArray[np.uint64]) -> tuple[FrameTables, LeftStubs]:
    try:
        with open(path, "rb", opener=regular_opener) as file:
            elf = ElfFile(file)
            tables = FrameTables(elf)
            return tables, left_stubs(elf, tables, addresses)
    except (OSError, NotElfError):
        raise DataError(f"{path} cannot be read as a program.", field="profile") from None


def _frames_at(tables: FrameTables, addresses: npt.NDArray[np.uint64]) -> _Frames:
    different, places = np.unique(addresses, return_inverse=True)
    functions = np.full(len(different), NO_FUNCTION, np.int64)
    by_stack = np.zeros(len(different), bool)
    offsets = np.zeros(len(different), np.int64)
    for index, address in enumerate(different.tolist()):
        try:
            found = tables.at(address)
        except UnreadableRulesError:
            continue
        if found is not None and found[1].register in (STACK_POINTER, FRAME_POINTER):
            functions[index] = found[0]
            by_stack[index] = found[1].register == STACK_POINTER
            offsets[index] = found[1].offset_bytes
    return _Frames(functions[places], by_stack[places], offsets[places])


def stack_bases(raw: RawProfile) -> Numbers:
    """Where the stack of each sample's thread began; 0 where that is not known."""
    samples = raw.samples
    changes: dict[tuple[int, int], list[tuple[int, int, int]]] = {}
    for start in raw.starts:
        changes.setdefault((start.process, start.thread), []).append((start.time_ns, 0, 0))
    for base in raw.bases:
        key = base.process, base.thread
        changes.setdefault(key, []).append((base.time_ns, 1, base.address))
    execs: dict[int, list[int]] = {}
    for naming in raw.names:
        if naming.after_exec:
            execs.setdefault(naming.process, []).append(naming.time_ns)
    found = np.zeros(len(samples), np.int64)
    order = np.lexsort((samples["thread"], samples["process"]))
    ends = np.flatnonzero(np.diff(samples["thread"][order]) | np.diff(samples["process"][order]))
    for part in np.split(order, ends + 1):
        key = int(samples["process"][part[0]]), int(samples["thread"][part[0]])
        own = [*changes.get(key, ()), *((time_ns, 0, 0) for time_ns in execs.get(key[0], ()))]
        own.sort()
        at = np.searchsorted(
            np.array([time_ns for time_ns, _, _ in own], np.uint64),
            samples["time_ns"][part],
            side="right",
        )
        addresses = np.array([0, *(address for _, _, address in own)], np.int64)
        found[part] = addresses[at]
    return found
