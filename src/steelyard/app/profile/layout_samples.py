"""Where the samples of a profile lie in a program that `steelyard cc` built."""

from __future__ import annotations

import os
from bisect import bisect_right
from collections import Counter
from typing import TYPE_CHECKING

from steelyard.core.errors import DataError
from steelyard.layout.audit import LayoutAudit, SampledCode

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from steelyard.profile.file.profile_file import RawProfile

# Branches reach so far: copies lie no farther from their program or library.
_REACH_BYTES = 1 << 31


def sampled_code(audit: LayoutAudit, profile: str) -> SampledCode:
    """Count the samples of a profile by what moves and what stays.

    A sample of a run that moved lies in a copy, in what stays of the program, or elsewhere. One of
    a run that did not move (``STEELYARD_LAYOUT=none``) lies in a function that would have moved.

    Parameters
    ----------
    audit : LayoutAudit
        Of the program.
    profile : str
        A profile that `steelyard profile record` wrote while it ran.

    Raises
    ------
    DataError
        The file is no profile, or nothing in it is of this program.
    """
    from steelyard.profile.file.profile_file import read_profile
    from steelyard.profile.symbols.address_space import mapping_indices

    raw = read_profile(profile)
    samples = raw.samples[raw.samples["process"] != 0]
    addresses = samples["user_address"]
    mapping = mapping_indices(raw, samples["process"], samples["time_ns"], addresses)
    own = [_is_file(item.path, audit.path) for item in raw.mappings]
    counts: Counter[tuple[str, str]] = Counter()
    starts = [item.start for item, is_own in zip(raw.mappings, own, strict=True) if is_own]
    linked = _linked(raw, audit.path, mapping, addresses)
    code = _Code(audit)
    for index, address, place in zip(
        mapping.tolist(), addresses.tolist(), linked.tolist(), strict=True
    ):
        if index >= 0 and own[index]:
            counts[code.kind_at(place)] += 1
        elif index >= 0 and _is_of_a_file(raw.mappings[index].path):
            counts["elsewhere", raw.mappings[index].path] += 1
        elif address and any(abs(address - start) < _REACH_BYTES for start in starts):
            counts["moves", ""] += 1
        else:
            counts["elsewhere", "[kernel]" if not address else "[unknown]"] += 1
    # A run that moved may have all its samples in copies, and none in the file itself.
    if all(kind == "elsewhere" for kind, _ in counts):
        raise DataError(
            f"{profile} has no sample in {audit.path}: it is of another program, or of an older "
            "build of it. Record one: `steelyard profile record -- PROGRAM`.",
            field="--profile",
        )
    return SampledCode.of(counts)


class _Code:
    """What lies at an address of a program, as its linker gave addresses."""

    def __init__(self, audit: LayoutAudit) -> None:
        self._functions = sorted(audit.functions, key=lambda function: function.address)
        self._starts = [function.address for function in self._functions]
        self._runtime = audit.runtime

    def kind_at(self, address: int) -> tuple[str, str]:
        """``moves``, ``stays`` or ``runtime``, with the name of what stays."""
        if any(start <= address < end for start, end in self._runtime):
            return "runtime", ""
        at = bisect_right(self._starts, address) - 1
        function = self._functions[at] if at >= 0 else None
        if function is None or address >= function.address + function.size_bytes:
            return "stays", "[code that no symbol names]"
        return ("moves", "") if function.moves else ("stays", function.name)


def _linked(
    raw: RawProfile,
    path: str,
    mapping: npt.NDArray[np.int64],
    addresses: npt.NDArray[np.uint64],
) -> npt.NDArray[np.uint64]:
    """The addresses as the linker of the program at `path` gave them."""
    import numpy as np

    from steelyard.profile.symbols.elf_symbols import read_symbols

    if not raw.mappings:
        return addresses
    starts = np.array([item.start for item in raw.mappings], np.uint64)[mapping]
    offsets = np.array([item.offset for item in raw.mappings], np.uint64)[mapping]
    with np.errstate(over="ignore"):
        return read_symbols(path).virtual_addresses(addresses - starts + offsets)


def _is_of_a_file(recorded: str) -> bool:
    return recorded.startswith("/") and not recorded.startswith("//anon")


def _is_file(recorded: str, path: str) -> bool:
    return recorded.startswith("/") and os.path.realpath(recorded) == os.path.realpath(path)
