"""By which suffix an archive goes, as its first bytes have it: its own name is a stranger's."""

from __future__ import annotations

BEGINNING_BYTES = 512
_MAGIC = (
    (0, b"\x1f\x8b", ".tar.gz"),
    (0, b"BZh", ".tar.bz2"),
    (0, b"\xfd7zXZ\0", ".tar.xz"),
    (0, b"\x28\xb5\x2f\xfd", ".tar.zst"),
    (0, b"PK\3\4", ".zip"),
    (0, b"PK\5\6", ".zip"),
    (257, b"ustar", ".tar"),
)


def archive_suffix(beginning: bytes) -> str:
    """Such as ``.tar.gz``; ``.archive`` where the bytes are of no kind that is known."""
    for place, magic, suffix in _MAGIC:
        if beginning[place : place + len(magic)] == magic:
            return suffix
    return ".archive"
