"""Builds kept by what went into them, for those who want the same build again.

An entry is built where it stays, because programs hold the path that they were built at. What
publishes it is a file beside it that appears by rename when all is done; a build that was killed
has none, and the next one to want it begins anew. A lock keeps two from building the same.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from steelyard.build.build_exchange import (
    BuildExchange,
    current_exchange,
    refuse_known_failure,
)
from steelyard.build.cache_key import build_key
from steelyard.build.run_build import Build, remove_directories, run_build
from steelyard.build.side_files import beside
from steelyard.core.build_spec import BuildSpec
from steelyard.core.errors import BuildFailedError

_BLOCK_BYTES = 512  # The unit of st_blocks; stat(2).


@dataclass(frozen=True)
class CachedEntry:
    """One published build: its key, its size on disk, and when it was last asked for."""

    key: str
    size_bytes: int
    used_unix_s: float


def cached_build(
    spec: BuildSpec, seed: int, cache_directory: str, key_parts: tuple[str, ...] = ()
) -> Build:
    """The build of `spec` with `seed`, from the cache where it is there, else built into it.

    Parameters
    ----------
    spec, seed
        As `run_build` takes them.
    cache_directory : str
        Made where it is missing.
    key_parts : tuple of str
        Whatever else tells this build from others, such as the version of a recipe.

    Returns
    -------
    Build
        Its `cost_s` is what building took when it was built. Nothing may be written to its
        directory: others get the same one.

    Raises
    ------
    BuildFailedError
        As `run_build`; nothing is published, and the log stays until the next attempt. Or it
        failed where another host made it.
    """
    key = build_key(spec, seed, key_parts)
    refuse_known_failure(key)
    exchange = current_exchange()
    with _lock(cache_directory, key):
        found = _published(cache_directory, key)
        if found is not None:
            if exchange is not None:
                exchange.found(key, found)
            return found
        _discard(cache_directory, key)
        place = _place(cache_directory, key)
        if exchange is None:
            found = run_build(spec, seed, place)
        else:
            found = exchange.brought(key, place)
            if found is None:
                _discard(cache_directory, key)
                found = _made(exchange, key, spec, seed, place)
        _publish(cache_directory, key, found)
    return found


def _made(exchange: BuildExchange, key: str, spec: BuildSpec, seed: int, place: str) -> Build:
    """Build here, and let others know what came of it."""
    try:
        made = run_build(spec, seed, place)
    except BuildFailedError as error:
        exchange.failed(key, error)
        raise
    exchange.made(key, made)
    return made


def entry_place(
    spec: BuildSpec, seed: int, cache_directory: str, key_parts: tuple[str, ...] = ()
) -> str:
    """The directory of a build in a cache, whether it is there or not."""
    return _place(cache_directory, build_key(spec, seed, key_parts))


def entries(cache_directory: str) -> list[CachedEntry]:
    """What is published in a cache, the longest unused first."""
    found: list[CachedEntry] = []
    names = os.listdir(cache_directory) if os.path.isdir(cache_directory) else []
    for name in names:
        key, suffix = os.path.splitext(name)
        if suffix == ".json":
            path = os.path.join(cache_directory, name)
            size_bytes = _read(path).get("size_bytes", 0)
            found.append(CachedEntry(key, size_bytes, os.stat(path).st_mtime))
    return sorted(found, key=lambda entry: entry.used_unix_s)


def prune(cache_directory: str, limit_bytes: int) -> list[CachedEntry]:
    """Remove the builds that were longest unused, until the rest takes at most `limit_bytes`.

    One that is being built or asked for at this moment stays. What killed builds have left
    goes too.
    """
    removed: list[CachedEntry] = []
    kept = entries(cache_directory)
    size_bytes = sum(entry.size_bytes for entry in kept)
    for entry in kept:
        if size_bytes <= limit_bytes:
            break
        with _lock(cache_directory, entry.key, wait=False) as held:
            if held:
                _discard(cache_directory, entry.key)
                removed.append(entry)
                size_bytes -= entry.size_bytes
    _sweep(cache_directory)
    return removed


def _sweep(cache_directory: str) -> None:
    """Remove what killed and failed builds have left."""
    names = os.listdir(cache_directory) if os.path.isdir(cache_directory) else []
    for key in {name.partition(".")[0] for name in names}:
        if not os.path.exists(_marker(cache_directory, key)):
            with _lock(cache_directory, key, wait=False) as held:
                if held:
                    _discard(cache_directory, key)


@contextmanager
def _lock(cache_directory: str, key: str, *, wait: bool = True) -> Iterator[bool]:
    """Hold the lock of one entry; gives False where another has it and we do not wait."""
    os.makedirs(cache_directory, exist_ok=True)
    path = os.path.join(cache_directory, f"{key}.lock")
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
            held = True
        except BlockingIOError:
            held = False
        yield held
    finally:
        os.close(descriptor)


def _place(cache_directory: str, key: str) -> str:
    return os.path.join(os.path.abspath(cache_directory), key)


def _marker(cache_directory: str, key: str) -> str:
    return os.path.join(cache_directory, f"{key}.json")


def _published(cache_directory: str, key: str) -> Build | None:
    marker = _marker(cache_directory, key)
    directory = _place(cache_directory, key)
    said = _read(marker)
    if "cost_s" not in said or not os.path.isdir(directory):
        return None
    os.utime(marker)
    return Build(
        directory, said["cost_s"], said["realised"], os.path.join(beside(directory), "log")
    )


def _read(marker: str) -> dict[str, Any]:
    """What a marker says; nothing where there is none, or none that can be read."""
    try:
        with open(marker, encoding="utf-8") as file:
            return json.load(file)
    except (FileNotFoundError, ValueError):
        return {}


def _publish(cache_directory: str, key: str, build: Build) -> None:
    said = {
        "cost_s": build.cost_s,
        "realised": build.realised,
        "size_bytes": _size_bytes(build.directory) + _size_bytes(beside(build.directory)),
    }
    partial = os.path.join(beside(build.directory), "published")
    try:
        with open(partial, "w", encoding="utf-8") as file:
            json.dump(said, file)
            file.flush()
            os.fsync(file.fileno())
        os.rename(partial, _marker(cache_directory, key))
    except OSError as error:
        raise BuildFailedError(
            f"The build in {build.directory} cannot be kept: {error.strerror}. "
            "Make room, or name another cache."
        ) from None


def _discard(cache_directory: str, key: str) -> None:
    """Take an entry away: first what publishes it, then by a rename the rest, because a dying
    process of a killed build may write to it still. What it keeps so goes the next time."""
    with suppress(FileNotFoundError):
        os.unlink(_marker(cache_directory, key))
    directory = _place(cache_directory, key)
    gone = f"{directory}.gone-{os.urandom(4).hex()}"
    for path, renamed in ((directory, gone), (beside(directory), beside(gone))):
        with suppress(FileNotFoundError):
            os.rename(path, renamed)
    for name in os.listdir(cache_directory):
        if name.startswith(f"{key}.gone-"):
            with suppress(OSError):
                remove_directories(os.path.join(cache_directory, name))


def _size_bytes(directory: str) -> int:
    total = 0
    for folder, folders, files in os.walk(directory):
        for name in (*folders, *files):
            total += os.lstat(os.path.join(folder, name)).st_blocks * _BLOCK_BYTES
    return total
