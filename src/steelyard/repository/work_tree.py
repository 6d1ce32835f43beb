"""A work tree of git that goes away: also where Steelyard is killed while it is used."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from steelyard.core.errors import DataError
from steelyard.repository import work_tree_keeper as keeper
from steelyard.repository.filters import filters_of, refuse_unfiltered
from steelyard.repository.revisions import Repository
from steelyard.repository.run_git import run_git


@contextmanager
def work_tree(repository: Repository, revision: str, directory: str) -> Iterator[str]:
    """A work tree of `revision` in the new directory `directory`, without a branch.

    It is removed in the end, with all that was made in it. A process of its own removes it where
    this one is killed.

    Raises
    ------
    DataError
        Git cannot make it.
    UsageError
        Its files go through programs that the repository itself names.
    """
    remove_work_tree(repository, directory)
    os.makedirs(os.path.dirname(directory), exist_ok=True)
    with _kept(repository, directory):
        try:
            filters = filters_of(repository.path)
            made = ["worktree", "add", "--detach", "--force", "--quiet", directory, revision]
            run_git(repository.path, made, settings=filters.settings)
            refuse_unfiltered(directory, filters.refused)
            yield directory
        finally:
            remove_work_tree(repository, directory)


def remove_work_tree(repository: Repository, directory: str) -> None:
    """Remove a work tree, as far as there is one."""
    if os.path.isdir(directory):
        run_git(repository.path, ["worktree", "remove", "--force", directory], may_fail=True)
        shutil.rmtree(directory, ignore_errors=True)
        if os.path.isdir(directory):
            raise DataError(
                f"The work tree {directory} cannot be removed. Remove it by hand, then run "
                f"`git -C {repository.path} worktree prune`.",
                field="--repository",
            )
    run_git(repository.path, ["worktree", "prune"], may_fail=True)


@contextmanager
def kept_folder(repository: Repository, folder: str) -> Iterator[str]:
    """A new folder for work trees and what is built from them, which goes away like a work tree."""
    shutil.rmtree(folder, ignore_errors=True)
    with _kept(repository, folder):
        os.makedirs(folder, mode=0o700)
        try:
            yield folder
        finally:
            make_removable(folder)
            shutil.rmtree(folder, ignore_errors=True)
            run_git(repository.path, ["worktree", "prune"], may_fail=True)


def make_removable(folder: str) -> None:
    """Builds make directories that may not be written to, such as those of Go's modules."""
    for inner, _, _ in os.walk(folder):
        with suppress(OSError):
            os.chmod(inner, 0o700)


@contextmanager
def _kept(repository: Repository, directory: str) -> Iterator[None]:
    """Start the process that waits for the end of this one."""
    lifeline, ours = os.pipe2(os.O_CLOEXEC)
    process = subprocess.Popen(
        [sys.executable, "-IS", keeper.__file__, repository.path, directory],
        stdin=lifeline,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    os.close(lifeline)
    try:
        yield
    finally:
        # It is told that all is done before it sees the end of the pipe.
        with suppress(OSError):
            os.write(ours, b"done")
        os.close(ours)
        process.wait()
