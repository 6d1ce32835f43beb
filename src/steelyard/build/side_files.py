"""Where what belongs to a build without being part of it is kept."""

from __future__ import annotations

import os


def beside(directory: str) -> str:
    """The directory that lies beside that of a build: its log, its wrappers, its records."""
    return f"{directory}.steelyard"


def records_directory(directory: str) -> str:
    """Where the linker wrapper records the links of the build in `directory`."""
    return os.path.join(beside(directory), "links")
