"""Packages of npm's registry, by the user's npm with its configuration."""

from __future__ import annotations

from steelyard.suite.fetch.source_kind import Wanted
from steelyard.suite.tool_command import run_tool, tool


def fetch_npm(wanted: Wanted, directory: str, state: str) -> None:
    """Pack each package into its archive; nothing is installed and no script of it is run."""
    npm = tool("npm", "npm", "Fetching from npm's registry")
    options = ("--ignore-scripts", "--loglevel", "error", "--pack-destination", directory)
    options += ("--fetch-retries", "1", "--fetch-timeout", "30000")
    for artifact in wanted.artifacts:
        package, version = artifact.coordinates
        run_tool([npm, "pack", *options, f"{package}@{version}"], directory)
