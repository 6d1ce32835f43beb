"""What an archive may hold: where its members may lie, how many there may be and how large."""

from __future__ import annotations

import os
from dataclasses import dataclass

from steelyard.core.errors import SuiteError

# The largest source of the suite has 60,000 files and 1.2 GB. xz makes about a tenth of source
# text; zeros alone become less than a thousandth.
MEMBER_COUNT = 400_000
TOTAL_BYTES = 8 * 2**30
RATIO = 200.0
# A small archive of zeros is no attack; only beyond this the ratio counts.
RATIO_FROM_BYTES = 64 * 2**20
# Permissions that are kept: no set-user-ID, set-group-ID or sticky bit, and others may not write.
MODE_MASK = 0o755


@dataclass
class UnpackLimits:
    """Counts what comes out of one archive, and refuses more than a source can need.

    Parameters
    ----------
    archive_bytes : int
        The size of the archive, which the ratio is taken from.
    """

    archive_bytes: int
    member_count: int = MEMBER_COUNT
    total_bytes: int = TOTAL_BYTES
    ratio: float = RATIO
    ratio_from_bytes: int = RATIO_FROM_BYTES
    _members: int = 0
    _bytes: int = 0

    def add(self, name: str, size_bytes: int) -> None:
        """Count one member before anything of it is written.

        Raises
        ------
        SuiteError
            The archive has too many members, or becomes too large.
        """
        if size_bytes < 0:
            raise SuiteError(f"its member {name!r} has a size of {size_bytes} bytes")
        self._members += 1
        self._bytes += size_bytes
        if self._members > self.member_count:
            raise SuiteError(f"it has more than {self.member_count} members")
        self.check_size(self._bytes)

    def check_size(self, size_bytes: int) -> None:
        """Refuse a size that what comes out of the archive must not reach.

        Raises
        ------
        SuiteError
            It is too large by itself, or as a multiple of the archive's.
        """
        if size_bytes > self.total_bytes:
            raise SuiteError(f"it becomes larger than {self.total_bytes} bytes")
        allowed = max(self.ratio_from_bytes, self.ratio * self.archive_bytes)
        if size_bytes > allowed:
            raise SuiteError(
                f"its {self.archive_bytes} bytes become more than {int(allowed)}, so that it is "
                "no source but a trap"
            )


def inside(name: str) -> str:
    """The path of a member below the directory to which it is unpacked; empty for that itself.

    Raises
    ------
    SuiteError
        It is absolute, leads out of the directory or cannot be a path.
    """
    if "\0" in name or "\\" in name or name.startswith("/"):
        raise SuiteError(f"its member {name!r} has a name that no member may have")
    parts = [part for part in name.split("/") if part not in ("", ".")]
    if ".." in parts:
        raise SuiteError(f"its member {name!r} leads out of the archive")
    return os.path.join(*parts) if parts else ""
