"""The functions of the kernel, and of the library that it gives to every process ([vdso])."""

from __future__ import annotations

import io
from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np

from steelyard.analysis.profiles.profile_samples import Frame
from steelyard.core.elf_file import from_open_elf
from steelyard.profile.boot_identity import boot_id
from steelyard.profile.symbols.elf_symbols import NO_SYMBOLS, Symbols, symbols_of

KERNEL = Frame("[kernel]", "[kernel]")
VDSO = "[vdso]"
_KALLSYMS = "/proc/kallsyms"
_CODE = frozenset("tTwW")


def kernel_symbols(header: Mapping[str, Any], path: str = _KALLSYMS) -> Symbols:
    """The kernel's functions, by their addresses in memory.

    Parameters
    ----------
    header : mapping
        Of the recording: since another start of the machine addresses are others.
    path : str

    Returns
    -------
    Symbols
        None where the kernel hides its addresses (`sysctl kernel.kptr_restrict`), or has been
        started anew.
    """
    return _read_kallsyms(path) if _is_this_boot(header) else NO_SYMBOLS


def kernel_frame(symbols: Symbols, index: int) -> Frame:
    """The function of that number; the kernel as a whole for -1."""
    if index < 0:
        return KERNEL
    name, _, module = symbols.names[index].decode("utf-8", "replace").partition("\t")
    return Frame(name, module or KERNEL.object)


def vdso_symbols(header: Mapping[str, Any], build_id: str) -> Symbols:
    """The functions of `[vdso]`, by offsets; none where that of the recording was another one."""
    symbols = _own_vdso() if _is_this_boot(header) else NO_SYMBOLS
    is_other = bool(build_id) and symbols.build_id != build_id
    return NO_SYMBOLS if is_other else symbols


def _is_this_boot(header: Mapping[str, Any]) -> bool:
    recorded = header.get("boot_id")
    return bool(recorded) and recorded == boot_id()


@cache
def _read_kallsyms(path: str) -> Symbols:
    found: dict[int, bytes] = {}
    try:
        with open(path, "rb") as file:
            for line in file:
                address, kind, name, *_ = line.split(b" ", 2)
                if kind.decode() in _CODE and (number := int(address, 16)):
                    found.setdefault(number, name.rstrip())
    except (OSError, ValueError):
        return NO_SYMBOLS
    starts = np.array(sorted(found), np.uint64)
    ends = np.append(starts[1:], starts[-1:])
    return Symbols(starts, ends, [found[start] for start in starts.tolist()], ())


@cache
def _own_vdso() -> Symbols:
    """By this process's own: the kernel gives all of one kind the same."""
    try:
        with open("/proc/self/maps", encoding="ascii", errors="replace") as maps:
            line = next(line for line in maps if line.rstrip().endswith(VDSO))
        begin, end = (int(word, 16) for word in line.split()[0].split("-"))
        with open("/proc/self/mem", "rb", buffering=0) as memory:
            memory.seek(begin)
            image = memory.read(end - begin)
        return from_open_elf(io.BytesIO(image), symbols_of, NO_SYMBOLS)
    except (OSError, StopIteration, ValueError):
        return NO_SYMBOLS
