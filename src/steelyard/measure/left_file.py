"""What a program left at a path where a trial expected a file."""

from __future__ import annotations

import os


def remove_left(path: str) -> None:
    """Remove what a program left at `path`, which may be nothing, or a directory."""
    try:
        os.unlink(path)
    except FileNotFoundError:
        pass
    except IsADirectoryError:
        from shutil import rmtree

        rmtree(path, ignore_errors=True)
