"""Whether a disk, or what one may use of it, is full."""

from __future__ import annotations

from errno import EDQUOT, ENOSPC


def is_full(error: OSError) -> bool:
    """Whether a write failed for want of room: later it may succeed."""
    return error.errno in (ENOSPC, EDQUOT)
