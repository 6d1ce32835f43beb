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
from steelyard.core.private_file import private_opener
from steelyard.suite.artifacts import artifact_path, fetch, fetched_release
from steelyard.suite.read_source import shared_directory
from steelyard.suite.recipe import Recipe, Release
from steelyard.suite.suite_cache import SuiteCache, disk_errors, remove_tree
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
    release = fetched_release(cache, recipe) or fetch(cache, recipe).release
    target = _target(cache, recipe, release)
    if os.path.isdir(target):
        return target
    with cache.lock(f"source-{recipe.name}"):
        if not os.path.isdir(target):
            # All before any is unpacked: what one of them names, a .dsc, may have been changed.
            release = fetch(cache, recipe, intact=True).release
            target = _target(cache, recipe, release)
            with cache.new_directory(target) as directory:
                _lay_out(cache, recipe, release, directory)
            with open(_digest_file(target), "w", opener=private_opener) as file:
                file.write(_tree_digest(target))
    return target


def repaired_source(cache: SuiteCache, recipe: Recipe, source: str) -> bool:
    """Whether a prepared source was no longer as it had been laid out, and was laid out anew.

    A build that fails asks this: a disk or a person may have changed what lies in the cache.
    """
    with cache.lock(f"source-{recipe.name}"):
        try:
            with open(_digest_file(source)) as file:
                intact = file.read() == _tree_digest(source)
        except OSError:
            intact = False
        if intact:
            return False
        remove_tree(source)
    prepared_source(cache, recipe)
    return True


def _target(cache: SuiteCache, recipe: Recipe, release: Release) -> str:
    key = _key(recipe, release)
    return os.path.join(cache.directory("sources"), f"{recipe.name}-{key[:16]}")


def _digest_file(source: str) -> str:
    return f"{source}.sha256"


def _tree_digest(directory: str) -> str:
    return sha256_of("\0".join(_digests(directory)).encode("utf-8", "surrogateescape")).hex()


def _lay_out(cache: SuiteCache, recipe: Recipe, release: Release, directory: str) -> None:
    for artifact in release.artifacts:
        path = artifact_path(cache, recipe, release, artifact)
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
            name = os.path.relpath(path, directory)
            if not os.path.isfile(path):  # A link that leads nowhere, as sources have some.
                yield f"{name} -> {os.readlink(path) if os.path.islink(path) else ''}"
                continue
            mode = os.stat(path).st_mode & 0o100
            yield f"{name} {mode} {_digest(path)}"


def _digest(path: str) -> str:
    with open(path, "rb") as file:
        return sha256_hex_of_file(file)
