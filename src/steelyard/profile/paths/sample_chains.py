"""The functions of the program on the stack of each sample, where its stack was walked."""

from __future__ import annotations

import struct
from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from steelyard.core.decoding import regular_opener
from steelyard.core.elf_file import ElfFile
from steelyard.profile.file.profile_file import RawProfile
from steelyard.profile.paths.call_stubs import stub_span
from steelyard.profile.paths.sample_keys import SampleKeys, linked_addresses
from steelyard.profile.symbols.address_space import mapping_indices
from steelyard.profile.symbols.frame_rules import FrameTables

_NO_FUNCTION = -1
# e_entry of Elf64_Ehdr, elf(5).
_ENTRY_AT = 24

Chain = tuple[int, ...]


def sample_chains(raw: RawProfile, keys: SampleKeys, to_start: bool = True) -> list[Chain]:
    """For each sample the functions of the program that were on its stack, outermost first.

    None where no stack was walked, or, with `to_start`, not to where the thread began: what the
    kernel copied may end before. The function that a program begins in is left out, as in maps.

    Parameters
    ----------
    raw : RawProfile
        Of which all samples are of processes.
    keys : SampleKeys
        Of these samples.
    to_start : bool
    """
    lengths = raw.samples["chain_length"].astype(np.int64)
    owner = np.repeat(np.arange(len(lengths)), lengths)
    is_first = np.zeros(len(owner), bool)
    is_first[(np.cumsum(lengths) - lengths)[lengths > 0]] = True
    # A return address stands behind the call; one byte before it is inside.
    addresses = raw.chains - np.where(is_first, 0, 1).astype(np.uint64)
    processes, times_ns = raw.samples["process"][owner], raw.samples["time_ns"][owner]
    mappings = mapping_indices(raw, processes, times_ns, addresses)
    is_own = np.isin(mappings, keys.mappings)
    linked = linked_addresses(raw, keys.program, mappings[is_own], addresses[is_own])
    functions = np.full(len(owner), _NO_FUNCTION, np.int64)
    functions[is_own], first = _functions_at(keys.program, linked)
    ends = np.cumsum(lengths) - 1
    # Threads begin in a library.
    is_whole = (
        (lengths > 0) & (~is_own[ends] | (functions[ends] == first)) if len(owner) else lengths
    )
    chains: list[list[int]] = [[] for _ in lengths]
    is_known = (functions != _NO_FUNCTION) & (functions != first)
    for at, function in zip(owner[is_known].tolist(), functions[is_known].tolist(), strict=True):
        chains[at].append(function)
    return [
        tuple(reversed(chain)) if whole or not to_start else ()
        for chain, whole in zip(chains, is_whole.tolist(), strict=True)
    ]


def whole_chain(chain: Chain, whole: Mapping[int, int]) -> Chain:
    """A chain of functions of which parts are those that they belong to."""
    return tuple(whole.get(function, function) for function in chain)


def _functions_at(
    path: str, addresses: npt.NDArray[np.uint64]
) -> tuple[npt.NDArray[np.int64], int]:
    """The functions at addresses, and the one that the program begins in."""
    with open(path, "rb", opener=regular_opener) as file:
        elf = ElfFile(file)
        starts, limits = FrameTables(elf).spans()
        begin, end = stub_span(elf)
        file.seek(_ENTRY_AT)
        (entry,) = struct.unpack("<Q", file.read(8))
    at = np.searchsorted(starts, addresses, side="right").astype(np.int64) - 1
    inside = (at >= 0) & (addresses < np.append(limits, np.uint64(0))[at])
    # What leads calls through wrappers and marks is no function of a path.
    inside &= (addresses < np.uint64(begin)) | (addresses >= np.uint64(end))
    found = np.append(starts, np.uint64(0))[at].astype(np.int64)
    return np.where(inside, found, _NO_FUNCTION), _start_of(starts, limits, entry)


def _start_of(starts: npt.NDArray[np.uint64], limits: npt.NDArray[np.uint64], entry: int) -> int:
    at = int(np.searchsorted(starts, np.uint64(entry), side="right")) - 1
    return int(starts[at]) if at >= 0 and entry < int(limits[at]) else entry
