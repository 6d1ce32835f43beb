"""Files that answers are written to."""

from __future__ import annotations


def write_whole(data: bytes, path: str) -> None:
    """Write `data` to `path` whole or not at all; a device or a pipe is written as it is.

    Raises
    ------
    DataError
        It cannot be written.
    """
    from steelyard.store.whole_file import whole_file

    with whole_file(path) as writable, open(writable, "wb") as file:
        file.write(data)
