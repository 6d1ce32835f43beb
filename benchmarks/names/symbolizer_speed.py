"""Beside another implementation: the same functions at the same addresses, and how fast."""

from __future__ import annotations

import random
import re
import resource
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

from steelyard.profile.symbols.elf_symbols import read_symbols
from steelyard.profile.symbols.inlined_code import DescribedFunction, described_functions

_LARGEST_BYTES = 1_000_000


def addresses_in(path: str, count: int, seed: int) -> list[int]:
    """Addresses at random in functions that are drawn at random, rising."""
    symbols = read_symbols(path)
    spans = [
        (begin, end)
        for begin, end in zip(symbols.addresses.tolist(), symbols.ends.tolist(), strict=True)
        if 0 < end - begin < _LARGEST_BYTES
    ]
    drawn = random.Random(seed)
    return sorted({drawn.randrange(*drawn.choice(spans)) for _ in range(count)})


def compare(path: str, count: int, seed: int, other: str) -> bool:
    """Print a row: how many places are the same by `other`, and the time that both take."""
    addresses = addresses_in(path, count, seed)
    before_s, begin_s = _processor_s(), time.monotonic()
    own = described_functions(path, addresses)
    own_s, wall_s = _processor_s() - before_s, time.monotonic() - begin_s
    before_s = _processor_s()
    theirs = _by_other(path, addresses, other)
    other_s = _processor_s() - before_s
    pairs = list(zip(own, theirs, strict=True))
    same = sum(_is_same(ours, names) for ours, names in pairs)
    told = sum(bool(ours) for ours in own)
    wrong = sum(bool(ours) and not _is_same(ours, names) for ours, names in pairs)
    size_mb = Path(path).stat().st_size / 1e6
    print(
        f"| `{Path(path).name}` | {size_mb:.0f} | {len(addresses)} | {told} | {same} | {wrong} | "
        f"{wall_s:.1f} | {own_s:.2f} | {other_s:.2f} |",
        flush=True,
    )
    return not wrong


def _processor_s() -> float:
    """Processor time of this process and of those that it waited for, which load does not touch."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(item.ru_utime + item.ru_stime for item in used)


def _by_other(path: str, addresses: Sequence[int], other: str) -> list[list[str]]:
    """The names for linkers at each address, the inmost first."""
    options = ["--functions=linkage", "--inlines", "--no-demangle", "--output-style=LLVM"]
    asked = "".join(f"{address:#x}\n" for address in addresses)
    command = [other, "-e", path, *options]
    told = subprocess.run(command, input=asked, capture_output=True, text=True, check=True).stdout
    return [block.split("\n")[0::2] for block in re.split(r"\n\n", told.strip("\n"))]


def _is_same(own: Sequence[DescribedFunction], other: Sequence[str]) -> bool:
    """The other names the outermost function by its symbol, of which there may be several."""
    names = [function.linkage_name or function.last_part for function in own]
    return len(names) == len(other) and names[:-1] == list(other)[:-1]
