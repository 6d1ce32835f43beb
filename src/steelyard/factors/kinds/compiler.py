"""The compiler, with its version."""

from __future__ import annotations

import re

from steelyard.core.experiment_spec import Variant
from steelyard.factors.builds import with_compilers
from steelyard.factors.factor import Factor

# Which C++ and Fortran compilers come with a C compiler; its version stands behind a dash.
_FAMILIES = {
    "gcc": ("g++", "gfortran"),
    "clang": ("clang++", "flang-new"),
    "steelyard cc": ("steelyard c++", "steelyard fc"),
    "cc": ("c++", "f95"),
}
_NAME = re.compile(r"(?P<prefix>.*?)(?P<family>gcc|clang|steelyard cc|cc)(?P<version>(-[0-9.]+)?)$")


def _normal(text: str) -> str:
    if not _NAME.fullmatch(text):
        raise ValueError("it takes a C compiler such as gcc, gcc-12 or clang-19")
    return text


def _apply(variant: Variant, level: str) -> Variant:
    found = _NAME.fullmatch(level)
    if found is None:
        raise ValueError(level)
    cxx, fortran = _FAMILIES[found["family"]]
    prefix, version = found["prefix"], found["version"]
    programs = {"CC": level, "CXX": f"{prefix}{cxx}{version}", "FC": f"{prefix}{fortran}{version}"}
    return with_compilers(variant, "compiler", **programs)


EXTENSION = Factor(
    name="compiler",
    description="The C compiler such as gcc-12 or clang-19, with the others of its family.",
    part="build",
    normal=_normal,
    apply=_apply,
)
