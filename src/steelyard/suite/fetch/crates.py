"""Crates of a Cargo registry, by the user's cargo with its configuration."""

from __future__ import annotations

import glob
import os
import shutil

from steelyard.core.errors import FetchError
from steelyard.suite.fetch.source_kind import Wanted
from steelyard.suite.suite_cache import remove_tree
from steelyard.suite.tool_command import run_tool, tool

_PROJECT = """[package]
name = "steelyard-fetch"
version = "0.0.0"
edition = "2018"
[lib]
path = "lib.rs"
[dependencies]
"""


def fetch_crates(wanted: Wanted, directory: str, state: str) -> None:
    """Let cargo fetch the crates into its own cache, and take them from there."""
    cargo = tool("cargo", "cargo", "Fetching crates")
    project = os.path.join(directory, "project")
    remove_tree(project)
    os.makedirs(project)
    with open(os.path.join(project, "lib.rs"), "w"):
        pass
    with open(os.path.join(project, "Cargo.toml"), "w") as file:
        file.write(_PROJECT)
        for number, artifact in enumerate(wanted.artifacts):
            package, version = artifact.coordinates
            file.write(f'a{number} = {{ package = "{package}", version = "={version}" }}\n')
    waiting = {"CARGO_NET_RETRY": "1", "CARGO_HTTP_TIMEOUT": "20"}
    run_tool([cargo, "fetch", "--quiet"], project, waiting)
    home = os.environ.get("CARGO_HOME") or os.path.expanduser("~/.cargo")
    for artifact in wanted.artifacts:
        package, version = artifact.coordinates
        kept = glob.glob(os.path.join(home, "registry", "cache", "*", f"{package}-{version}.crate"))
        if not kept:
            raise FetchError(f"cargo fetched {package} {version}, but {home} does not have it.")
        shutil.copyfile(kept[0], os.path.join(directory, artifact.file))
