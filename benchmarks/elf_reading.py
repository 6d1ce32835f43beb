"""Our reader of ELF files beside pyelftools: the same answer, the time of both, and their imports.

    .venv/bin/python -m benchmarks.elf_reading [FILE ...]

What is read is what naming samples takes: sections, segments, the build id, and the symbols' bytes.
Times are of the processor, medians of nine. The exit status is 1 where an answer differs.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from elftools.elf.elffile import ELFFile

from steelyard.core.elf_file import LOADED_SEGMENT, ElfFile

ROUNDS = 9
TABLES = (".symtab", ".strtab", ".dynsym", ".dynstr", ".eh_frame_hdr")
IMPORTS = ("steelyard.core.elf_file", "elftools.elf.elffile")


def ours(path: str) -> Any:
    """By the reader of Steelyard."""
    with open(path, "rb") as file:
        elf = ElfFile(file)
        sections = [(each.name, each.address, each.size) for each in elf.sections]
        segments = [(s.offset, s.file_bytes, s.address) for s in elf.segments_of(LOADED_SEGMENT)]
        found = [elf.section(name) for name in TABLES]
        return sections, segments, elf.build_id, [elf.data(each) for each in found if each]


def theirs(path: str) -> Any:
    """By pyelftools."""
    with open(path, "rb") as file:
        elf: Any = ELFFile(file)
        sections = [(each.name, each["sh_addr"], each["sh_size"]) for each in elf.iter_sections()]
        loaded = elf.iter_segments("PT_LOAD")
        segments = [(s["p_offset"], s["p_filesz"], s["p_vaddr"]) for s in loaded]
        notes = (note for each in elf.iter_segments("PT_NOTE") for note in each.iter_notes())
        ids = [str(note["n_desc"]) for note in notes if note["n_type"] == "NT_GNU_BUILD_ID"]
        found = [elf.get_section_by_name(name) for name in TABLES]
        contents = [each.data() for each in found if each is not None]
        return sections, segments, "".join(ids[:1]), contents


def processor_ms(read: Callable[[str], Any], path: str) -> float:
    """The median of some readings."""
    times: list[float] = []
    for _ in range(ROUNDS):
        begin = time.process_time()
        read(path)
        times.append(time.process_time() - begin)
    return statistics.median(times) * 1e3


def import_ms(module: str) -> float:
    """Processor time of a Python that imports it, beyond one that imports nothing."""
    code = (
        "import resource{}; print(resource.getrusage(0).ru_utime + resource.getrusage(0).ru_stime)"
    )
    times = {
        words: statistics.median(
            float(subprocess.check_output([sys.executable, "-c", code.format(words)]))
            for _ in range(ROUNDS)
        )
        for words in ("", f", {module}")
    }
    return (times[f", {module}"] - times[""]) * 1e3


def main(paths: list[str]) -> int:
    """Print both tables."""
    print("| file | MB | sections | ours, ms | pyelftools, ms |\n|---|---|---|---|---|")
    differing = 0
    for path in paths or [sys.executable]:
        answer = ours(path)
        differing += answer != theirs(path)
        size_mb = Path(path).stat().st_size / 1e6
        own_ms, other_ms = processor_ms(ours, path), processor_ms(theirs, path)
        name = Path(path).name
        print(f"| `{name}` | {size_mb:.1f} | {len(answer[0])} | {own_ms:.2f} | {other_ms:.2f} |")
    print("\n| import | processor time, ms |\n|---|---|")
    for module in IMPORTS:
        print(f"| {module} | {import_ms(module):.0f} |")
    print(f"\n{differing} of {max(1, len(paths))} answers differ.")
    return int(differing > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
