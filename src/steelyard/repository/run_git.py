"""Running git: without pager, prompts and hooks, whatever repository the caller is in."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence

from steelyard.core.errors import DataError, MissingCapabilityError

_TIMEOUT_S = 600.0
# A hook or an alias of the caller would bind these to another repository (git(1), environment).
_OTHER_REPOSITORY = (
    *("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_COMMON_DIR"),
    *("GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_NAMESPACE"),
)


# A repository of others must run nothing by being read: a checkout runs its hooks otherwise, a log
# its program for signatures, and a look at the index its monitor of files.
_SETTINGS = (
    *("-c", "core.hooksPath=/dev/null", "-c", "log.showSignature=false"),
    *("-c", "core.fsmonitor=false"),
)
# Nor may it fetch what it lacks: its settings name the program that would, and from where.
_FETCHES_NOTHING = {"GIT_ALLOW_PROTOCOL": "none", "GIT_NO_LAZY_FETCH": "1"}


def run_git(
    repository: str,
    arguments: Sequence[str],
    feed: str | None = None,
    *,
    may_fail: bool = False,
    settings: Mapping[str, str] | None = None,
) -> str | None:
    """What a command of git prints.

    Parameters
    ----------
    repository : str
        A directory in its work tree, or a bare one.
    arguments : sequence of str
    feed : str, optional
        Its standard input.
    may_fail : bool
        Give None where the command fails, instead of an error.
    settings : mapping of str to str, optional
        Values of git's settings that go before those of all files.

    Raises
    ------
    MissingCapabilityError
        Git is not installed.
    DataError
        The command failed: the message has what git said.
    """
    argv = ["git", "-C", repository, *_SETTINGS, *arguments]
    try:
        done = subprocess.run(
            argv,
            input="" if feed is None else feed,
            capture_output=True,
            text=True,
            encoding="utf-8",
            errors="surrogateescape",
            env={**_environment(), **_set(settings or {})},
            timeout=_TIMEOUT_S,
            check=False,
        )
    except FileNotFoundError:
        raise MissingCapabilityError(
            "Git is not installed, which tells the order of revisions. Install it: "
            "`apt-get install git`.",
            field="--repository",
        ) from None
    except subprocess.TimeoutExpired:
        raise DataError(
            f"`git {arguments[0]}` in {repository} took longer than {_TIMEOUT_S:.0f} s.",
            field="--repository",
        ) from None
    if done.returncode == 0:
        return done.stdout
    if may_fail:
        return None
    said = " ".join(done.stderr.split())[:300] or f"exit status {done.returncode}"
    raise DataError(f"`git {arguments[0]}` failed in {repository}: {said}", field="--repository")


def git_output(repository: str, arguments: Sequence[str], feed: str | None = None) -> str:
    """What a command of git prints; a failure is a `DataError`."""
    return run_git(repository, arguments, feed) or ""


def _environment() -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name not in _OTHER_REPOSITORY}
    plain = {"GIT_TERMINAL_PROMPT": "0", "GIT_PAGER": "cat", "LC_ALL": "C.UTF-8"}
    return {**kept, **plain, **_FETCHES_NOTHING}


def _set(settings: Mapping[str, str]) -> dict[str, str]:
    """Settings as git takes them from the environment (git-config(1)), after the caller's."""
    first = os.environ.get("GIT_CONFIG_COUNT", "")
    number = int(first) if first.isdecimal() else 0
    found = {"GIT_CONFIG_COUNT": str(number + len(settings))} if settings else {}
    for place, (name, value) in enumerate(settings.items(), number):
        found[f"GIT_CONFIG_KEY_{place}"] = name
        found[f"GIT_CONFIG_VALUE_{place}"] = value
    return found
