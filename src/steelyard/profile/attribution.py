"""From samples to functions: where each sample was, and by whom it was called."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from steelyard.analysis.profile_samples import Frame, ProfileSamples
from steelyard.profile.address_space import mapping_indices
from steelyard.profile.code_places import CodePlace, code_places
from steelyard.profile.java_code import JavaCode
from steelyard.profile.perf_map import perf_map_path, read_perf_map
from steelyard.profile.profile_file import RawProfile
from steelyard.profile.symbols import NO_SYMBOLS, Symbols, read_symbols

KERNEL = Frame("[kernel]", "[kernel]")
UNKNOWN = Frame("[unknown]", "[unknown]")
JAVA = "[java]"
# Of looks that the sampler draws (native/sampler/src/intervals.cpp), where the period is not short.
_LOOKS_APART_NS = 20_000
# Times of files are as coarse as the kernel's tick.
_CLOCK_S = 0.01
# perf marks in a chain where user addresses begin by numbers at the very end of the address space.
_MARKS_FROM = np.uint64(2**64 - 4096)
_ANONYMOUS = ("//anon", "[anon", "/memfd:", "/dev/zero", "[heap]", "[stack]")


class _Frames:
    """The functions seen, and the ways in which they were inlined into one another, each once."""

    def __init__(self) -> None:
        self._numbers: dict[Frame, int] = {}
        self._places: dict[tuple[tuple[int, ...], bool], int] = {}
        self._stacks: list[tuple[tuple[int, ...], bool]] = []

    def number(self, frame: Frame) -> int:
        return self._numbers.setdefault(frame, len(self._numbers))

    def place(self, *frames: Frame, is_part: bool = False) -> int:
        """The number of a place in the code: its function, and those that it was inlined into.

        `is_part`: the last one is called by its own beginning, wherever that was inlined.
        """
        return self._place(tuple(self.number(frame) for frame in frames), is_part)

    def _place(self, numbers: tuple[int, ...], is_part: bool) -> int:
        place = self._places.setdefault((numbers, is_part), len(self._places))
        if place == len(self._stacks):
            self._stacks.append((numbers, is_part))
        return place

    def without_beginnings(
        self, places: npt.NDArray[np.int64], begins: npt.NDArray[np.bool_]
    ) -> npt.NDArray[np.int64]:
        """Chains of places in which a function that is in two parts does not seem to call itself.

        A place of which nothing is left becomes -1. `begins` marks where chains begin.
        """
        rests = np.array([is_part for _, is_part in self._stacks], bool)
        places = places.copy()
        called = np.flatnonzero(rests[places[:-1]] & ~begins[1:]) if len(places) else []
        for at in map(int, called):
            if places[at] < 0:
                continue
            function = self._stacks[places[at]][0][-1]
            numbers, is_part = self._stacks[places[at + 1]]
            if numbers[0] == function and not (is_part and len(numbers) == 1):
                places[at + 1] = self._place(numbers[1:], is_part) if len(numbers) > 1 else -1
        return places

    def table(self) -> tuple[Frame, ...]:
        return tuple(self._numbers)

    def expanded(
        self, places: npt.NDArray[np.int64]
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """The functions of places, the inmost of each first, and how many each has."""
        lengths = np.array([len(stack) for stack, _ in self._stacks], np.int64)[places]
        functions = [function for place in places.tolist() for function in self._stacks[place][0]]
        return np.array(functions, np.int64), lengths


@dataclass(frozen=True)
class _Places:
    """Addresses with the process and time of each."""

    processes: npt.NDArray[np.uint32]
    times_ns: npt.NDArray[np.uint64]
    addresses: npt.NDArray[np.uint64]
    frame_words: npt.NDArray[np.uint64]


def attribute(
    raw: RawProfile,
    java: Mapping[int, JavaCode] | None = None,
    inlined: bool = True,
    clones_apart: bool = False,
) -> ProfileSamples:
    """Which function each sample was in, by the symbols that this machine has now.

    A sample inside the kernel belongs to the function that had called it, or that it interrupted.

    Parameters
    ----------
    raw : RawProfile
    java : mapping of process to JavaCode
        The code maps of processes that were Java virtual machines.
    inlined : bool
        Look native functions up that the compiler had inlined, where debugging information has
        them. Without it their time is that of the functions that they were inlined into.
    clones_apart : bool
        Name the copies and parts that gcc makes of a function for themselves.
    """
    frames = _Frames()
    of_program = raw.samples["process"] != 0
    words = raw.frame_words if len(raw.frame_words) else np.zeros(len(raw.samples), np.uint64)
    raw = replace(raw, samples=raw.samples[of_program])
    samples = raw.samples
    leaf = _Places(
        samples["process"], samples["time_ns"], samples["user_address"], words[of_program]
    )
    naming = _Naming(raw, java or {}, frames, inlined, clones_apart)
    places = naming.places(leaf)
    places[samples["user_address"] == 0] = frames.place(KERNEL)
    own, own_lengths = frames.expanded(places)
    functions = own[np.cumsum(own_lengths) - own_lengths]
    chain_functions, lengths = _chains(naming, places)
    table = frames.table()
    return ProfileSamples(
        frames=table,
        functions=functions,
        times_ns=samples["time_ns"],
        cpus=samples["cpu"],
        threads=samples["thread"],
        processes=samples["process"],
        in_kernel=samples["in_kernel"].astype(bool),
        inlined=own_lengths > 1,
        stacks=chain_functions,
        stack_lengths=lengths,
        thread_names=_thread_names(raw),
        mended_count=_mended_count(samples, java or {}),
        apart_ns=_apart_ns(raw),
        changed_files=_changed_since(raw, {table[index].object for index in functions.tolist()}),
    )


def _changed_since(raw: RawProfile, paths: Iterable[str]) -> tuple[str, ...]:
    """Which files are other ones than while the profile was recorded, by their times."""
    started_s = raw.header.get("started_unix_s")
    if not isinstance(started_s, int | float):
        return ()
    ended_s = started_s + (raw.summary or {}).get("elapsed_ns", 0) * 1e-9
    changed: list[str] = []
    for path in sorted(path for path in paths if path.startswith("/")):
        with suppress(OSError):
            status = os.stat(path)
            # The second is that of a file that was put in the place of the first.
            if max(status.st_mtime, status.st_ctime) > ended_s + _CLOCK_S:
                changed.append(path)
    return tuple(changed)


def _apart_ns(raw: RawProfile) -> int:
    """How far apart looks at a CPU were drawn; 0 where threads were watched, or none were."""
    header, scope = raw.header, (raw.summary or {}).get("scope")
    if scope != "cpus" or header.get("spread") == "fixed" or header.get("unit") != "ns":
        return 0
    return int(min(_LOOKS_APART_NS, float(header.get("period", 0)) / 2))


def _mended_count(samples: npt.NDArray[np.void], java: Mapping[int, JavaCode]) -> int:
    of_process = ((code, samples[samples["process"] == process]) for process, code in java.items())
    return sum(code.mended_count(own["user_address"], own["time_ns"]) for code, own in of_process)


@dataclass(frozen=True)
class _Naming:
    """What the names of functions come from."""

    raw: RawProfile
    java: Mapping[int, JavaCode]
    frames: _Frames
    inlined: bool
    clones_apart: bool

    def places(self, at: _Places) -> npt.NDArray[np.int64]:
        """For each address the number of its place in the code."""
        raw = self.raw
        found = np.full(len(at.addresses), self.frames.place(UNKNOWN), np.int64)
        mapping = mapping_indices(raw, at.processes, at.times_ns, at.addresses)
        for (path, process), here in _by_file(raw, at.processes, mapping).items():
            addresses = at.addresses[here]
            if process:
                symbols = read_perf_map(perf_map_path(process))
            else:
                symbols = read_symbols(path) if path.startswith("/") else NO_SYMBOLS
                part = mapping[here]
                starts = np.array([raw.mappings[index].start for index in part], np.uint64)
                offsets = np.array([raw.mappings[index].offset for index in part], np.uint64)
                addresses = symbols.virtual_addresses(addresses - starts + offsets)
            found[here] = self._place_numbers(path, symbols, addresses)
        for process, code in self.java.items():
            self._name_java(at, process, code, mapping, found)
        return found

    def _place_numbers(
        self, path: str, symbols: Symbols, addresses: npt.NDArray[np.uint64]
    ) -> npt.NDArray[np.int64]:
        unique, inverse = np.unique(addresses, return_inverse=True)
        places = code_places(
            path,
            symbols,
            unique.tolist(),
            inlined=self.inlined and path.startswith("/"),
            clones_apart=self.clones_apart,
        )
        numbers = [self._number(path, place) for place in places]
        return np.array(numbers, np.int64)[inverse]

    def _number(self, path: str, place: CodePlace) -> int:
        names = place.names or (f"[{path.rsplit('/', 1)[-1].strip('[]')}]",)
        return self.frames.place(*(Frame(name, path) for name in names), is_part=place.is_part)

    def _name_java(
        self,
        at: _Places,
        process: int,
        code: JavaCode,
        mapping: npt.NDArray[np.int64],
        found: npt.NDArray[np.int64],
    ) -> None:
        """Name what a virtual machine made by itself; its libraries have symbols of their own."""
        named = [not item.path.startswith(_ANONYMOUS) for item in self.raw.mappings]
        in_file = np.append(np.array(named, bool), False)[mapping]
        here = np.flatnonzero((at.processes == process) & ~in_file)
        stacks = code.stacks_at(at.addresses[here], at.times_ns[here], at.frame_words[here])
        for index, names in zip(here.tolist(), stacks, strict=True):
            if names:
                found[index] = self.frames.place(*(Frame(name, JAVA) for name in names))


def _by_file(
    raw: RawProfile, processes: npt.NDArray[np.uint32], mapping: npt.NDArray[np.int64]
) -> dict[tuple[str, int], npt.NDArray[np.int64]]:
    """The indices of addresses by the file that they are in; by the process where in none."""
    paths = [item.path for item in raw.mappings]
    grouped: dict[tuple[str, int], list[int]] = {}
    for index in np.flatnonzero(mapping >= 0).tolist():
        path = paths[mapping[index]]
        process = int(processes[index]) if path.startswith(_ANONYMOUS) else 0
        grouped.setdefault((path, process), []).append(index)
    return {key: np.array(indices) for key, indices in grouped.items()}


def _chains(
    naming: _Naming, leaves: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """The functions of every chain from the leaf up, one after the other, and their counts.

    Where no chains were kept each has its leaf alone, without what that was inlined into.
    """
    raw, frames = naming.raw, naming.frames
    lengths = raw.samples["chain_length"].astype(np.int64)
    if not lengths.any():
        functions, counts = frames.expanded(leaves)
        return functions[np.cumsum(counts) - counts], np.ones(len(leaves), np.int64)
    owner = np.repeat(np.arange(len(lengths)), lengths)
    addresses = raw.chains
    real = addresses < _MARKS_FROM
    # The first address after a mark is where the sample itself was, which is known already.
    first = np.zeros(len(owner), bool)
    if real.any():
        _, first_at = np.unique(owner[real], return_index=True)
        first[np.flatnonzero(real)[first_at]] = True
    callers = real & ~first
    # A return address stands behind the call; one byte before it is inside.
    at = _Places(
        raw.samples["process"][owner[callers]],
        raw.samples["time_ns"][owner[callers]],
        addresses[callers] - np.uint64(1),
        np.zeros(int(callers.sum()), np.uint64),
    )
    counts = np.bincount(owner[callers], minlength=len(leaves)) + 1
    places = np.empty(int(counts.sum()), np.int64)
    begins = np.cumsum(counts) - counts
    places[begins] = leaves
    rest = np.ones(len(places), bool)
    rest[begins] = False
    places[rest] = naming.places(at)
    places = frames.without_beginnings(places, ~rest)
    kept = places >= 0
    stacks, depths = frames.expanded(places[kept])
    all_depths = np.zeros(len(places), np.int64)
    all_depths[kept] = depths
    return stacks, np.add.reduceat(all_depths, begins)


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
