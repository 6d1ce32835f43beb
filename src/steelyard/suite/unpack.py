"""Unpacking archives, and patching what was in them."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Sequence

from steelyard.archives.unpack_tar import DAMAGED as DAMAGED_TAR
from steelyard.archives.unpack_tar import unpack_tar
from steelyard.archives.unpack_zip import DAMAGED as DAMAGED_ZIP
from steelyard.archives.unpack_zip import unpack_zip
from steelyard.core.errors import ArchiveError, FetchError, SuiteError
from steelyard.suite.tool_command import run_tool, tool

_ARCHIVES = (".crate", ".tgz", ".tar", ".tar.gz", ".tar.bz2", ".tar.xz")
_ZIPS = (".whl", ".zip")
_OF_THE_DISK = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EIO, errno.EACCES)


def unpack_debian(description: str, target: str) -> None:
    """Unpack a source package, of which `description` is the ``.dsc``, with Debian's patches.

    Its digests were compared with the recipe's, so its signature is not asked for again.
    """
    unpacker = tool("dpkg-source", "dpkg-dev", "Unpacking source packages of Debian")
    os.makedirs(os.path.dirname(target), exist_ok=True)
    try:
        run_tool(
            [unpacker, "--no-check", "--no-copy", "-q", "-x", description, target],
            os.path.dirname(target),
        )
    except FetchError as error:
        raise SuiteError(f"{description} cannot be unpacked: {error.message}") from None


def unpack(archive: str, target: str) -> None:
    """Unpack a tar or zip file; the directory that holds everything in it, if one does, is left
    out.

    Raises
    ------
    SuiteError
        It is damaged, of a kind that is not known, or has members that no source has (`unpack_tar`,
        `unpack_zip`). Nothing of it is left.
    """
    partial = f"{target}.unpacking"
    os.makedirs(partial)
    try:
        if archive.endswith(_ZIPS):
            unpack_zip(archive, partial)
        elif archive.endswith(_ARCHIVES):
            unpack_tar(archive, partial)
        else:
            known = ", ".join((*_ARCHIVES, *_ZIPS))
            raise SuiteError(f"it is no archive that can be unpacked: {known}")
    except (SuiteError, ArchiveError, OSError, *DAMAGED_TAR, *DAMAGED_ZIP) as error:
        shutil.rmtree(partial)
        if isinstance(error, OSError) and error.errno in _OF_THE_DISK:
            raise
        raise SuiteError(f"{archive} cannot be unpacked: {error}.") from None
    inside = os.listdir(partial)
    only = os.path.join(partial, inside[0]) if len(inside) == 1 else partial
    if (
        not archive.endswith(_ZIPS)
        and only != partial
        and os.path.isdir(only)
        and not os.path.islink(only)
    ):
        os.rename(only, target)
        os.rmdir(partial)
    else:
        os.rename(partial, target)


def apply_patches(patches: Sequence[str], directory: str) -> None:
    """Apply unified diffs in their order, without fuzz.

    Raises
    ------
    SuiteError
        One does not fit; the message names it.
    """
    if not patches:
        return
    program = tool("patch", "patch", "Patching a source")
    options = ("-p1", "--batch", "--forward", "--fuzz=0", "--no-backup-if-mismatch")
    for patch in patches:
        try:
            run_tool([program, *options, "--input", patch], directory)
        except FetchError as error:
            raise SuiteError(
                f"The patch {patch} does not fit its source: {error.message}"
            ) from None


def copy_tree(source: str, target: str) -> None:
    """Copy a folder, with what its links lead to, and without what Python leaves in one."""
    shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
