"""Images and libraries of this host, which benchmarks are brought to by name.

An image is a folder with a root file system, libraries are a folder with shared objects that go
before those installed. Both lie below a directory each, under their names.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

from steelyard.core.errors import MissingCapabilityError
from steelyard.core.private_file import make_private_directories, private_opener

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,99}")
# What stands for what is installed on the host itself.
AS_INSTALLED = "host"


@dataclass(frozen=True)
class RoomKind:
    """A kind of what a host has several of, each a folder by its name.

    Parameters
    ----------
    name : str
        What people call one of them.
    variable : str
        Of the environment: the directory with the folders.
    usual : str
        The directory where the variable is not set.
    """

    name: str
    variable: str
    usual: str

    @property
    def directory(self) -> str:
        """Where the folders lie on this host."""
        return os.path.abspath(os.environ.get(self.variable) or self.usual)

    def found(self) -> tuple[str, ...]:
        """The names of all of them, in order."""
        try:
            entries = [entry.name for entry in os.scandir(self.directory) if entry.is_dir()]
        except OSError:
            return ()
        return tuple(sorted(name for name in entries if is_room_name(name)))

    def folder(self, name: str) -> str:
        """The folder of one of them, as it really lies.

        Raises
        ------
        MissingCapabilityError
            This host has none of the name.
        """
        place = os.path.join(self.directory, name)
        if not is_room_name(name) or not os.path.isdir(place):
            known = ", ".join(self.found()) or "none"
            raise MissingCapabilityError(
                f"This host has no {self.name} {name!r}; it has {known}. Put the folder into "
                f"{self.directory}.",
                field=self.name,
            )
        return os.path.realpath(place)


IMAGES = RoomKind("image", "STEELYARD_IMAGES", "/var/lib/steelyard/images")
LIBRARIES = RoomKind("libraries", "STEELYARD_LIBRARIES", "/var/lib/steelyard/libraries")


def is_room_name(name: str) -> bool:
    """Whether a word names an image or libraries, and is no path; `host` is what is installed."""
    return _NAME.fullmatch(name) is not None and name != AS_INSTALLED


def image_folder(image: str | None) -> str | None:
    """The root file system that a package names: a path as it stands, else an image by name.

    Raises
    ------
    MissingCapabilityError
        This host has no such image, or folder.
    """
    if image is None or not os.path.isabs(image):
        return None if image is None else IMAGES.folder(image)
    if not os.path.isdir(image):
        raise MissingCapabilityError(
            f"The root file system {image!r} is not there, or is no folder.", field="image"
        )
    return image


def room_facts(folder: str) -> dict[str, str]:
    """What identifies the contents of a folder, and which distribution it is where it says so."""
    found = {"digest": contents_digest(folder)}
    release = os.path.join(folder, "etc", "os-release")
    with suppress(OSError), open(release, encoding="utf-8", errors="replace") as file:
        lines = (line.strip().partition("=") for line in file)
        told = {name: value.strip("\"'") for name, equals, value in lines if equals}
        if "PRETTY_NAME" in told:
            found["release"] = told["PRETTY_NAME"]
    return found


def contents_digest(folder: str) -> str:
    """A digest of all paths, modes, links and contents below a folder.

    It is kept for as long as no file has another size or time: an image is read once. What this
    user may not read counts by its size.
    """
    entries = list(_entries(folder))
    seen = hashlib.sha256()
    for path, about in entries:
        told = (path, about.st_mode, about.st_size, about.st_mtime_ns, about.st_ino)
        seen.update(repr(told).encode("utf-8", "surrogateescape"))
    kept = os.path.join(_cache(), f"{seen.hexdigest()}.json")
    with suppress(OSError, ValueError, KeyError), open(kept, encoding="utf-8") as file:
        return str(json.load(file)["digest"])
    digest = _read(folder, entries)
    with suppress(OSError):
        make_private_directories(_cache())
        part = f"{kept}.{os.getpid()}"
        with open(part, "w", encoding="utf-8", opener=private_opener) as file:
            json.dump({"digest": digest}, file)
        os.replace(part, kept)
    return digest


def _cache() -> str:
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return os.path.join(cache, "steelyard", "rooms")


def _entries(folder: str) -> Iterator[tuple[str, os.stat_result]]:
    """Everything below a folder, by path from there, in order; links are not followed."""
    for place, folders, files in os.walk(folder):
        folders.sort()
        for name in sorted((*folders, *files)):
            path = os.path.join(place, name)
            with suppress(OSError):
                yield os.path.relpath(path, folder), os.lstat(path)


def _read(folder: str, entries: list[tuple[str, os.stat_result]]) -> str:
    digest = hashlib.sha256()
    for name, about in entries:
        path = os.path.join(folder, name)
        told = f"{name}\0{about.st_mode:o}\0{_content(path, about)}\n"
        digest.update(told.encode("utf-8", "surrogateescape"))
    return digest.hexdigest()


def _content(path: str, about: os.stat_result) -> str:
    try:
        if stat.S_ISLNK(about.st_mode):
            return os.readlink(path)
        if stat.S_ISREG(about.st_mode):
            with open(path, "rb") as file:
                return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return f"unread {about.st_size}"
    return ""
