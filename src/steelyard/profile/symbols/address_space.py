"""Which file, and which place in it, an address of a process belonged to at a time."""

from __future__ import annotations

import bisect
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from steelyard.profile.file.profile_file import Mapping, Naming, RawProfile, Start

Happening = Mapping | Naming | Start


@dataclass
class _Layout:
    """The executable mappings of one process at one time: disjoint, by rising start."""

    starts: list[int]
    ends: list[int]
    mappings: list[int]

    def place(self, start: int, end: int, mapping: int) -> None:
        """Put a mapping over what was there; of what it covers in part the rest stays."""
        first = bisect.bisect_right(self.ends, start)
        last = bisect.bisect_left(self.starts, end)
        parts: list[tuple[int, int, int]] = []
        for index in range(first, last):
            low, high, old = self.starts[index], self.ends[index], self.mappings[index]
            if low < start:
                parts.append((low, start, old))
            if high > end:
                parts.append((end, high, old))
        parts.append((start, end, mapping))
        parts.sort()
        self.starts[first:last] = [part[0] for part in parts]
        self.ends[first:last] = [part[1] for part in parts]
        self.mappings[first:last] = [part[2] for part in parts]

    def copy(self) -> _Layout:
        return _Layout(list(self.starts), list(self.ends), list(self.mappings))

    def lookup(self, addresses: npt.NDArray[np.uint64]) -> npt.NDArray[np.int64]:
        if not self.starts:
            return np.full(len(addresses), -1)
        starts = np.array(self.starts, np.uint64)
        ends = np.array(self.ends, np.uint64)
        index = np.searchsorted(starts, addresses, side="right").astype(np.int64) - 1
        inside = (index >= 0) & (addresses < ends[np.maximum(index, 0)])
        return np.where(inside, np.array(self.mappings)[np.maximum(index, 0)], -1)


def mapping_indices(
    raw: RawProfile,
    processes: npt.NDArray[np.uint32],
    times_ns: npt.NDArray[np.uint64],
    addresses: npt.NDArray[np.uint64],
) -> npt.NDArray[np.int64]:
    """For each address the index in ``raw.mappings``, -1 where nothing was mapped.

    Parameters
    ----------
    raw : RawProfile
        Its mappings, names (whose ``after_exec`` clears a process) and starts (a new process has
        the mappings of its parent).
    processes, times_ns, addresses : arrays of one length
    """
    found = np.full(len(addresses), -1, np.int64)
    layouts: dict[int, _Layout] = {}
    happenings = _happenings(raw)
    order = np.lexsort((times_ns, processes))
    groups = {
        int(processes[part[0]]): part
        for part in np.split(order, np.flatnonzero(np.diff(processes[order])) + 1)
        if len(part)
    }
    done = dict.fromkeys(groups, 0)
    sorted_times = {process: times_ns[part] for process, part in groups.items()}

    def settle(process: int, until_ns: int | None) -> None:
        part = groups.get(process)
        layout = layouts.get(process)
        if part is None:
            return
        begin = done[process]
        end = len(part)
        if until_ns is not None:
            end = int(np.searchsorted(sorted_times[process], np.uint64(until_ns), side="left"))
        if end > begin:
            if layout is not None:
                found[part[begin:end]] = layout.lookup(addresses[part[begin:end]])
            done[process] = end

    for index, happening in happenings:
        settle(happening.process, happening.time_ns)
        if isinstance(happening, Mapping):
            layout = layouts.setdefault(happening.process, _Layout([], [], []))
            layout.place(happening.start, happening.start + happening.length, index)
        elif isinstance(happening, Start):
            parent = layouts.get(happening.parent_process)
            if happening.process != happening.parent_process and parent is not None:
                layouts[happening.process] = parent.copy()
        else:
            layouts.pop(happening.process, None)
    for process in groups:
        settle(process, None)
    return found


def _happenings(raw: RawProfile) -> Sequence[tuple[int, Happening]]:
    """What changes layouts, in order; a mapping with its index."""
    execs = [(0, naming) for naming in raw.names if naming.after_exec]
    forks = [(0, start) for start in raw.starts if start.process != start.parent_process]
    happenings: list[tuple[int, Happening]] = [*enumerate(raw.mappings), *execs, *forks]
    # Of one moment the new program comes before its mappings.
    return sorted(happenings, key=lambda item: (item[1].time_ns, isinstance(item[1], Mapping)))
