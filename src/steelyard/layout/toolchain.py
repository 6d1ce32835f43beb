"""The compiler, the linker and Steelyard's own native parts that a layout build takes."""

from __future__ import annotations

import os

from steelyard.core.errors import MissingCapabilityError
from steelyard.core.install_hint import install_command

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal

    Language = Literal["c", "c++", "fortran"]

NATIVE = os.path.join(os.path.dirname(os.path.dirname(__file__)), "_native", "layout")
# The version whose code the relinker and the stack pads are proven on.
_LLVM = "19"
_LLVM_FOLDER = f"/usr/lib/llvm-{_LLVM}/bin"
COMPILERS = {"c": f"clang-{_LLVM}", "c++": f"clang++-{_LLVM}", "fortran": "gfortran"}


class Toolchain:
    """Paths of what a build runs and links.

    Parameters
    ----------
    compiler : str
        clang or gfortran.
    linker_folder : str
        Holds an `ld.lld`.
    native_folder : str
        Holds the parts of Steelyard's own.
    assembler : str
        GNU as; empty where there is none, and clang assembles.
    """

    def __init__(
        self, compiler: str, linker_folder: str, native_folder: str, assembler: str = ""
    ) -> None:
        self.compiler = compiler
        self.linker_folder = linker_folder
        self.assembler = assembler
        self._native = native_folder

    @property
    def relinker(self) -> str:
        """What makes a linked program movable."""
        return self._part("steelyard-relink")

    @property
    def runtime(self) -> str:
        """What is linked into programs."""
        return self._part("steelyard-layout.o")

    @property
    def allocator(self) -> str:
        """What is linked into programs that have no malloc of their own."""
        return self._part("steelyard-malloc.o")

    @property
    def exports(self) -> str:
        """A version script for what shared libraries must find in the program."""
        return self._part("exports.map")

    @property
    def module(self) -> str:
        """What is linked into shared libraries."""
        return self._part("libsteelyard-module.a")

    @property
    def pads_folder(self) -> str:
        """Holds the `as` that puts pads into functions."""
        return self._part("bin")

    def _part(self, name: str) -> str:
        return os.path.join(self._native, name)


def find_toolchain(language: Language) -> Toolchain:
    """The toolchain of this machine.

    Raises
    ------
    MissingCapabilityError
        Some of it is not installed; the message says what and how to get it.
    """
    compiler = _find(COMPILERS[language])
    linker = _find(f"ld.lld-{_LLVM}") or _find("ld.lld", _LLVM_FOLDER)
    if not compiler or not linker:
        packages = ("gfortran" if language == "fortran" else f"clang-{_LLVM}", f"lld-{_LLVM}")
        raise MissingCapabilityError(
            f"{packages[bool(compiler)]} is not installed, which layout builds take: "
            f"`{install_command(*packages)}`."
        )
    native_file("steelyard-relink")
    folder = os.path.dirname(os.path.realpath(linker))
    return Toolchain(compiler, folder, NATIVE, _find("as"))


def _find(name: str, path: str | None = None) -> str:
    """As shutil.which, which takes 5 ms to load."""
    folders = os.environ.get("PATH", os.defpath) if path is None else path
    for folder in folders.split(os.pathsep):
        found = os.path.join(folder, name)
        if os.access(found, os.X_OK) and not os.path.isdir(found):
            return found
    return ""


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
