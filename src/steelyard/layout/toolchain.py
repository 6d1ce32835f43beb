"""The compiler, the linker and Steelyard's own native parts that a layout build takes."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from typing import Literal

from steelyard.core.errors import MissingCapabilityError

Language = Literal["c", "c++", "fortran"]
NATIVE = os.path.join(os.path.dirname(os.path.dirname(__file__)), "_native", "layout")
# The version whose code the relinker and the stack pads are proven on.
_LLVM = "19"
_LLVM_FOLDER = f"/usr/lib/llvm-{_LLVM}/bin"
_NAMES = {"c": f"clang-{_LLVM}", "c++": f"clang++-{_LLVM}", "fortran": "gfortran"}


@dataclass(frozen=True)
class Toolchain:
    """Paths of what a build runs and links.

    `linker_folder` holds an `ld.lld`. `runtime` is linked into programs, `module` into shared
    libraries; `assembler_folder` holds the `as` that puts pads into functions.
    """

    compiler: str
    linker_folder: str
    relinker: str
    runtime: str
    module: str
    assembler_folder: str


def find_toolchain(language: Language) -> Toolchain:
    """The toolchain of this machine.

    Raises
    ------
    MissingCapabilityError
        Some of it is not installed; the message says what and how to get it.
    """
    compiler = shutil.which(_NAMES[language])
    linker = shutil.which(f"ld.lld-{_LLVM}") or shutil.which("ld.lld", path=_LLVM_FOLDER)
    if compiler is None or linker is None:
        packages = ("gfortran" if language == "fortran" else f"clang-{_LLVM}", f"lld-{_LLVM}")
        raise MissingCapabilityError(
            f"{packages[compiler is not None]} is not installed, which layout builds take: "
            f"`apt-get install {' '.join(packages)}`."
        )
    relinker = native_file("steelyard-relink")
    return Toolchain(
        compiler=compiler,
        linker_folder=os.path.dirname(os.path.realpath(linker)),
        relinker=relinker,
        runtime=native_file("libsteelyard-layout.a"),
        module=native_file("libsteelyard-module.a"),
        assembler_folder=os.path.dirname(native_file(os.path.join("bin", "as"))),
    )


def native_file(name: str) -> str:
    """The path of one of the native parts of the layout room.

    Raises
    ------
    MissingCapabilityError
        It was not built: the machine is no x86-64, or the checkout is not set up.
    """
    path = os.path.join(NATIVE, name)
    if not os.path.exists(path):
        raise MissingCapabilityError(
            f"{path} is not there. Layout randomisation is for x86-64; on such a machine "
            "`make native` builds it in a checkout, and a wheel brings it along."
        )
    return path
