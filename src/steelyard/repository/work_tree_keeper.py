"""Waits for the end of the process that made a work tree, and removes it where that was killed.

A program of its own, started with the repository and the directory: it imports nothing of
Steelyard's. Its standard input ends when the other process does; ``done`` in it says that there is
nothing left to remove.
"""

import os
import shutil
import subprocess
import sys


def keep(repository: str, directory: str) -> None:
    """Read to the end of standard input, then remove what is left."""
    if os.read(0, 4) == b"done":
        return
    git = ["git", "-C", repository, "worktree"]
    # Standard output and error lead nowhere already.
    subprocess.run([*git, "remove", "--force", directory], check=False)
    for inner, _, _ in os.walk(directory):
        os.chmod(inner, 0o700)
    shutil.rmtree(directory, ignore_errors=True)
    subprocess.run([*git, "prune"], check=False)


if __name__ == "__main__":
    keep(*sys.argv[1:3])
