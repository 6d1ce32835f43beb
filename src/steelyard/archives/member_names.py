"""Names of members that every file system keeps apart, and every terminal shows."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass, field

from steelyard.core.errors import ArchiveError

# A file system of Linux takes names of 255 bytes (NAME_MAX); its calls take paths of 4096.
NAME_BYTES = 255
PATH_BYTES = 1024
DEPTH_COUNT = 32


@dataclass
class MemberNames:
    """The names of one archive; refuses those that could hide or replace another.

    Parameters
    ----------
    depth_count, path_bytes : int
        How deep and how long a path may be.
    """

    depth_count: int = DEPTH_COUNT
    path_bytes: int = PATH_BYTES
    _spelled: dict[str, str] = field(default_factory=dict[str, str])
    _files: set[str] = field(default_factory=set[str])
    _folders: set[str] = field(default_factory=set[str])

    def add(self, path: str, *, is_directory: bool) -> None:
        """Take one more member.

        Raises
        ------
        ArchiveError
            It has a control character or bytes that are not UTF-8, is too long or too deep, is
            there already, or differs from another in case or in the form of Unicode alone.
        """
        self._check_characters(path)
        parts = path.split("/")
        if len(parts) > self.depth_count:
            raise ArchiveError(f"its member {path!r} lies deeper than {self.depth_count} folders")
        for count in range(1, len(parts)):
            self._take("/".join(parts[:count]), is_directory=True)
        self._take(path, is_directory=is_directory)

    def _check_characters(self, path: str) -> None:
        if any(unicodedata.category(character) in ("Cc", "Cs") for character in path):
            raise ArchiveError(
                f"its member {path!r} has a name with control characters or bytes that are "
                "not UTF-8"
            )
        longest = max(len(part.encode()) for part in path.split("/"))
        if longest > NAME_BYTES or len(path.encode()) > self.path_bytes:
            raise ArchiveError(
                f"its member {path[:60] + '…'!r} has a name of {len(path.encode())} bytes; a name "
                f"may have {NAME_BYTES}, with its folders {self.path_bytes}"
            )

    def _take(self, path: str, *, is_directory: bool) -> None:
        known = self._spelled.setdefault(_folded(path), path)
        if known != path:
            raise ArchiveError(
                f"its members {known!r} and {path!r} have names that some file systems take for "
                "the same"
            )
        if path in self._files or (not is_directory and path in self._folders):
            raise ArchiveError(f"its member {path!r} is there twice")
        (self._folders if is_directory else self._files).add(path)


def _folded(path: str) -> str:
    """What names have in common that a file system may take for one (Unicode 15, 3.13 D145)."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", path).casefold())
