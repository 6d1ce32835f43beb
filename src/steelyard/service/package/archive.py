"""Benchmark packages: archives with `run.sh` and `collect.sh`, of which nothing is believed.

The package is the one of DataMill (Oliveira 2015, 4.1.1). Two archives with the same files are the
same package, whatever packed them and when.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

from steelyard.archives.copy_folder import copy_folder
from steelyard.archives.member_names import MemberNames
from steelyard.archives.unpack_limits import UnpackLimits
from steelyard.archives.unpack_tar import DAMAGED as DAMAGED_TAR
from steelyard.archives.unpack_tar import unpack_tar
from steelyard.archives.unpack_zip import DAMAGED as DAMAGED_ZIP
from steelyard.archives.unpack_zip import unpack_zip
from steelyard.core.errors import ArchiveError, StoreError
from steelyard.core.full_disk import is_full

RUN, COLLECT, SETUP, ENV = "run.sh", "collect.sh", "setup.sh", "env"
# All files are of one time, so that `make` does the same wherever a package is unpacked.
MEMBER_UNIX_S = 946_684_800  # 2000-01-01 00:00 UTC
_BLOCK_BYTES = 1 << 20


@dataclass(frozen=True)
class PackageLimits:
    """What a package may be.

    Parameters
    ----------
    archive_bytes, total_bytes : int
        Packed and unpacked.
    member_count : int
    ratio : float
        How many times its size an archive may become, beyond 64 MiB.
    time_s : float
        How long reading it may take.
    """

    archive_bytes: int = 2**30
    total_bytes: int = 2 * 2**30
    member_count: int = 50_000
    ratio: float = 200.0
    time_s: float = 300.0


@dataclass(frozen=True)
class Member:
    """A file, folder or link of a package.

    `content` is the SHA-256 digest of a file, or what a link leads to.
    """

    path: str
    kind: Literal["file", "folder", "link"]
    size_bytes: int = 0
    is_executable: bool = False
    content: str = ""


@dataclass(frozen=True)
class Package:
    """A benchmark package, by what is in it.

    Parameters
    ----------
    digest : str
        SHA-256 over all members: paths, contents, and whether they may be executed.
    members : tuple of Member
        By their paths.
    source : str
        The archive or folder that it was read from.
    """

    digest: str
    members: tuple[Member, ...]
    source: str = ""

    @property
    def size_bytes(self) -> int:
        """The size of all files."""
        return sum(member.size_bytes for member in self.members)

    @property
    def has_setup(self) -> bool:
        """Whether something is to be run before the first trial."""
        return self.member(SETUP) is not None

    @property
    def has_env(self) -> bool:
        """Whether it brings variables of the environment."""
        return self.member(ENV) is not None

    def member(self, path: str) -> Member | None:
        """The member at `path`, if there is one."""
        return next((member for member in self.members if member.path == path), None)


def open_package(source: str, limits: PackageLimits | None = None) -> Package:
    """Read a package whole and keep nothing of it on the disk.

    Parameters
    ----------
    source : str
        A tar file (plain, gz, bz2, xz; zst from Python 3.14 on), a zip file, or a folder.

    Raises
    ------
    ArchiveError
        It cannot be read, or a member has no place in a package. The message names the member.
    StoreError
        The disk is full.
    """
    with tempfile.TemporaryDirectory(prefix="steelyard-package-") as folder:
        return unpack(source, os.path.join(folder, "files"), limits)


def unpack(source: Package | str, directory: str, limits: PackageLimits | None = None) -> Package:
    """Unpack a package into `directory`, which is made; nothing is left where that fails.

    Raises
    ------
    ArchiveError
        As for `open_package`; or it is no longer the package that was opened.
    """
    path = source.source if isinstance(source, Package) else source
    with _told(path), _made_whole(directory) as partial:
        _extract(path, partial, limits or PackageLimits())
        _lift(partial)
        _set_times(partial)
        package = package_in(partial, path)
        if isinstance(source, Package) and package.digest != source.digest:
            raise ArchiveError("it has changed since it was opened")
    return package


def package_in(directory: str, source: str = "") -> Package:
    """The package whose files lie in `directory`."""
    members = sorted(_members(directory, ""), key=lambda member: member.path)
    digest = hashlib.sha256()
    for member in members:
        told = (member.path, member.kind, member.is_executable, member.size_bytes, member.content)
        digest.update(json.dumps(told).encode() + b"\n")
    return Package(digest.hexdigest(), tuple(members), source or directory)


@contextmanager
def _told(path: str) -> Iterator[None]:
    """Faults of an archive as one error that names it."""
    try:
        yield
    except (ArchiveError, *DAMAGED_TAR, *DAMAGED_ZIP) as error:
        why = error.message if isinstance(error, ArchiveError) else str(error) or "it is damaged"
        raise ArchiveError(f"The package {path!r} cannot be read: {why}.") from None
    except OSError as error:
        if is_full(error):
            raise StoreError("The disk is full: the package cannot be unpacked here.") from None
        where = f" ({error.filename})" if error.filename not in (None, path) else ""
        raise ArchiveError(
            f"The package {path!r} cannot be read: {error.strerror}{where}."
        ) from None


@contextmanager
def _made_whole(directory: str) -> Iterator[str]:
    """A directory to fill that becomes `directory` at the end, or is gone."""
    partial = f"{directory}.unpacking"
    os.makedirs(partial)
    try:
        yield partial
        os.rename(partial, directory)
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise


def _extract(path: str, directory: str, limits: PackageLimits) -> None:
    about = os.stat(path)
    size_bytes = about.st_size
    if not stat.S_ISDIR(about.st_mode) and not stat.S_ISREG(about.st_mode):
        raise ArchiveError("it is neither a file nor a folder")
    if stat.S_ISREG(about.st_mode) and size_bytes > limits.archive_bytes:
        raise ArchiveError(
            f"it has {size_bytes} bytes, and a package may have {limits.archive_bytes}"
        )
    bounds = UnpackLimits(
        size_bytes,
        member_count=limits.member_count,
        total_bytes=limits.total_bytes,
        ratio=limits.ratio,
        time_s=limits.time_s,
        names=MemberNames(),
    )
    if stat.S_ISDIR(about.st_mode):
        bounds.ratio_from_bytes = limits.total_bytes
        copy_folder(path, directory, bounds)
    elif _is_zip(path):
        unpack_zip(path, directory, bounds)
    else:
        unpack_tar(path, directory, bounds)


def _is_zip(path: str) -> bool:
    with open(path, "rb") as file:
        return file.read(4) in (b"PK\3\4", b"PK\5\6")


def _lift(directory: str) -> None:
    """Leave out the folder that holds everything, as `tar czf it.tgz it/` makes one."""
    inside = os.listdir(directory)
    if len(inside) != 1:
        return
    only = os.path.join(directory, inside[0])
    if os.path.islink(only) or not os.path.isfile(os.path.join(only, RUN)):
        return
    lifted = f"{directory}.lifted"
    os.rename(only, lifted)
    os.rmdir(directory)
    os.rename(lifted, directory)


def _set_times(directory: str) -> None:
    for folder, _, names in os.walk(directory):
        for name in names:
            path = os.path.join(folder, name)
            os.utime(path, (MEMBER_UNIX_S, MEMBER_UNIX_S), follow_symlinks=False)


def _members(directory: str, above: str) -> Iterator[Member]:
    with os.scandir(directory) as entries:
        for entry in entries:
            path = f"{above}{entry.name}"
            if entry.is_symlink():
                yield Member(path, "link", content=os.readlink(entry.path))
            elif entry.is_dir():
                yield Member(path, "folder")
                yield from _members(entry.path, f"{path}/")
            else:
                about = entry.stat(follow_symlinks=False)
                is_executable = bool(about.st_mode & stat.S_IXUSR)
                yield Member(path, "file", about.st_size, is_executable, _file_digest(entry.path))


def _file_digest(path: str) -> str:
    with open(path, "rb", buffering=0) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
