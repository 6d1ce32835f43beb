"""Whether a program that was named can be read."""

from __future__ import annotations

import os

from steelyard.core.decoding import open_regular
from steelyard.core.errors import UsageError


def check_program(path: str) -> None:
    """Refuse a program that cannot be read.

    Raises
    ------
    UsageError
    """
    try:
        os.close(open_regular(path))
    except OSError as error:
        raise UsageError(
            f"The program {path} cannot be read: {error.strerror}.", field="--program"
        ) from None
