"""The command that installs what is missing, as this user can give it."""

from __future__ import annotations

import os


def install_command(*packages: str) -> str:
    """The command that installs packages of Debian: with ``sudo`` for who is not root and has it.

    Who has neither needs somebody who is root, for whom the command is the same.
    """
    command = " ".join(("apt-get install", *packages))
    return f"sudo {command}" if os.geteuid() != 0 and _has_sudo() else command


def _has_sudo() -> bool:
    folders = os.environ.get("PATH", os.defpath).split(os.pathsep)
    return any(os.access(os.path.join(folder, "sudo"), os.X_OK) for folder in folders)
