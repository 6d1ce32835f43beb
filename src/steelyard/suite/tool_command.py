"""Running the programs that fetch and unpack, and telling what they said where they fail."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence

from steelyard.core.errors import FetchError, MissingCapabilityError
from steelyard.core.install_hint import install_command

_SHOWN_LINES = 8
_FULL_DISK = os.strerror(errno.ENOSPC)


def tool(name: str, package: str, purpose: str) -> str:
    """The path of a program of the system.

    Raises
    ------
    MissingCapabilityError
        It is not there; the message names the package.
    """
    found = shutil.which(name)
    if found is None:
        raise MissingCapabilityError(
            f"{purpose} takes the program {name}, which is not there. Install it: "
            f"`{install_command(package)}`."
        )
    return found


def run_tool(
    argv: Sequence[str], directory: str, environment: Mapping[str, str] | None = None
) -> str:
    """Run a program to its end in `directory` and give its standard output.

    Raises
    ------
    FetchError
        It failed; the message has its last words.
    OSError
        It had no room on the disk.
    """
    done = subprocess.run(
        argv,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        cwd=directory,
        env={**os.environ, "LC_ALL": "C", **(environment or {})},
        check=False,
    )
    if done.returncode != 0:
        said = (done.stdout + done.stderr).decode("utf-8", "replace")
        if _FULL_DISK in said:
            raise OSError(errno.ENOSPC, _FULL_DISK, directory)
        raise FetchError(f"{os.path.basename(argv[0])} failed: {last_words(said)}")
    return done.stdout.decode("utf-8", "replace")


def last_words(said: str) -> str:
    """The last lines of what a program said, those that complain before others."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    marks = ("E:", "Err:", "error", "ERROR", "fatal", "npm ERR", "failed", "FAILED")
    telling = [line for line in lines if any(mark in line for mark in marks)]
    return " / ".join((telling or lines)[-_SHOWN_LINES:]) or "it says nothing"
