"""A recipe's artifacts in the cache: fetched once, in full, and with the digest of the recipe."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass

from steelyard.core.errors import FetchError
from steelyard.core.hashing import sha256_hex_of_file
from steelyard.suite.fetch.source_kind import Fetch, NotOfferedError, Wanted
from steelyard.suite.recipe import Artifact, Recipe, Release
from steelyard.suite.suite_cache import SuiteCache, disk_errors, remove_tree

# Modules of `suite/fetch`; each has the function fetch_KIND.
FETCHED_KINDS = ("debian", "pypi", "npm", "maven", "crates")


@dataclass(frozen=True)
class Fetched:
    """The release that is in the cache, and how much of it was fetched just now."""

    release: Release
    fetched_count: int
    fetched_bytes: int


def artifact_path(cache: SuiteCache, recipe: Recipe, release: Release, artifact: Artifact) -> str:
    """Where an artifact lies, or will lie, in the cache."""
    version = release.version.replace("/", "_")
    return cache.path("artifacts", recipe.name, version, artifact.file)


def missing_artifacts(cache: SuiteCache, recipe: Recipe, release: Release) -> list[Artifact]:
    """Those that are not in the cache."""
    return [
        artifact
        for artifact in release.artifacts
        if not os.path.exists(artifact_path(cache, recipe, release, artifact))
    ]


def fetched_release(cache: SuiteCache, recipe: Recipe) -> Release | None:
    """The first release all of whose artifacts are in the cache."""
    for release in recipe.source.releases:
        if not missing_artifacts(cache, recipe, release):
            return release
    return None


def fetch(cache: SuiteCache, recipe: Recipe, *, intact: bool = False) -> Fetched:
    """Fetch what is missing of a recipe's source.

    Parameters
    ----------
    intact : bool
        Also compare what is in the cache with its digests; what is no longer as it was fetched is
        removed, and so fetched again.

    Raises
    ------
    FetchError
        It cannot be had, or has another digest than the recipe says. The cache is as before.
    MissingCapabilityError
        The client that fetches it is not installed.
    SuiteError
        The cache cannot be written.
    """
    with cache.lock(f"fetch-{recipe.name}"):
        there = fetched_release(cache, recipe)
        if intact and there is not None:
            _remove_damaged(cache, recipe, there)
            there = fetched_release(cache, recipe)
        if there is not None:
            return Fetched(there, 0, 0)
        refusals: list[str] = []
        for release in recipe.source.releases:
            try:
                return _fetch_release(cache, recipe, release)
            except NotOfferedError as error:
                refusals.append(error.message)
        raise FetchError(f"{recipe.name} could not be fetched. {refusals[0]}{_how(recipe)}")


def _remove_damaged(cache: SuiteCache, recipe: Recipe, release: Release) -> None:
    for artifact in release.artifacts:
        with suppress(FetchError):
            verify(recipe, artifact, artifact_path(cache, recipe, release, artifact))


def _how(recipe: Recipe) -> str:
    if recipe.source.kind != "debian":
        return ""
    versions = ", ".join(recipe.versions)
    return (
        f" Versions that the recipe knows: {versions}. An archive that keeps old versions can be "
        "named in ~/.config/steelyard/suite/sources.list.d (docs/commands/suite.md)."
    )


def _fetch_release(cache: SuiteCache, recipe: Recipe, release: Release) -> Fetched:
    missing = missing_artifacts(cache, recipe, release)
    partial = cache.directory("partial", f"{recipe.name}-{release.version.replace('/', '_')}")
    download = _download_of(recipe.source.kind)
    wanted = Wanted(recipe.source, release, missing)
    with disk_errors(partial):
        try:
            download(wanted, partial, cache.root)
        except FetchError as error:
            if isinstance(error, NotOfferedError):
                raise
            raise FetchError(
                f"{recipe.name} could not be fetched: {error.message.rstrip('.')}. Missing: "
                f"{', '.join(artifact.file for artifact in missing)}. What is there in part is "
                f"gone on with by the next `steelyard suite fetch {recipe.name}`."
            ) from None
        size_bytes = _take(cache, recipe, release, missing, partial)
    remove_tree(partial)
    return Fetched(release, len(missing), size_bytes)


def _download_of(kind: str) -> Fetch:
    module = importlib.import_module(f"steelyard.suite.fetch.{kind}")
    found: Callable[..., None] = getattr(module, f"fetch_{kind}")
    return found


def _take(
    cache: SuiteCache,
    recipe: Recipe,
    release: Release,
    artifacts: Sequence[Artifact],
    partial: str,
) -> int:
    """Verify every artifact, then let all of them into the cache; gives their size."""
    size_bytes = 0
    for artifact in artifacts:
        path = os.path.join(partial, artifact.file)
        if not os.path.exists(path):
            names = ", ".join(sorted(os.listdir(partial))) or "nothing"
            raise FetchError(
                f"{recipe.name}: the archive gave {names}, but no {artifact.file}. Correct `file` "
                f"in {recipe.path}."
            )
        verify(recipe, artifact, path)
        size_bytes += os.path.getsize(path)
    for artifact in artifacts:
        target = artifact_path(cache, recipe, release, artifact)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        path = os.path.join(partial, artifact.file)
        with open(path, "rb") as file:
            os.fsync(file.fileno())
        os.replace(path, target)
    return size_bytes


def verify(recipe: Recipe, artifact: Artifact, path: str) -> None:
    """Make sure that a file is the artifact; one that is not is removed.

    Raises
    ------
    FetchError
        Its digest or size differs.
    """
    with open(path, "rb") as file:
        found = sha256_hex_of_file(file)
    size_bytes = os.path.getsize(path)
    if found == artifact.sha256 and artifact.size_bytes in (None, size_bytes):
        return
    remove_tree(path)
    if found == artifact.sha256:
        wanted, what = f"{artifact.size_bytes} bytes", f"{size_bytes} bytes"
    else:
        wanted, what = f"the SHA-256 {artifact.sha256}", found
    raise FetchError(
        f"{recipe.name}: {artifact.file} should have {wanted}, but has {what}. It was removed: "
        f"somebody changed it on its way, or the archive did. Fetch again; if it stays so, the "
        f"recipe {recipe.path} is wrong."
    )
