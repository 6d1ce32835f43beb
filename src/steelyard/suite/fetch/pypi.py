"""Distributions of a Python package index, by the user's pip with its configuration."""

from __future__ import annotations

import importlib.util
import shutil
import sys

from steelyard.core.errors import MissingCapabilityError
from steelyard.suite.command import run_tool
from steelyard.suite.fetch.source_kind import Wanted


def fetch_pypi(wanted: Wanted, directory: str, state: str) -> None:
    """Download each wheel or source distribution; nothing is installed."""
    pip = _pip()
    options = ("--no-deps", "--disable-pip-version-check", "--quiet", "--dest", directory)
    for artifact in wanted.artifacts:
        package, version = artifact.coordinates
        only = "--only-binary" if artifact.file.endswith(".whl") else "--no-binary"
        run_tool([*pip, "download", *options, only, ":all:", f"{package}=={version}"], directory)


def _pip() -> list[str]:
    if importlib.util.find_spec("pip") is not None:
        return [sys.executable, "-m", "pip"]
    for name in ("pip3", "pip"):
        found = shutil.which(name)
        if found is not None:
            return [found]
    raise MissingCapabilityError(
        "Fetching from the Python package index takes pip, which is not there. Install it: "
        "`sudo apt-get install python3-pip`."
    )
