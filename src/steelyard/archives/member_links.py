"""The symbolic links of an archive: made last, none through another, none that leads out."""

from __future__ import annotations

import os

from steelyard.core.errors import ArchiveError


class MemberLinks:
    """Collects links while files are written, so that nothing is ever written through one.

    Parameters
    ----------
    directory : str
        What the archive is unpacked to.
    """

    def __init__(self, directory: str) -> None:
        self._directory = directory
        self._links: dict[str, str] = {}

    def add(self, path: str, target: str) -> None:
        """Take a link that `make` is to make."""
        self._links[path] = target

    def free(self, path: str) -> str:
        """Where a member goes, its folder made; a link that lay there, or above it, is refused.

        Raises
        ------
        ArchiveError
        """
        parts = path.split("/")
        for count in range(1, len(parts) + 1):
            if "/".join(parts[:count]) in self._links:
                raise ArchiveError(f"its member {path!r} is to be written through a link")
        target = os.path.join(self._directory, path)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        return target

    def make(self) -> None:
        """Make the links, then make sure that none leads out of the directory.

        Raises
        ------
        ArchiveError
            The message names the link.
        """
        root = os.path.realpath(self._directory)
        for path, target in self._links.items():
            if os.path.isabs(target) or "\0" in target:
                raise ArchiveError(f"its link {path!r} leads out of the archive, to {target!r}")
            if os.path.dirname(path):
                self.free(os.path.dirname(path))  # No link lies above it.
            above = os.path.dirname(os.path.join(root, path))
            # Its own name, and not that of a link which the file system takes for the same.
            if os.path.realpath(above) != above:
                raise ArchiveError(f"its link {path!r} is to be made through a link")
            os.makedirs(above, exist_ok=True)
            os.symlink(target, os.path.join(root, path))
        for path, target in self._links.items():
            found = os.path.realpath(os.path.join(self._directory, path))
            if found != root and not found.startswith(root + os.sep):
                raise ArchiveError(f"its link {path!r} leads out of the archive, to {target!r}")
