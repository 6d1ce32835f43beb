"""What an archive may hold: where its members may lie, how many there may be and how large."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, field

from steelyard.archives.member_names import MemberNames
from steelyard.core.errors import ArchiveError

# The largest source of the suite has 60,000 files and 1.2 GB. xz makes about a tenth of source
# text; zeros alone become less than a thousandth.
MEMBER_COUNT = 400_000
TOTAL_BYTES = 8 * 2**30
RATIO = 200.0
# A small archive of zeros is no attack; only beyond this the ratio counts.
RATIO_FROM_BYTES = 64 * 2**20
# Permissions that are kept: no set-user-ID, set-group-ID or sticky bit, and others may not write.
MODE_MASK = 0o755
SET_ID = 0o6000


@dataclass
class UnpackLimits:
    """Counts what comes out of one archive, and refuses more than a source can need.

    Parameters
    ----------
    archive_bytes : int
        The size of the archive, which the ratio is taken from.
    time_s : float, optional
        How long reading it may take.
    names : MemberNames, optional
        For archives of strangers: what names must keep besides. Then members with set-id bits,
        sparse files, trailing data and headers that disagree are refused too.
    """

    archive_bytes: int
    member_count: int = MEMBER_COUNT
    total_bytes: int = TOTAL_BYTES
    ratio: float = RATIO
    ratio_from_bytes: int = RATIO_FROM_BYTES
    time_s: float | None = None
    names: MemberNames | None = None
    _members: int = 0
    _bytes: int = 0
    _begun_s: float = field(default_factory=time.monotonic)

    @property
    def is_strict(self) -> bool:
        """Whether the archive is a stranger's."""
        return self.names is not None

    def add(self, name: str, size_bytes: int) -> None:
        """Count one member before anything of it is written.

        Raises
        ------
        ArchiveError
            The archive has too many members, or becomes too large.
        """
        if size_bytes < 0:
            raise ArchiveError(f"its member {name!r} has a size of {size_bytes} bytes")
        self._members += 1
        self._bytes += size_bytes
        if self._members > self.member_count:
            raise ArchiveError(f"it has more than {self.member_count} members")
        self.check_size(self._bytes)

    def place(self, name: str, *, is_directory: bool) -> str:
        """The path of a member, as `inside` gives it, if its name keeps the rules of `names`.

        Raises
        ------
        ArchiveError
            The message names the member.
        """
        path = inside(name)
        if self.names is not None and path:
            self.names.add(path, is_directory=is_directory)
        return path

    def check_mode(self, name: str, mode: int) -> None:
        """Refuse a stranger's file that is to run as another user.

        Raises
        ------
        ArchiveError
        """
        if self.is_strict and mode & SET_ID:
            raise ArchiveError(f"its member {name!r} has set-id bits ({mode & 0o7777:04o})")

    def check_size(self, size_bytes: int) -> None:
        """Refuse a size that what comes out of the archive must not reach.

        Raises
        ------
        ArchiveError
            It is too large by itself, or as a multiple of the archive's.
        """
        if self.time_s is not None and time.monotonic() - self._begun_s > self.time_s:
            raise ArchiveError(f"reading it takes longer than {self.time_s:g} s")
        if size_bytes > self.total_bytes:
            raise ArchiveError(f"it becomes larger than {self.total_bytes} bytes")
        allowed = max(self.ratio_from_bytes, self.ratio * self.archive_bytes)
        if size_bytes > allowed:
            raise ArchiveError(
                f"its {self.archive_bytes} bytes become more than {int(allowed)}, so that it is "
                "a trap"
            )


def inside(name: str) -> str:
    """The path of a member below the directory to which it is unpacked; empty for that itself.

    Raises
    ------
    ArchiveError
        It is absolute, leads out of the directory or cannot be a path.
    """
    if "\0" in name or "\\" in name or name.startswith("/"):
        raise ArchiveError(f"its member {name!r} has a name that no member may have")
    parts = [part for part in name.split("/") if part not in ("", ".")]
    if ".." in parts:
        raise ArchiveError(f"its member {name!r} leads out of the archive")
    return os.path.join(*parts) if parts else ""
