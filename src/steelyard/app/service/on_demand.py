"""A patch of a repository against its base: one experiment for each package that builds it."""

from __future__ import annotations

import os
import shutil
import tempfile
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

from steelyard.app.experiment.experiment_entries import BenchmarkEntry, ExperimentFile
from steelyard.app.experiment.packaged_benchmark import package_source
from steelyard.app.experiment.toml_text import toml_text
from steelyard.app.service.send_packages import Say, packed
from steelyard.core.errors import ArchiveError, UsageError
from steelyard.repository.filters import pointers_of
from steelyard.repository.revisions import (
    Repository,
    find_repository,
    resolve,
    submodules_of,
)
from steelyard.repository.work_tree import work_tree
from steelyard.service.package.archive import unpack
from steelyard.service.service_client import ServiceClient

# Where a package finds the tree of the revision that it builds.
TREE = "source"
SIDES = ("base", "patch")
# Somebody waits for what is asked about a patch.
PRIORITY = 10


@dataclass(frozen=True)
class Patch:
    """What is compared: two revisions of a repository, by whatever name git knows them."""

    repository: str
    base: str
    patch: str


@dataclass(frozen=True)
class PatchExperiment:
    """An experiment file of two variants, and the digests of their packages by their names."""

    text: str
    name: str
    packages: Mapping[str, str]


def patch_experiments(
    client: ServiceClient, file: ExperimentFile, text: str, asked: Patch, say: Say
) -> list[PatchExperiment]:
    """Send the packages of a file with each revision's tree in them, and write an experiment for
    each.

    Raises
    ------
    UsageError
        A benchmark is no package, or a revision is not known.
    """
    for entry in file.benchmarks:
        if not entry.package:
            raise UsageError(
                f"{entry.places.get('command', file.path)}: --base goes with benchmarks that are "
                f"packages, which build the tree in their folder {TREE}; {entry.name!r} is a "
                "command.",
                field="benchmark.package",
            )
    found: list[PatchExperiment] = []
    with _trees(asked, say) as (names, trees):
        for place, entry in enumerate(file.benchmarks):
            told = _two_sides(tomllib.loads(text), place, entry, names)
            digests = {
                _package(entry, name): _sent(client, file, entry, tree, say)
                for name, tree in zip(names, trees, strict=True)
            }
            found.append(PatchExperiment(told, entry.name, digests))
    return found


@contextmanager
def _trees(asked: Patch, say: Say) -> Iterator[tuple[list[str], list[str]]]:
    """What both sides are called, and directories with their trees."""
    repository = find_repository(asked.repository)
    given = (asked.base, asked.patch)
    commits = [
        resolve(repository, name, f"--{side}") for side, name in zip(SIDES, given, strict=True)
    ]
    if commits[0] == commits[1]:
        raise UsageError(
            f"--base {asked.base} and --patch {asked.patch} are one commit, {commits[0][:12]}.",
            field="--patch",
        )
    _look_at_submodules(repository, commits, say)
    with tempfile.TemporaryDirectory(prefix="steelyard-patch-") as directory, ExitStack() as stack:
        trees = [
            stack.enter_context(work_tree(repository, commit, os.path.join(directory, side)))
            for side, commit in zip(SIDES, commits, strict=True)
        ]
        _look_at_pointers(trees[0], trees[1], say)
        names = [f"{side} {commit[:12]}" for side, commit in zip(SIDES, commits, strict=True)]
        yield names, trees


def _look_at_submodules(repository: Repository, commits: Sequence[str], say: Say) -> None:
    """Say that submodules are not sent.

    Raises
    ------
    UsageError
        Both sides have different ones: what is asked about would be in neither tree.
    """
    base, patch = (submodules_of(repository, commit) for commit in commits)
    for path in sorted(base.keys() | patch.keys()):
        if base.get(path) != patch.get(path):
            raise UsageError(
                f"The submodule {path!r} is not the same in --base and --patch, and submodules are "
                "not sent. Make a commit of each side that has its files instead.",
                field="--patch",
            )
        say(f"the submodule {path!r} is not sent: its folder is empty in both trees")


def _look_at_pointers(base: str, patch: str, say: Say) -> None:
    """Say that content which Git LFS keeps is not sent.

    Raises
    ------
    UsageError
        Both sides have different content: what is asked about would be in neither tree.
    """
    held, patched = pointers_of(base), pointers_of(patch)
    for file in sorted(held.keys() | patched.keys()):
        if held.get(file) != patched.get(file):
            raise UsageError(
                f"The file {file!r} differs between --base and --patch, and is a pointer of Git "
                "LFS in place of its content. Install git-lfs, and run `git lfs install` and `git "
                "lfs fetch --all`.",
                field="--patch",
            )
    if held:
        count = len(held)
        what = "files are pointers" if count > 1 else "file is a pointer"
        say(
            f"{count} {what} of Git LFS in both trees, and sent without content, such as "
            f"{min(held)!r}: install git-lfs where a build needs it"
        )


def _package(entry: BenchmarkEntry, side: str) -> str:
    """What the file calls the package of a side."""
    return f"{entry.package}@{side.rpartition(' ')[2]}"


def _two_sides(
    tables: dict[str, Any], place: int, entry: BenchmarkEntry, names: Sequence[str]
) -> str:
    """The file of the experiment about one package."""
    said = tables["benchmark"][place]
    settings = dict(tables.get("experiment", {}))
    title = settings.get("name", entry.name)
    settings["name"] = f"{title}: {entry.name}, {names[1]} against {names[0]}"
    sides = [{**said, "name": name, "package": _package(entry, name)} for name in names]
    return toml_text({**tables, "experiment": settings, "benchmark": sides})


def _sent(
    client: ServiceClient, file: ExperimentFile, entry: BenchmarkEntry, tree: str, say: Say
) -> str:
    """The digest of a package with a tree in it, which has been sent."""
    place = entry.places.get("package", file.path)
    with tempfile.TemporaryDirectory(prefix="steelyard-submit-") as directory:
        files = os.path.join(directory, "files")
        try:
            unpack(package_source(file, entry), files)
            if os.path.lexists(os.path.join(files, TREE)):
                raise UsageError(
                    f"{place}: the package has a {TREE} of its own, where the tree of a revision "
                    "would lie. Call it otherwise.",
                    field="package",
                )
            ignored = shutil.ignore_patterns(".git")
            shutil.copytree(tree, os.path.join(files, TREE), symlinks=True, ignore=ignored)
            answer = client.send_file("api/packages", packed(files, directory))
        except ArchiveError as error:
            raise UsageError(f"{place}: {error.message}", field="package") from None
    for each in answer["notes"]:
        say(f"{entry.package}: {each}")
    return str(answer["digest"])
