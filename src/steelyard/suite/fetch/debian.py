"""Source packages of Debian, by the apt of the system with a directory of our own."""

from __future__ import annotations

import os

from steelyard.core.errors import FetchError
from steelyard.suite.fetch.apt_directory import AptDirectory
from steelyard.suite.fetch.source_kind import NotOfferedError, Wanted
from steelyard.suite.suite_cache import SuiteCache, remove_tree
from steelyard.suite.tool_command import run_tool

# Directories whose lists were updated by this process, with why they could not be.
_UPDATED: dict[str, FetchError | None] = {}


def fetch_debian(wanted: Wanted, directory: str, state: str) -> None:
    """Fetch all files of a source package in its very version.

    apt compares them with the signed lists of the archive, and goes on with a file that is there
    in part.
    """
    apt = AptDirectory(os.path.join(state, "apt"))
    os.makedirs(apt.root, exist_ok=True)
    package = f"{wanted.source.package}={wanted.release.version}"
    with SuiteCache(state).lock("apt"):  # Two updates at once would be in each other's way.
        if not apt.is_fresh() or not _is_offered(apt, package):
            _update(apt)
    if not _is_offered(apt, package):
        failure = _UPDATED.get(apt.root)
        why = "" if failure is None else f", and some could not be reached: {failure.message}"
        raise NotOfferedError(
            f"The archives in apt's configuration do not offer the source package {package}{why}."
        )
    # apt takes what it finds for whole; a file of the wrong size would stay so.
    for artifact in wanted.artifacts:
        _drop_longer(os.path.join(directory, artifact.file), artifact.size_bytes)
    part = ("--tar-only",) if wanted.release.is_tarball else ()
    run_tool([*_source(apt), *part, package], directory)


def _update(apt: AptDirectory) -> None:
    """Update the lists, once a process; older ones do where nobody can be reached."""
    if apt.root not in _UPDATED:
        try:
            apt.update()
        except FetchError as error:
            _UPDATED[apt.root] = error
        else:
            _UPDATED[apt.root] = apt.failure
    failure = _UPDATED[apt.root]
    if failure is not None and not apt.has_lists():
        raise failure  # Also for the next program: waiting for the network again helps nobody.


def _source(apt: AptDirectory) -> list[str]:
    return [apt.apt, *apt.options(), "source", "--download-only", "--only-source"]


def _is_offered(apt: AptDirectory, package: str) -> bool:
    try:
        told = run_tool([*_source(apt), "--print-uris", package], "/")
    except FetchError:
        return False
    return "'" in told


def _drop_longer(path: str, size_bytes: int | None) -> None:
    if size_bytes is not None and os.path.exists(path) and os.path.getsize(path) > size_bytes:
        remove_tree(path)
