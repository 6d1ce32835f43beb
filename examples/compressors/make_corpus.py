"""Makes a text of some MB to compress: the sources of the Python standard library, end to end.

Real text that every machine with Python has; the same on every machine with the same Python.

    python make_corpus.py corpus.txt [SIZE_MB]
"""

from __future__ import annotations

import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

MEGABYTE_BYTES = 10**6
DEFAULT_SIZE_MB = 8


def sources() -> Iterator[Path]:
    """The library's own files, in an order that does not depend on the file system."""
    library = Path(sysconfig.get_path("stdlib"))
    for path in sorted(library.rglob("*.py")):
        if not {"site-packages", "dist-packages"} & set(path.relative_to(library).parts):
            yield path


def corpus(size_bytes: int) -> bytes:
    """`size_bytes` of source text; the library again from its start where it is too short."""
    text = bytearray()
    while len(text) < size_bytes:
        for path in sources():
            text += path.read_bytes()
            if len(text) >= size_bytes:
                break
    return bytes(text[:size_bytes])


def main() -> None:
    """Write the corpus to the file that is named."""
    size_mb = int(sys.argv[2]) if len(sys.argv) > 2 else DEFAULT_SIZE_MB
    Path(sys.argv[1]).write_bytes(corpus(size_mb * MEGABYTE_BYTES))


if __name__ == "__main__":
    main()
