"""The functions at addresses of processes: by files, maps of compilers at run time, and Java's."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from steelyard.analysis.profiles.name_cautions import UNMAPPED
from steelyard.analysis.profiles.profile_samples import Frame, SharedCode
from steelyard.profile.file.profile_file import RawProfile
from steelyard.profile.frame_table import FrameTable
from steelyard.profile.java.java_code import JavaCode
from steelyard.profile.symbols.address_space import mapping_indices
from steelyard.profile.symbols.code_places import CodePlace, code_places
from steelyard.profile.symbols.elf_symbols import NO_SYMBOLS, Symbols, read_symbols
from steelyard.profile.symbols.kernel_symbols import VDSO, vdso_symbols
from steelyard.profile.symbols.mapped_files import MappedFile, mapped_file, open_path
from steelyard.profile.symbols.perf_map import perf_map_path, read_perf_map

UNKNOWN = Frame(UNMAPPED, UNMAPPED)
JAVA = "[java]"
_ANONYMOUS = ("//anon", "[anon", "/memfd:", "/dev/zero", "[heap]", "[stack]")


@dataclass(frozen=True)
class NamingRules:
    """How functions are named.

    Parameters
    ----------
    inlined : bool
        Look native functions up that the compiler had inlined, where debugging information has
        them. Without it their time is that of the functions that they were inlined into.
    clones_apart : bool
        Name the copies and parts that gcc makes of a function for themselves.
    kernel_apart : bool
        Functions of the kernel have the time that it spends for those of the program.
    sources_apart : bool
        Functions of one name in several sources are several.
    """

    inlined: bool = True
    clones_apart: bool = False
    kernel_apart: bool = False
    sources_apart: bool = True


@dataclass(frozen=True)
class Places:
    """Addresses with the process and time of each."""

    processes: npt.NDArray[np.uint32]
    times_ns: npt.NDArray[np.uint64]
    addresses: npt.NDArray[np.uint64]
    frame_words: npt.NDArray[np.uint64]


@dataclass
class PlaceNames:
    """What the names of functions come from, and what was found while naming.

    Parameters
    ----------
    raw : RawProfile
    java : mapping of process to JavaCode
    frames : FrameTable
        Takes the functions.
    rules : NamingRules
    foreign, certain : set of str
        Files, as they are shown, that cannot be opened any more as they were mapped; and those that
        can, by their build id.
    undescribed : dict of file, as it is shown, to set of str
        Files that would tell which functions were inlined in it, and are not there.
    shared : dict of place to SharedCode
        Places in code that several functions share.
    """

    raw: RawProfile
    java: Mapping[int, JavaCode]
    frames: FrameTable
    rules: NamingRules
    foreign: set[str] = field(default_factory=set[str])
    certain: set[str] = field(default_factory=set[str])
    undescribed: dict[str, set[str]] = field(default_factory=dict[str, set[str]])
    shared: dict[int, SharedCode] = field(default_factory=dict[int, SharedCode])

    def places(self, at: Places) -> npt.NDArray[np.int64]:
        """For each address the number of its place in the code."""
        raw = self.raw
        found = np.full(len(at.addresses), self.frames.place(UNKNOWN), np.int64)
        mapping = mapping_indices(raw, at.processes, at.times_ns, at.addresses)
        in_files, elsewhere = _grouped(raw, at.processes, mapping)
        for (path, process), here in elsewhere.items():
            symbols = read_perf_map(perf_map_path(process))
            found[here] = self._numbers(path, path, symbols, at.addresses[here])
        shown = _shown_names(in_files)
        for file, here in in_files.items():
            path = self._opened(file, shown[file], np.unique(at.processes[here]).tolist())
            symbols = self._symbols(file, path)
            part = mapping[here]
            starts = np.array([raw.mappings[index].start for index in part], np.uint64)
            offsets = np.array([raw.mappings[index].offset for index in part], np.uint64)
            addresses = symbols.virtual_addresses(at.addresses[here] - starts + offsets)
            found[here] = self._numbers(path, shown[file], symbols, addresses)
        for process, code in self.java.items():
            self._name_java(at, process, code, mapping, found)
        return found

    def _opened(self, file: MappedFile, shown: str, processes: Iterable[int]) -> str:
        """Where the file is now; empty where it is in no file, or cannot be opened any more."""
        if not file.path.startswith("/"):
            return ""
        path = open_path(file, processes)
        if path is None:
            self.foreign.add(shown)
        elif file.build_id:
            self.certain.add(shown)
        return path or ""

    def _symbols(self, file: MappedFile, path: str) -> Symbols:
        if file.path == VDSO:
            return vdso_symbols(self.raw.header, file.build_id)
        return read_symbols(path) if path else NO_SYMBOLS

    def _numbers(
        self, path: str, shown: str, symbols: Symbols, addresses: npt.NDArray[np.uint64]
    ) -> npt.NDArray[np.int64]:
        unique, inverse = np.unique(addresses, return_inverse=True)
        missing: set[str] = set()
        places = code_places(
            path,
            symbols,
            unique.tolist(),
            inlined=self.rules.inlined and path.startswith("/"),
            clones_apart=self.rules.clones_apart,
            missing=missing,
        )
        if missing:
            self.undescribed.setdefault(shown, set()).update(missing)
        numbers = [self._number(shown, place) for place in places]
        return np.array(numbers, np.int64)[inverse]

    def _number(self, shown: str, place: CodePlace) -> int:
        names = place.names or (f"[{shown.rsplit('/', 1)[-1].strip('[]')}]",)
        frames = (Frame(name, shown) for name in names)
        sources = place.sources if self.rules.sources_apart else ()
        number = self.frames.place(*frames, is_part=place.is_part, sources=sources)
        if place.twins:
            self.shared[number] = SharedCode(names[-1], place.twins)
        return number

    def _name_java(
        self,
        at: Places,
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


def _grouped(
    raw: RawProfile, processes: npt.NDArray[np.uint32], mapping: npt.NDArray[np.int64]
) -> tuple[dict[MappedFile, npt.NDArray[np.int64]], dict[tuple[str, int], npt.NDArray[np.int64]]]:
    """The indices of addresses by the file that they are in; by path and process where in none."""
    files = [mapped_file(item) for item in raw.mappings]
    in_files: dict[MappedFile, list[int]] = {}
    elsewhere: dict[tuple[str, int], list[int]] = {}
    for index in np.flatnonzero(mapping >= 0).tolist():
        file = files[mapping[index]]
        if file.path.startswith(_ANONYMOUS):
            elsewhere.setdefault((file.path, int(processes[index])), []).append(index)
        else:
            in_files.setdefault(file, []).append(index)
    return (
        {file: np.array(indices) for file, indices in in_files.items()},
        {key: np.array(indices) for key, indices in elsewhere.items()},
    )


def _shown_names(files: Iterable[MappedFile]) -> dict[MappedFile, str]:
    """The path of each file; where it was that of several, with what distinguishes them."""
    files = list(files)
    often = Counter(file.path for file in files)
    return {file: file.path if often[file.path] == 1 else _distinct(file) for file in files}


def _distinct(file: MappedFile) -> str:
    which = f"build {file.build_id[:8]}" if file.build_id else f"inode {file.inode}"
    return f"{file.path} ({which})"
