"""The compilers and flags that a program of the suite is built with."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass

from steelyard.core.errors import MissingCapabilityError
from steelyard.core.install_hint import install_command

DEFAULT_FLAGS = "-O2"
# Which variable of the environment names the compiler of a language.
COMPILED = {"c": "CC", "c++": "CXX", "fortran": "FC"}
_FAMILIES = {
    "gcc": ("g++", "gfortran"),
    "clang": ("clang++", "gfortran"),
    "cc": ("c++", "gfortran"),
}
_NAME = re.compile(r"^(gcc|clang|cc)(-\d+)?$")
# Steelyard's own drivers, whose programs move.
_DRIVER = re.compile(r"^(?P<program>(.*/)?steelyard) cc$")


@dataclass(frozen=True)
class Toolchain:
    """What stands behind ``CC``, ``CXX``, ``FC``, ``LD`` and the flags.

    What is None is derived: the C++ and Fortran compilers from `cc` (``clang-19`` gives
    ``clang++-19``, ``steelyard cc`` gives ``steelyard c++`` and ``steelyard fc``; other Fortran is
    gfortran's, of the version of gcc), and `cc` from the environment.

    Parameters
    ----------
    ld : str or None
        A linker that the compiler's driver knows, such as ``lld``.
    flags : str or None
        For all compilers.
    """

    cc: str | None = None
    cxx: str | None = None
    fc: str | None = None
    ld: str | None = None
    flags: str | None = None

    @property
    def is_default(self) -> bool:
        """Whether nothing was asked for."""
        return self == Toolchain()

    def label(self) -> str:
        """What was asked for, such as ``gcc -O3``; empty for nothing."""
        named = [self.cc, self.cxx and f"cxx={self.cxx}", self.fc and f"fc={self.fc}"]
        return " ".join(filter(None, (*named, self.ld and f"ld={self.ld}", self.flags)))

    def compilers(self) -> dict[str, str]:
        """The compilers by their variables."""
        cc = self.cc or os.environ.get("CC") or "gcc"
        cxx, fc = _derived(cc)
        if self.cc is None:
            cxx, fc = os.environ.get("CXX") or cxx, os.environ.get("FC") or fc
        return {"CC": cc, "CXX": self.cxx or cxx, "FC": self.fc or fc}

    def environment(self) -> tuple[tuple[str, str | None], ...]:
        """The variables of the flags. Those of a surrounding make are taken away."""
        flags = self.flags or os.environ.get("CFLAGS") or DEFAULT_FLAGS
        linking = os.environ.get("LDFLAGS", "")
        if self.ld is not None:
            linking = f"{linking} -fuse-ld={self.ld}".strip()
        found: dict[str, str | None] = dict.fromkeys(("CFLAGS", "CXXFLAGS", "FFLAGS"), flags)
        found["LDFLAGS"] = linking
        found["LD"] = self.ld or os.environ.get("LD") or "ld"
        found["AR"] = os.environ.get("AR") or "ar"
        found["RANLIB"] = os.environ.get("RANLIB") or "ranlib"
        found["LC_ALL"] = "C"
        for name in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS", "CDPATH", "CPPFLAGS"):
            found[name] = None
        return tuple(found.items())

    def check(self, languages: Sequence[str], program: str) -> None:
        """Make sure that the compilers of these languages are there.

        Raises
        ------
        MissingCapabilityError
            One is not; the message names its package.
        """
        for language in languages:
            if language not in COMPILED:
                continue
            compiler = self.compilers()[COMPILED[language]]
            if shutil.which(compiler.split(maxsplit=1)[0]) is None:
                package = compiler_package(compiler)
                raise MissingCapabilityError(
                    f"Building {program} takes the compiler {compiler}, which is not there. "
                    f"Install it: `{install_command(package)}`{_others(compiler)}."
                )


def compiler_package(compiler: str) -> str:
    """The package of Debian that has a compiler: that of ``clang++-19`` is ``clang-19``."""
    name = os.path.basename(compiler.split(maxsplit=1)[0])
    return name.replace("clang++", "clang")


def _derived(cc: str) -> tuple[str, str]:
    driver = _DRIVER.match(cc)
    if driver is not None:
        return f"{driver['program']} c++", f"{driver['program']} fc"
    directory, name = os.path.split(cc)
    match = _NAME.match(name)
    if match is None:
        return "g++", "gfortran"
    family, version = match[1], match[2] or ""
    cxx, fc = _FAMILIES[family]
    return os.path.join(directory, cxx + version), fc + (version if family == "gcc" else "")


def _others(compiler: str) -> str:
    """Other versions of the compiler that are there, for whoever left the version out."""
    name = os.path.basename(compiler.split(maxsplit=1)[0])
    pattern = re.compile(re.escape(name) + r"-\d+$")
    found = {
        entry
        for directory in os.get_exec_path()
        if os.path.isdir(directory)
        for entry in os.listdir(directory)
        if pattern.match(entry)
    }
    return f", or name one that is: {', '.join(sorted(found))}" if found else ""
