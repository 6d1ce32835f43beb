"""Builds the native parts into the wheel.

The launcher is linked statically and speaks to the kernel alone, so the wheel fits every Linux
of its architecture; a build that turns out to be linked dynamically is refused, because its tag
would be a lie.
"""

from __future__ import annotations

import os
import platform
import subprocess
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

# What a static binary needs is the kernel; 2.17 is the oldest C library that a manylinux tag
# can speak of, and pip matches it on anything newer.
_TAG = "py3-none-manylinux_2_17_{machine}.manylinux2014_{machine}"


class NativeBuildHook(BuildHookInterface[Any]):
    """Runs CMake and adds what it installs as ``steelyard/_native``."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Called by hatchling before it collects the files of the wheel."""
        if self.target_name != "wheel" or version == "editable":
            return
        build = os.path.join(self.root, "build", "wheel-native")
        install = os.path.join(self.root, "build", "wheel-native-install")
        script = os.path.join(self.root, "tools", "native.sh")
        subprocess.run([script, build, install], check=True, stdin=subprocess.DEVNULL)
        for folder, _, files in os.walk(install):
            for file in files:
                path = os.path.join(folder, file)
                _refuse_dynamic(path)
                inside = os.path.join("steelyard", "_native", os.path.relpath(path, install))
                build_data["force_include"][path] = inside
        build_data["pure_python"] = False
        build_data["tag"] = _TAG.format(machine=platform.machine())


def _refuse_dynamic(path: str) -> None:
    command = ["readelf", "--program-headers", path]
    listing = subprocess.run(command, capture_output=True, text=True, check=True)
    if "INTERP" in listing.stdout:
        raise RuntimeError(
            f"{path} is linked dynamically, so the wheel would not run on other systems. "
            "Link it with -static."
        )
