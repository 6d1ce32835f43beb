"""A build as one file, for another host of the same platform: packed, checked, unpacked.

The archive is a plain tar file: what is told of the build, its directory, and the log beside it.
"""

from __future__ import annotations

import io
import json
import os
import shutil
import stat
import tarfile
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from steelyard.archives.member_names import MemberNames
from steelyard.archives.unpack_limits import UnpackLimits
from steelyard.archives.unpack_tar import DAMAGED, unpack_tar
from steelyard.build.cache_key import tree_digest
from steelyard.build.own_paths import holds_path
from steelyard.build.run_build import Build
from steelyard.build.side_files import beside
from steelyard.core.errors import ArchiveError, BuildFailedError

# Of one archive; the largest build of the suite takes some 200 MB.
MOST_BYTES = 1 << 30
_MOST_MEMBERS = 100_000
_FORMAT = 1
_TOLD, _BUILD, _LOG = "told.json", "build", "log"
_MOST_TOLD_BYTES = 4 << 20


@dataclass(frozen=True)
class PackedBuild:
    """What an archive tells of its build.

    Parameters
    ----------
    key : str
        Of the cache.
    place : str
        The directory that it was made at.
    bound_by : str
        The file in it that holds this place, so that it can be used there alone; empty where it
        can be used anywhere.
    cost_s : float
    realised : mapping
        As of `Build`.
    tree : str
        The digest of its directory.
    """

    key: str
    place: str
    bound_by: str
    cost_s: float
    realised: Mapping[str, Any]
    tree: str


def pack_build(key: str, build: Build, path: str) -> PackedBuild:
    """Write a build into a new file.

    Raises
    ------
    ArchiveError
        It has what no archive may have: a link that leads out, a device, too many or too large
        files.
    OSError
        The file cannot be written.
    """
    directory = build.directory
    _check_files(directory)
    # Orders of a linker are files beside it, which do not go along.
    bound = holds_path(directory, directory) or ("its records" if _names(build) else "")
    try:
        tree = _tree(directory)
    except BuildFailedError as error:
        raise ArchiveError(error.message) from None
    packed = PackedBuild(key, directory, bound, build.cost_s, build.realised, tree)
    told = json.dumps({"format": _FORMAT, **vars(packed)}).encode()
    with tarfile.open(path, "x", format=tarfile.PAX_FORMAT) as archive:
        about = tarfile.TarInfo(_TOLD)
        about.size, about.mode = len(told), 0o644
        archive.addfile(about, io.BytesIO(told))
        archive.add(directory, _BUILD, filter=_anonymous)
        if os.path.isfile(build.log):
            archive.add(build.log, _LOG, filter=_anonymous)
    if os.path.getsize(path) > MOST_BYTES:
        raise ArchiveError(f"it has more than {MOST_BYTES >> 20} MiB")
    return packed


def _names(build: Build) -> bool:
    return build.directory in json.dumps(build.realised)


def _tree(directory: str) -> str:
    return tree_digest(directory)


def _check_files(directory: str) -> None:
    root = os.path.realpath(directory)
    count = 0
    for folder, folders, files in os.walk(directory):
        for name in (*folders, *files):
            path = os.path.join(folder, name)
            shown = os.path.relpath(path, directory)
            mode = os.lstat(path).st_mode
            count += 1
            if name == ".git":
                raise ArchiveError(f"it has a repository of git, {shown!r}")
            if stat.S_ISLNK(mode):
                target = os.readlink(path)
                found = os.path.realpath(path)
                if os.path.isabs(target) or not found.startswith(root + os.sep):
                    raise ArchiveError(f"its link {shown!r} leads out of it, to {target!r}")
            elif not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
                raise ArchiveError(f"its {shown!r} is neither a file nor a directory")
    if count > _MOST_MEMBERS:
        raise ArchiveError(f"it has more than {_MOST_MEMBERS} files")


def _anonymous(member: tarfile.TarInfo) -> tarfile.TarInfo:
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    return member


def unpack_build(path: str, scratch: str, key: str) -> PackedBuild:
    """Unpack an archive into the new directory `scratch`, and see that it is what it says.

    Raises
    ------
    ArchiveError
        It is damaged, holds what it may not, or is another build than that of `key`.
    """
    os.makedirs(scratch, mode=0o700)
    limits = UnpackLimits(
        os.path.getsize(path), _MOST_MEMBERS + 3, MOST_BYTES, names=MemberNames(64, 3000)
    )
    try:
        unpack_tar(path, scratch, limits)
    except DAMAGED as error:
        raise ArchiveError(f"it cannot be read: {error}") from None
    packed = _told(os.path.join(scratch, _TOLD))
    if packed.key != key:
        raise ArchiveError(f"it is the build {packed.key}, not {key}")
    try:
        tree = _tree(os.path.join(scratch, _BUILD))
    except BuildFailedError as error:
        raise ArchiveError(error.message) from None
    if tree != packed.tree:
        raise ArchiveError("its files are not those that it says it has")
    if not packed.bound_by and holds_path(os.path.join(scratch, _BUILD), packed.place):
        raise ArchiveError("a file of it holds the place where it was made, which it denies")
    return packed


def move_build(
    scratch: str, directory: str, packed: PackedBuild, made_by: Mapping[str, Any]
) -> Build:
    """Move what `unpack_build` unpacked to the place of a build where nothing is yet.

    Raises
    ------
    ArchiveError
        It can be used only where it was made.
    """
    if packed.bound_by and packed.place != directory:
        raise ArchiveError(
            f"its {packed.bound_by} holds the place where it was made, {packed.place}, and here "
            f"it would lie at {directory}"
        )
    os.makedirs(beside(directory))
    log = os.path.join(beside(directory), "log")
    if os.path.exists(os.path.join(scratch, _LOG)):
        shutil.move(os.path.join(scratch, _LOG), log)
    shutil.move(os.path.join(scratch, _BUILD), directory)
    return Build(directory, packed.cost_s, {**packed.realised, "made_by": dict(made_by)}, log)


def _told(path: str) -> PackedBuild:
    try:
        if os.path.getsize(path) > _MOST_TOLD_BYTES:
            raise ArchiveError("what it tells of itself is too long")
        with open(path, encoding="utf-8") as file:
            found = json.load(file)
        told = dict(cast("dict[str, Any]", found))
        kept = {name: told[name] for name in PackedBuild.__dataclass_fields__}
        packed = PackedBuild(**kept)
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        raise ArchiveError("it does not say what build it is") from None
    texts = (packed.key, packed.place, packed.bound_by, packed.tree)
    if (
        told.get("format") != _FORMAT
        or not all(isinstance(each, str) for each in texts)
        or type(packed.cost_s) not in (int, float)
        or not isinstance(packed.realised, dict)
        or not packed.place
    ):
        raise ArchiveError("it does not say what build it is")
    return packed
