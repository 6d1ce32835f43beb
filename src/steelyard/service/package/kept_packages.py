"""Packages that are kept, each once, under the digest of what is in it."""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import uuid

from steelyard.core.errors import ArchiveError
from steelyard.core.private_file import DIRECTORY_MODE
from steelyard.service.package.archive import Package, PackageLimits, package_in, unpack

_DIGEST = re.compile(r"[0-9a-f]{64}")


class KeptPackages:
    """The unpacked files of packages below one directory.

    A package is there whole or not at all: it is unpacked beside its place and takes it by rename.

    Parameters
    ----------
    directory : str
        Made where it is missing.
    """

    def __init__(self, directory: str) -> None:
        self._directory = os.path.abspath(directory)
        os.makedirs(self._directory, mode=DIRECTORY_MODE, exist_ok=True)

    def add(self, source: str, limits: PackageLimits | None = None) -> Package:
        """Unpack a package and keep it; one that is there already is kept as it is.

        Raises
        ------
        ArchiveError
            As for `open_package`. Nothing of it is left.
        """
        partial = os.path.join(self._directory, f"new-{uuid.uuid4().hex}")
        package = unpack(source, partial, limits)
        self.adopt(partial, package.digest)
        return package

    def adopt(self, folder: str, digest: str) -> None:
        """Keep the unpacked files in `folder`, on the same file system, whose digest is known; what
        is kept already stays, unless it was damaged."""
        _write_out(folder)
        if self.has(digest) and not self.is_whole(digest):
            self.forget(digest)
        try:
            os.rename(folder, self.place(digest))
        except OSError:  # Another process was first, or it was there.
            shutil.rmtree(folder, ignore_errors=True)
            if not self.has(digest):
                raise

    def has(self, digest: str) -> bool:
        """Whether a package of this digest is kept."""
        return os.path.isdir(self.place(digest))

    def is_whole(self, digest: str) -> bool:
        """Whether a package is kept, and is what its digest says; it is read whole."""
        try:
            self.package(digest)
        except (ArchiveError, OSError):
            return False
        return True

    def place(self, digest: str) -> str:
        """The folder that holds, or would hold, the files of a package.

        Raises
        ------
        ArchiveError
            It is no digest.
        """
        if not _DIGEST.fullmatch(digest):
            raise ArchiveError(f"{digest!r} is no digest of a package.")
        return os.path.join(self._directory, digest)

    def package(self, digest: str) -> Package:
        """A package that is kept, read anew.

        Raises
        ------
        ArchiveError
            It is not kept, or is no longer what its digest says.
        """
        place = self.place(digest)
        if not os.path.isdir(place):
            raise ArchiveError(f"No package {digest} is kept in {self._directory}.")
        package = package_in(place)
        if package.digest != digest:
            raise ArchiveError(f"The package kept in {place} was changed. Remove it, send it anew.")
        return package

    def forget(self, digest: str) -> None:
        """Remove a package; nothing where it is not kept."""
        place = self.place(digest)
        if os.path.isdir(place):
            gone = f"{place}.{uuid.uuid4().hex}"
            os.rename(place, gone)
            shutil.rmtree(gone)


def _write_out(folder: str) -> None:
    """Have the file system of a folder on the disk: a name that outlives a crash of the host has
    to lead to contents that do. One call for all files, of which a package may have thousands."""
    number = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        ctypes.CDLL(None).syncfs(number)
    finally:
        os.close(number)


def packages_directory() -> str:
    """Where this user's packages are kept: ``$STEELYARD_PACKAGES``, else in the user's cache."""
    cache = os.environ.get("XDG_CACHE_HOME", "")
    if not os.path.isabs(cache):  # The XDG specification: relative paths are to be ignored.
        cache = os.path.expanduser("~/.cache")
    usual = os.path.join(cache, "steelyard", "packages")
    return os.environ.get("STEELYARD_PACKAGES") or usual
