"""Programs through which files go on their way into a work tree (gitattributes(5), filter)."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field

from steelyard.core.errors import UsageError
from steelyard.repository.run_git import git_output, run_git

# What each setting of a filter is where nothing is to be run. Beside a `process`, even an empty
# one, git looks at nothing else.
_NOTHING = {"smudge": "", "clean": "", "process": "", "required": "false"}
# Those that make files of a work tree.
_MAKING = ("smudge", "process")
# Whoever made a repository may have written these; the others are of this machine or its user.
_OF_REPOSITORY = ("local", "worktree")
# How a pointer begins, and below what size it stays (git-lfs, docs/spec.md).
_POINTER = b"version https://git-lfs.github.com/spec/v1\n"
_MOST_POINTER_BYTES = 1024


@dataclass(frozen=True)
class Filters:
    """Which filters run, and which do not since the repository alone names their programs.

    Parameters
    ----------
    settings : mapping of str to str
        Those by which git takes the user's programs, or none, instead of the repository's.
    refused : mapping of str to str
        The names of filters that do not run, each with a setting that the user has not.
    """

    settings: Mapping[str, str] = field(default_factory=dict[str, str])
    refused: Mapping[str, str] = field(default_factory=dict[str, str])


def filters_of(path: str) -> Filters:
    """The filters of a repository, as far as its own settings speak of any."""
    asked = ["config", "--show-scope", "-z", "--get-regexp", r"^filter\."]
    words = (run_git(path, asked, may_fail=True) or "").split("\0")
    named: dict[str, set[str]] = {}
    trusted: dict[str, dict[str, str]] = {}
    for scope, setting in zip(words[::2], words[1::2], strict=False):
        key, _, value = setting.partition("\n")
        name, _, what = key.partition(".")[2].rpartition(".")
        if scope in _OF_REPOSITORY:
            named.setdefault(name, set()).add(what)
        else:
            trusted.setdefault(name, {})[what] = value
    settings = {
        f"filter.{name}.{what}": trusted.get(name, {}).get(what, nothing)
        for name, given in named.items()
        for what, nothing in _NOTHING.items()
        if what in given
    }
    refused = {
        name: what
        for name, given in named.items()
        for what in _MAKING
        if what in given and what not in trusted.get(name, {})
    }
    return Filters(settings, refused)


def pointers_of(tree: str) -> dict[str, bytes]:
    """The files of a work tree that are pointers of Git LFS in place of their content, with what
    they hold: no program has fetched what they stand for."""
    files = git_output(tree, ["ls-files", "-z"]).split("\0")
    found = {file: _pointer(os.path.join(tree, file)) for file in files if file}
    return {file: held for file, held in found.items() if held}


def _pointer(path: str) -> bytes:
    """What a pointer of Git LFS holds; nothing where the file is none."""
    try:
        about = os.lstat(path)
        if not stat.S_ISREG(about.st_mode) or about.st_size > _MOST_POINTER_BYTES:
            return b""
        with open(path, "rb") as file:
            held = file.read()
    except OSError:
        return b""
    return held if held.startswith(_POINTER) else b""


def refuse_unfiltered(tree: str, refused: Mapping[str, str]) -> None:
    """See that no file of a work tree lacks a filter.

    Raises
    ------
    UsageError
        One does: its content is not what its authors work with.
    """
    if not refused:
        return
    files = git_output(tree, ["ls-files", "-z"])
    told = git_output(tree, ["check-attr", "-z", "--stdin", "filter"], files).split("\0")
    for file, name in zip(told[::3], told[2::3], strict=False):
        if name in refused:
            raise UsageError(
                f"The file {file!r} goes through a program that the repository's own settings "
                f"name for the filter {name!r}, and which is not run. If you trust it, name it in "
                f"your settings: `git config --global filter.{name}.{refused[name]} PROGRAM`.",
                field="--repository",
            )
