"""Distributions of a Python package index, with the user's configuration of pip."""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys

from steelyard.core.errors import MissingCapabilityError
from steelyard.core.install_hint import install_command
from steelyard.suite.fetch.package_index import settings_of, take_file
from steelyard.suite.fetch.source_kind import Wanted
from steelyard.suite.tool_command import run_tool


def fetch_pypi(wanted: Wanted, directory: str, state: str) -> None:
    """Take each wheel or source distribution as it is; nothing of it is read or run."""
    settings = settings_of(run_tool([*_pip(), "config", "list"], directory))
    for artifact in wanted.artifacts:
        package, _ = artifact.coordinates
        target = os.path.join(directory, artifact.file)
        take_file(settings, package, artifact.file, target, artifact.size_bytes)


def has_own_pip() -> bool:
    """Whether Steelyard's own Python has pip, so that no other is looked for."""
    return importlib.util.find_spec("pip") is not None


def _pip() -> list[str]:
    if has_own_pip():
        return [sys.executable, "-m", "pip"]
    for name in ("pip3", "pip"):
        found = shutil.which(name)
        if found is not None:
            return [found]
    raise MissingCapabilityError(
        "Fetching from the Python package index takes pip's configuration, and pip is not there. "
        f"Install it: `{install_command('python3-pip')}`."
    )
