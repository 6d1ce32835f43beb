"""From samples to functions: where each sample was, and by whom it was called."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from steelyard.analysis.profiles.profile_samples import ProfileSamples, SharedCode
from steelyard.core.sampled_events import EVERY
from steelyard.profile.file.profile_file import RawProfile
from steelyard.profile.frame_table import FrameTable
from steelyard.profile.java.java_code import JavaCode
from steelyard.profile.symbols.elf_symbols import NO_SYMBOLS
from steelyard.profile.symbols.kernel_symbols import KERNEL, kernel_frame, kernel_symbols
from steelyard.profile.symbols.place_names import NamingRules, PlaceNames, Places

# Of looks that the sampler draws (native/sampler/src/intervals.cpp), where the period is not short.
_LOOKS_APART_NS = 20_000
# Times of files are as coarse as the kernel's tick.
_CLOCK_S = 0.01
# perf marks in a chain where user addresses begin by numbers at the very end of the address space.
_MARKS_FROM = np.uint64(2**64 - 4096)
_DEFAULT_RULES = NamingRules()


def attribute(
    raw: RawProfile,
    java: Mapping[int, JavaCode] | None = None,
    rules: NamingRules = _DEFAULT_RULES,
) -> ProfileSamples:
    """Which function each sample was in, by the symbols that this machine has now.

    A sample inside the kernel belongs to the function that had called it, or that it interrupted,
    unless the rules want functions of the kernel apart.

    Parameters
    ----------
    raw : RawProfile
    java : mapping of process to JavaCode
        The code maps of processes that were Java virtual machines.
    rules : NamingRules
    """
    frames = FrameTable()
    of_program = raw.samples["process"] != 0
    words = raw.frame_words if len(raw.frame_words) else np.zeros(len(raw.samples), np.uint64)
    raw = replace(raw, samples=raw.samples[of_program])
    samples = raw.samples
    leaf = Places(
        samples["process"], samples["time_ns"], samples["user_address"], words[of_program]
    )
    naming = PlaceNames(raw, java or {}, frames, rules)
    places = naming.places(leaf)
    places[samples["user_address"] == 0] = frames.place(KERNEL)
    shared_code = _shared_code(naming, places)
    _, user_lengths = frames.expanded(places)
    _name_kernel(raw, frames, places, rules.kernel_apart)
    own, own_lengths = frames.expanded(places)
    functions = own[np.cumsum(own_lengths) - own_lengths]
    chain_functions, lengths = _chains(naming, places)
    table, shown = frames.table()
    functions, chain_functions = shown[functions], shown[chain_functions]
    objects = {table[index].object for index in functions.tolist()}
    return ProfileSamples(
        frames=table,
        functions=functions,
        times_ns=samples["time_ns"],
        cpus=samples["cpu"],
        threads=samples["thread"],
        processes=samples["process"],
        in_kernel=samples["in_kernel"].astype(bool),
        inlined=(user_lengths > 1) & (own_lengths == user_lengths),
        stacks=chain_functions,
        stack_lengths=lengths,
        thread_names=_thread_names(raw),
        mended_count=_mended_count(samples, java or {}),
        apart_ns=_apart_ns(raw),
        round_ns=_round_ns(raw),
        every=_every(raw),
        changed_files=_changed_since(raw, objects - naming.certain - naming.foreign),
        foreign_files=tuple(sorted(objects & naming.foreign)),
        undescribed_files={
            file: tuple(sorted(naming.undescribed[file]))
            for file in sorted(objects & naming.undescribed.keys())
        },
        shared_code=shared_code,
    )


def _shared_code(naming: PlaceNames, places: npt.NDArray[np.int64]) -> tuple[SharedCode, ...]:
    """The code of several functions that samples were in, that with most samples first."""
    counts: dict[SharedCode, int] = {}
    for place, count in zip(*np.unique(places, return_counts=True), strict=True):
        code = naming.shared.get(int(place))
        if code is not None:
            counts[code] = counts.get(code, 0) + int(count)
    found = (code._replace(samples=count) for code, count in counts.items())
    return tuple(sorted(found, key=lambda code: (-code.samples, code)))


def _name_kernel(
    raw: RawProfile, frames: FrameTable, places: npt.NDArray[np.int64], apart: bool
) -> None:
    """Name what the kernel did, where its functions have names here: for the program, or itself."""
    samples = raw.samples
    wanted = samples["in_kernel"].astype(bool)
    if not apart:
        wanted &= samples["user_address"] == 0
    symbols = kernel_symbols(raw.header) if wanted.any() else NO_SYMBOLS
    here = np.flatnonzero(wanted)
    indices = symbols.function_indices(samples["address"][here]).tolist()
    for at, index in zip(here.tolist(), indices, strict=True):
        frame = kernel_frame(symbols, index)
        if samples["user_address"][at] == 0:
            places[at] = frames.place(frame)
        else:
            places[at] = frames.within(frame, int(places[at]))


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


def _every(raw: RawProfile) -> int:
    """Of how many events one was taken; 0 where samples are looks at times."""
    if raw.header.get("spread") != EVERY:
        return 0
    return int(raw.header["period"])


def _round_ns(raw: RawProfile) -> float:
    """For how long looks keep to one period; 0 where each time is drawn."""
    samples = raw.header.get("round_samples", 1)
    return float(raw.header["period"]) * samples if samples > 1 else 0.0


def _apart_ns(raw: RawProfile) -> int:
    """How far apart looks at a CPU were drawn; 0 where threads were watched, or none were."""
    header, scope = raw.header, (raw.summary or {}).get("scope")
    if scope != "cpus" or header.get("spread") == "fixed" or header.get("unit") != "ns":
        return 0
    return int(min(_LOOKS_APART_NS, float(header.get("period", 0)) / 2))


def _mended_count(samples: npt.NDArray[np.void], java: Mapping[int, JavaCode]) -> int:
    of_process = ((code, samples[samples["process"] == process]) for process, code in java.items())
    return sum(code.mended_count(own["user_address"], own["time_ns"]) for code, own in of_process)


def _chains(
    naming: PlaceNames, leaves: npt.NDArray[np.int64]
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
    at = Places(
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
