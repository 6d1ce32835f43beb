"""A recipe's source in the cache, laid out for its builds: unpacked, patched, with what it brings.

``src`` is the program's source, ``own`` the recipe's folder, ``shared/NAME`` what several recipes
use, ``jars`` what is not unpacked.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator

from steelyard.core.errors import MissingCapabilityError, SuiteError
from steelyard.core.hashing import sha256_hex_of_file, sha256_of
from steelyard.suite.artifacts import artifact_path, fetch, verify
from steelyard.suite.cache import SuiteCache, disk_errors
from steelyard.suite.read_source import shared_directory
from steelyard.suite.recipe import Recipe, Release
from steelyard.suite.unpack import apply_patches, copy_tree, unpack, unpack_debian

SCRIPT = "steelyard-build.sh"
# Raise it when the same recipe is laid out otherwise.
_LAYOUT = 2
# Not in the environment, where it would make builds on other machines different ones.
_PREAMBLE = "JOBS=${JOBS:-$(nproc)}\nexport JOBS\n"


def prepared_source(cache: SuiteCache, recipe: Recipe) -> str:
    """The directory with the source, made where it is not there yet.

    Raises
    ------
    SuiteError
        The source cannot be fetched, unpacked or patched, or the cache cannot be written.
    MissingCapabilityError
        A program that does this is missing, or the user's own copy.
    """
    release = fetch(cache, recipe).release
    key = _key(recipe, release)
    target = os.path.join(cache.directory("sources"), f"{recipe.name}-{key[:16]}")
    if os.path.isdir(target):
        return target
    with cache.lock(f"source-{recipe.name}"):
        if not os.path.isdir(target):
            with cache.new_directory(target) as directory:
                _lay_out(cache, recipe, release, directory)
    return target


def _lay_out(cache: SuiteCache, recipe: Recipe, release: Release, directory: str) -> None:
    for artifact in release.artifacts:
        path = artifact_path(cache, recipe, release, artifact)
        verify(recipe, artifact, path)
        target = os.path.join(directory, artifact.into)
        if recipe.source.kind == "maven":
            os.makedirs(target, exist_ok=True)
            shutil.copyfile(path, os.path.join(target, artifact.file))
        elif path.endswith(".dsc"):
            unpack_debian(path, target)
        elif recipe.source.kind != "debian" or release.is_tarball:
            _unpack_into(path, target)
    if recipe.source.kind == "user":
        _copy_users(recipe, directory)
    patches = [os.path.join(recipe.folder, patch.file) for patch in recipe.source.patches]
    apply_patches(patches, os.path.join(directory, "src"))
    if os.path.isdir(recipe.folder):
        copy_tree(recipe.folder, os.path.join(directory, "own"))
    for name in recipe.source.shared:
        copy_tree(os.path.join(shared_directory(), name), os.path.join(directory, "shared", name))
    if recipe.build.script:
        with open(os.path.join(directory, SCRIPT), "w") as file:
            file.write(_PREAMBLE + recipe.build.script)


def _unpack_into(archive: str, target: str) -> None:
    if os.path.exists(target):
        raise SuiteError(f"{archive}: another artifact is unpacked to {target} too: give `into`.")
    os.makedirs(os.path.dirname(target), exist_ok=True)
    unpack(archive, target)


def _copy_users(recipe: Recipe, directory: str) -> None:
    path = users_copy(recipe)
    if os.path.isdir(path):
        copy_tree(path, os.path.join(directory, "src"))
    else:
        os.makedirs(os.path.join(directory, "jars"))
        shutil.copyfile(path, os.path.join(directory, "jars", os.path.basename(path)))


def users_copy(recipe: Recipe) -> str:
    """Where the user has a program that cannot be fetched.

    Raises
    ------
    MissingCapabilityError
        Nothing says so, or nothing is there.
    """
    variable = recipe.source.variable
    path = os.environ.get(variable, "")
    if not os.path.exists(path):
        raise MissingCapabilityError(
            f"{recipe.name} is used where you have it: set {variable} to its path. "
            f"{recipe.source.advice}"
        )
    return os.path.abspath(path)


def _key(recipe: Recipe, release: Release) -> str:
    """The digest of all that the laid out source is made of."""
    with disk_errors(recipe.folder):
        parts = [str(_LAYOUT), recipe.source.kind, release.version, recipe.build.script]
        parts += [f"{item.file} {item.sha256} {item.into}" for item in release.artifacts]
        parts += [patch.file for patch in recipe.source.patches]
        if os.path.isdir(recipe.folder):
            parts += _digests(recipe.folder)
        for name in recipe.source.shared:
            parts += _digests(os.path.join(shared_directory(), name))
        if recipe.source.kind == "user":
            path = users_copy(recipe)
            parts += _digests(path) if os.path.isdir(path) else [_digest(path)]
    return sha256_of("\0".join(parts).encode()).hex()


def _digests(directory: str) -> Iterator[str]:
    for folder, folders, files in os.walk(directory):
        folders[:] = sorted(set(folders) - {"__pycache__"})
        for file in sorted(files):
            path = os.path.join(folder, file)
            mode = os.stat(path).st_mode & 0o100
            yield f"{os.path.relpath(path, directory)} {mode} {_digest(path)}"


def _digest(path: str) -> str:
    with open(path, "rb") as file:
        return sha256_hex_of_file(file)
