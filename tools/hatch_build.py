"""Builds the native parts into the wheel.

Programs are linked statically and speak to the kernel alone, so they fit every Linux of their
architecture; one that turns out to be linked dynamically is refused. What other programs load, and
the program that shows how the C library begins, need the C library that they were linked with: the
newest symbol that they want is in the wheel's tag.
"""

from __future__ import annotations

import os
import platform
import re
import subprocess
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

# What a static binary needs is the kernel; 2.17 is the oldest C library that a manylinux tag
# can speak of, and pip matches it on anything newer (PEP 600).
_OLDEST_C_LIBRARY = (2, 17)
# It is about the C library that other programs load, so that it loads it too.
_ABOUT_THE_C_LIBRARY = ("steelyard-path-probe",)


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
        wanted = _OLDEST_C_LIBRARY
        for folder, _, files in os.walk(install):
            for file in files:
                path = os.path.join(folder, file)
                if _is_elf(path):
                    _refuse_dynamic(path)
                    wanted = max(wanted, _c_library(path))
                inside = os.path.join("steelyard", "_native", os.path.relpath(path, install))
                build_data["force_include"][path] = inside
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-manylinux_{wanted[0]}_{wanted[1]}_{platform.machine()}"


def _is_elf(path: str) -> bool:
    """Whether a file is one for readelf: lists of symbols and archives are not."""
    with open(path, "rb") as file:
        return file.read(4) == b"\x7fELF"


def _c_library(path: str) -> tuple[int, int]:
    """The oldest version of the C library that has all that this file wants of it."""
    command = ["readelf", "--dyn-syms", "--wide", path]
    listing = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    found = re.findall(r"@GLIBC_(\d+)\.(\d+)", listing)
    return max(((int(major), int(minor)) for major, minor in found), default=(0, 0))


def _refuse_dynamic(path: str) -> None:
    if os.path.basename(path) in _ABOUT_THE_C_LIBRARY:
        return
    command = ["readelf", "--program-headers", path]
    listing = subprocess.run(command, capture_output=True, text=True, check=True)
    if "INTERP" in listing.stdout:
        raise RuntimeError(
            f"{path} is linked dynamically, so the wheel would not run on other systems. "
            "Link it with -static."
        )
