"""Write the debugging sections of an object file as native/fuzz/symbolizer_fuzz.cpp reads them."""

from __future__ import annotations

import struct
import sys
from pathlib import Path

from elftools.elf.elffile import ELFFile

NAMES = (
    ".debug_info",
    ".debug_abbrev",
    ".debug_str",
    ".debug_line_str",
    ".debug_str_offsets",
    ".debug_addr",
    ".debug_ranges",
    ".debug_rnglists",
    ".debug_line",
)


def main(source: str, target: str) -> None:
    """Sizes first, then bytes."""
    with open(source, "rb") as file:
        elf = ELFFile(file)
        sections = [elf.get_section_by_name(name) for name in NAMES]
        found = [b"" if section is None else section.data() for section in sections]
    Path(target).write_bytes(struct.pack(f"<{len(found)}I", *map(len, found)) + b"".join(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
