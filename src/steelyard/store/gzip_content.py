"""What a file compressed by gzip holds, where that is not far more than its size suggests."""

from __future__ import annotations

import gzip
import os
import zlib

from steelyard.core.decoding import open_regular
from steelyard.core.errors import DataError

# Tables of numbers and names compress to a tenth or a thirtieth; a file that is made to fill the
# memory of whoever reads it, to a thousandth.
MOST_RATIO = 40
# Short files of lines that are alike may compress further.
LEAST_LIMIT_BYTES = 16 << 20


def gzip_content(path: str) -> bytes:
    """The bytes that a file compressed by gzip holds.

    Raises
    ------
    OSError
        It cannot be opened.
    DataError
        It is cut off, not compressed by gzip, or holds more than `MOST_RATIO` times its size.
    """
    with open(open_regular(path), "rb") as file:
        limit_bytes = max(LEAST_LIMIT_BYTES, MOST_RATIO * os.fstat(file.fileno()).st_size)
        try:
            with gzip.open(file) as compressed:
                data = compressed.read(limit_bytes + 1)
        except (EOFError, gzip.BadGzipFile, zlib.error):
            raise DataError(
                f"{path} is cut off, or not compressed by gzip.", field="file"
            ) from None
    if len(data) > limit_bytes:
        raise DataError(
            f"{path} holds more than {MOST_RATIO} times its size.\nUnpack it by `gzip -d` if it is "
            "yours; files are made so to fill memory.",
            field="file",
        )
    return data
