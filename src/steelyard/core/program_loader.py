"""What loads a program: the C library's dynamic loader, as the file names it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence

from steelyard.core.elf_file import ElfFile, from_elf

# glibc's loader is ld-linux-x86-64.so.2 or, on AArch64, ld-linux-aarch64.so.1.
_GLIBC = "ld-linux"


def loader_of(program: str) -> str:
    """The loader that a program names (`PT_INTERP`, section ``.interp``).

    Parameters
    ----------
    program : str
        Its file.

    Returns
    -------
    str
        Empty: it names none, as one that is linked statically; or it is no program.
    """

    def name(elf: ElfFile) -> bytes:
        section = elf.section(".interp")
        return b"" if section is None else elf.data(section)

    return os.fsdecode(from_elf(program, name, b"").rstrip(b"\0"))


def has_other_loader(program: str) -> bool:
    """Whether a program is loaded by another C library than glibc, such as musl, which cannot load
    libraries of glibc into it."""
    loader = loader_of(program)
    return loader != "" and not os.path.basename(loader).startswith(_GLIBC)


def starts_other_loader(argv: Sequence[str], directory: str | None = None) -> bool:
    """The same of the program that a command names.

    Parameters
    ----------
    argv : sequence of str
    directory : str, optional
        Where the command runs; None: here.
    """
    name = argv[0] if argv else ""
    if os.path.dirname(name):
        return has_other_loader(os.path.join(directory or "", name))
    found = shutil.which(name)
    return found is not None and has_other_loader(found)
