"""What git knows of revisions: their names, their topological order, their parents."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from steelyard.core.errors import DataError, UsageError
from steelyard.repository.run_git import git_output, run_git

_FIELD, _RECORD = "\x1f", "\x1e"
_FORMAT = _FIELD.join(("%H", "%P", "%ct", "%s")) + _RECORD
_NUMBERS_OF_LINES = ("--numstat", "-z", "--no-renames", "--no-ext-diff")


@dataclass(frozen=True)
class Commit:
    """A revision of a repository.

    Parameters
    ----------
    revision : str
        Its whole name.
    parents : tuple of str
        The first one is of the branch that was merged into.
    committed_unix_s : float
        By the clock of whoever committed it, which may go back from parent to child.
    subject : str
        The first line of its message.
    """

    revision: str
    parents: tuple[str, ...]
    committed_unix_s: float
    subject: str


@dataclass(frozen=True)
class Repository:
    """A repository of git on this machine.

    Parameters
    ----------
    path : str
        The top of its work tree, or the bare repository.
    name : str
        What its tracks are kept under: the address of ``origin`` without credentials, else the
        path, of linked work trees that of the main one. Two clones of one project on two hosts so
        share their revisions.
    """

    path: str
    name: str


def find_repository(path: str) -> Repository:
    """The repository that holds the directory `path`.

    Raises
    ------
    UsageError
        There is none.
    """
    if not os.path.isdir(path):
        raise UsageError(
            f"There is no directory {_without_credentials(path)}. Name a clone on this machine.",
            field="--repository",
        )
    top = run_git(path, ["rev-parse", "--show-toplevel"], may_fail=True)
    if not (top or "").strip():
        top = run_git(path, ["rev-parse", "--absolute-git-dir"], may_fail=True)
    if not (top or "").strip():
        refuse_repository_of_others(path)
        raise UsageError(
            f"{path} is in no repository of git. Name one with --repository.",
            field="--repository",
        )
    found = (top or "").rstrip("\n")
    origin = run_git(found, ["config", "--get", "remote.origin.url"], may_fail=True) or ""
    return Repository(found, _without_credentials(origin.strip()) or _main_work_tree(found))


def refuse_repository_of_others(path: str) -> None:
    """Fail if git reads no repository at `path` because another user owns its files.

    Raises
    ------
    UsageError
        So it is.
    """
    try:
        git_output(path, ["rev-parse", "--git-dir"])
    except DataError as error:
        if "dubious ownership" in error.message:
            raise UsageError(
                f"Git does not read the repository of {path}, because another user owns it. If "
                "you trust its owner: `git config --global --add safe.directory "
                f"{os.path.realpath(path)}`.",
                field="--repository",
            ) from None


def _main_work_tree(top: str) -> str:
    """The path of a repository, the same for all work trees that are linked to it."""
    told = run_git(top, ["rev-parse", "--git-dir", "--git-common-dir"], may_fail=True) or ""
    own, common = (os.path.realpath(os.path.join(top, part)) for part in told.split("\n")[:2])
    if own == common:
        return os.path.realpath(top)
    return os.path.dirname(common) if os.path.basename(common) == ".git" else common


def current_branch(repository: Repository) -> str:
    """The branch that is checked out; empty where none is."""
    name = run_git(repository.path, ["symbolic-ref", "--short", "-q", "HEAD"], may_fail=True)
    return (name or "").strip()


def resolve(repository: Repository, name: str, field: str = "--revision") -> str:
    """The whole name of the commit that `name` stands for.

    Raises
    ------
    UsageError
        Git does not know it.
    """
    known = resolved(repository, [name])
    if name not in known:
        raise UsageError(
            f"Git knows no revision {name!r} in {repository.path}. Fetch it, or check the name.",
            field=field,
        )
    return known[name]


def resolved(repository: Repository, names: Iterable[str]) -> dict[str, str]:
    """The whole names of commits, for those of `names` that git knows.

    A tag stands for its commit, the beginning of a name for the one commit that begins so.
    """
    asked = [name for name in dict.fromkeys(names) if _can_be_asked(name)]
    feed = "".join(f"{name}^{{commit}}\n" for name in asked)
    told = git_output(repository.path, ["cat-file", "--batch-check=%(objectname)"], feed)
    answers = told.split("\n")
    return {
        name: answer
        for name, answer in zip(asked, answers, strict=False)
        if answer and " " not in answer
    }


def _can_be_asked(name: str) -> bool:
    """Whether `name` is one line that git takes for a name and not for an option."""
    return bool(name) and name.isprintable() and not name.startswith("-") and " " not in name


def ordered_commits(repository: Repository, tips: Sequence[str]) -> list[Commit]:
    """All commits that can be reached from `tips`, ancestors first, in topological order.

    Times play no part in what comes first, so that clocks that go back do no harm.
    """
    if not tips:
        return []
    arguments = ["log", "--stdin", "--topo-order", "--reverse", f"--format=tformat:{_FORMAT}"]
    told = git_output(repository.path, arguments, "".join(f"{tip}\n" for tip in tips))
    return [_commit(record.lstrip("\n")) for record in told.split(_RECORD) if record.strip("\n")]


def commits_between(repository: Repository, good: str, bad: str) -> list[Commit]:
    """The commits that `bad` has and `good` has not, ancestors first; `bad` is the last.

    Raises
    ------
    UsageError
        There are none, or `good` is no ancestor of `bad`.
    """
    ancestor = run_git(repository.path, ["merge-base", "--is-ancestor", good, bad], may_fail=True)
    if ancestor is None or good == bad:
        what = "are one revision" if good == bad else f"{good[:12]} is no ancestor of {bad[:12]}"
        raise UsageError(
            f"There is nothing to search: {what}. Name an ancestor with --good.", field="--good"
        )
    arguments = [
        *("log", "--topo-order", "--reverse", f"--format=tformat:{_FORMAT}"),
        *(bad, f"^{good}", "--"),
    ]
    told = git_output(repository.path, arguments)
    return [_commit(record.lstrip("\n")) for record in told.split(_RECORD) if record.strip("\n")]


def changed_lines(repository: Repository, revision: str) -> dict[str, int]:
    """The files that a commit changes against its first parent, with how many lines."""
    arguments = ["log", "-1", "--format=", *_NUMBERS_OF_LINES, "--root"]
    told = git_output(repository.path, [*arguments, "--diff-merges=first-parent", revision, "--"])
    return _lines_by_file(told)


def changed_lines_between(repository: Repository, old: str, new: str) -> dict[str, int]:
    """The files that differ between two commits, with how many lines."""
    told = git_output(repository.path, ["diff", *_NUMBERS_OF_LINES, old, new, "--"])
    return _lines_by_file(told)


def submodules_of(repository: Repository, revision: str) -> dict[str, str]:
    """The submodules of a commit: the commit of each by its path. No work tree has their files."""
    told = git_output(repository.path, ["ls-tree", "-r", "-z", "--full-tree", revision, "--"])
    found: dict[str, str] = {}
    for record in told.split("\0"):
        about, _, path = record.partition("\t")
        if about.startswith("160000 "):
            found[path] = about.rpartition(" ")[2]
    return found


def count_commits(repository: Repository, revision: str, without: str | None = None) -> int:
    """How many commits a revision has, or has that another one has not."""
    other = [] if without is None else [f"^{without}"]
    return int(git_output(repository.path, ["rev-list", "--count", revision, *other, "--"]))


def _lines_by_file(told: str) -> dict[str, int]:
    found: dict[str, int] = {}
    for record in told.split("\0"):
        parts = record.split("\t", 2)
        if len(parts) == 3:
            added, removed, name = parts
            # Of binary files git counts no lines.
            found[name] = sum(int(part) if part.isdigit() else 1 for part in (added, removed))
    return found


def _commit(record: str) -> Commit:
    parts = record.split(_FIELD)
    if len(parts) != 4:
        raise DataError(f"Git told of a commit in another form: {record[:80]!r}.", field="git")
    name, parents, time, subject = parts
    return Commit(name, tuple(parents.split()), float(time), _readable(subject))


def _readable(subject: str) -> str:
    """Git gives bytes that are not UTF-8 as they are."""
    return subject.encode("utf-8", "replace").decode("utf-8")


def _without_credentials(address: str) -> str:
    """An address without a user and password in front of its host."""
    scheme, separator, rest = address.partition("://")
    if not separator:
        return address
    host, slash, path = rest.partition("/")
    return f"{scheme}://{host.rpartition('@')[2]}{slash}{path}"
