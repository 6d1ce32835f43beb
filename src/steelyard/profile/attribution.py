"""From samples to functions: where each sample was, and by whom it was called."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from steelyard.analysis.profile_samples import Frame, ProfileSamples
from steelyard.profile.address_space import mapping_indices
from steelyard.profile.perf_map import perf_map_path, read_perf_map
from steelyard.profile.profile_file import RawProfile
from steelyard.profile.symbols import NO_SYMBOLS, Symbols, read_symbols, readable_name

KERNEL = Frame("[kernel]", "[kernel]")
UNKNOWN = Frame("[unknown]", "[unknown]")
# perf marks in a chain where user addresses begin by numbers at the very end of the address space.
_MARKS_FROM = np.uint64(2**64 - 4096)
_ANONYMOUS = ("//anon", "[anon", "/memfd:", "/dev/zero", "[heap]", "[stack]")


class _Frames:
    """The functions seen, each once."""

    def __init__(self) -> None:
        self._numbers: dict[Frame, int] = {}

    def number(self, frame: Frame) -> int:
        return self._numbers.setdefault(frame, len(self._numbers))

    def table(self) -> tuple[Frame, ...]:
        return tuple(self._numbers)


@dataclass(frozen=True)
class _Places:
    """Addresses with the process and time of each."""

    processes: npt.NDArray[np.uint32]
    times_ns: npt.NDArray[np.uint64]
    addresses: npt.NDArray[np.uint64]


def attribute(raw: RawProfile) -> ProfileSamples:
    """Which function each sample was in, by the symbols that this machine has now.

    A sample inside the kernel belongs to the function that had called it, or that it interrupted.
    """
    frames = _Frames()
    raw = replace(raw, samples=raw.samples[raw.samples["process"] != 0])
    samples = raw.samples
    leaf = _Places(samples["process"], samples["time_ns"], samples["user_address"])
    functions = _functions(raw, leaf, frames)
    functions[samples["user_address"] == 0] = frames.number(KERNEL)
    chain_functions, lengths = _chains(raw, frames, functions)
    return ProfileSamples(
        frames=frames.table(),
        functions=functions,
        times_ns=samples["time_ns"],
        cpus=samples["cpu"],
        threads=samples["thread"],
        processes=samples["process"],
        in_kernel=samples["in_kernel"].astype(bool),
        stacks=chain_functions,
        stack_lengths=lengths,
        thread_names=_thread_names(raw),
    )


def _functions(raw: RawProfile, places: _Places, frames: _Frames) -> npt.NDArray[np.int64]:
    found = np.full(len(places.addresses), frames.number(UNKNOWN), np.int64)
    mapping = mapping_indices(raw, places.processes, places.times_ns, places.addresses)
    paths = [item.path for item in raw.mappings]
    starts = np.array([item.start for item in raw.mappings], np.uint64)
    offsets = np.array([item.offset for item in raw.mappings], np.uint64)
    known = np.flatnonzero(mapping >= 0)
    by_path: dict[tuple[str, int], list[int]] = {}
    for index in known:
        path = paths[mapping[index]]
        process = int(places.processes[index]) if path.startswith(_ANONYMOUS) else 0
        by_path.setdefault((path, process), []).append(int(index))
    for (path, process), indices in by_path.items():
        here = np.array(indices)
        addresses = places.addresses[here]
        if process:
            symbols = read_perf_map(perf_map_path(process))
        else:
            symbols = read_symbols(path) if path.startswith("/") else NO_SYMBOLS
            part = mapping[here]
            addresses = symbols.virtual_addresses(addresses - starts[part] + offsets[part])
        found[here] = _frame_numbers(path, symbols, addresses, frames)
    return found


def _frame_numbers(
    path: str, symbols: Symbols, addresses: npt.NDArray[np.uint64], frames: _Frames
) -> npt.NDArray[np.int64]:
    functions = symbols.function_indices(addresses)
    unique, inverse = np.unique(functions, return_inverse=True)
    numbers = [
        frames.number(
            Frame(readable_name(symbols.names[index]), path)
            if index >= 0
            else Frame(f"[{path.rsplit('/', 1)[-1].strip('[]')}]", path)
        )
        for index in unique
    ]
    return np.array(numbers, np.int64)[inverse]


def _chains(
    raw: RawProfile, frames: _Frames, leaves: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """The functions of every chain from the leaf up, one after the other, and their counts."""
    lengths = raw.samples["chain_length"].astype(np.int64)
    if not lengths.any():
        return leaves, np.ones(len(leaves), np.int64)
    owner = np.repeat(np.arange(len(lengths)), lengths)
    position = np.arange(len(owner)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    addresses = raw.chains
    real = addresses < _MARKS_FROM
    # The first address after a mark is where the sample itself was, which is known already.
    first = np.zeros(len(owner), bool)
    if real.any():
        _, first_at = np.unique(owner[real], return_index=True)
        first[np.flatnonzero(real)[first_at]] = True
    callers = real & ~first & (position >= 0)
    # A return address stands behind the call; one byte before it is inside.
    places = _Places(
        raw.samples["process"][owner[callers]],
        raw.samples["time_ns"][owner[callers]],
        addresses[callers] - np.uint64(1),
    )
    functions = _functions(raw, places, frames)
    counts = np.bincount(owner[callers], minlength=len(leaves)) + 1
    stacks = np.empty(int(counts.sum()), np.int64)
    begins = np.cumsum(counts) - counts
    stacks[begins] = leaves
    rest = np.ones(len(stacks), bool)
    rest[begins] = False
    stacks[rest] = functions
    return stacks, counts


def _thread_names(raw: RawProfile) -> dict[int, str]:
    """The last name of each thread; one that never named itself has that of its parent."""
    names: dict[int, str] = {}
    happenings = sorted((*raw.names, *raw.starts), key=lambda item: item.time_ns)
    for happening in happenings:
        name = getattr(happening, "name", None)
        if name is not None:
            names[happening.thread] = name
        else:
            parent = names.get(getattr(happening, "parent_thread", 0))
            if parent is not None:
                names.setdefault(happening.thread, parent)
    return names
