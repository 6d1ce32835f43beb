"""Where the debugging information of a program or library is, if not in its own file."""

from __future__ import annotations

import os
import struct
import zlib
from collections.abc import Iterable, Iterator

from steelyard.core.decoding import regular_opener
from steelyard.core.elf_file import ElfFile, from_elf

DEBUG_ROOT = "/usr/lib/debug"
_CRC = struct.Struct("<I")
_BLOCK_BYTES = 1 << 20


def read_build_id(path: str) -> str:
    """The build id of a file; empty where it has none, or is no ELF file."""
    return from_elf(path, lambda elf: elf.build_id, "")


def separate_file(path: str) -> str | None:
    """The file that holds what was stripped of `path`: by its build id, or by `.gnu_debuglink`.

    One that belongs to another build is passed over: its build id, or checksum, is another one.
    """
    wanted = from_elf(path, _wanted, ("", None))
    return next(_separate_files(path, *wanted), None)


def supplementary_file(path: str) -> str | None:
    """The file that several share parts of their debugging information in, as dwz writes it."""
    name, build_id = from_elf(path, _supplement, ("", ""))
    if not name:
        return None
    folder = os.path.dirname(path)
    candidates = [*_by_build_id(build_id), os.path.join(folder, name)]
    candidates.append(os.path.join(DEBUG_ROOT, ".dwz", os.path.basename(name)))
    return _of_build(candidates, build_id)


def split_file(path: str, name: str, folder: str) -> str | None:
    """The file of a split unit (`.dwo`), where it was compiled or beside the program."""
    beside = os.path.dirname(path)
    candidates = (
        os.path.join(folder, name),
        os.path.join(beside, name),
        os.path.join(beside, os.path.basename(name)),
    )
    return next((found for found in candidates if os.path.isfile(found)), None)


def package_file(*paths: str) -> str | None:
    """The package of split units (`.dwp`) beside one of these files."""
    return next((f"{path}.dwp" for path in paths if os.path.isfile(f"{path}.dwp")), None)


def _wanted(elf: ElfFile) -> tuple[str, tuple[str, int] | None]:
    return elf.build_id, _debug_link(elf)


def _debug_link(elf: ElfFile) -> tuple[str, int] | None:
    """The name and the checksum of the separate file: GDB manual, 'Separate Debug Files'."""
    section = elf.section(".gnu_debuglink")
    if section is None:
        return None
    data = elf.data(section)
    return _text(data), _CRC.unpack(data[-_CRC.size :])[0]


def _separate_files(path: str, build_id: str, link: tuple[str, int] | None) -> Iterator[str]:
    yield from _by_build_id(build_id)
    if link is None:
        return
    name, checksum = link
    folder = os.path.dirname(os.path.realpath(path))
    for candidate in (
        os.path.join(folder, name),
        os.path.join(folder, ".debug", name),
        os.path.join(DEBUG_ROOT, folder.lstrip("/"), name),
    ):
        if os.path.isfile(candidate) and not _is_same(candidate, path):
            belongs = read_build_id(candidate) == build_id
            if belongs if build_id else _checksum(candidate) == checksum:
                yield candidate


def _by_build_id(build_id: str) -> list[str]:
    path = os.path.join(DEBUG_ROOT, ".build-id", build_id[:2], f"{build_id[2:]}.debug")
    return [path] if len(build_id) > 2 and os.path.isfile(path) else []


def _supplement(elf: ElfFile) -> tuple[str, str]:
    """The name and build id of the supplementary file: of dwz, and by DWARF 5, section 7.3.6."""
    section = elf.section(".gnu_debugaltlink")
    if section is not None:
        data = elf.data(section)
        name = _text(data)
        return name, data[len(os.fsencode(name)) + 1 :].hex()
    is_supplement, name, checksum = _of_dwarf_5(elf)
    return ("", "") if is_supplement else (name, checksum)


def _of_dwarf_5(elf: ElfFile) -> tuple[bool, str, str]:
    """What `.debug_sup` says: whether the file is a supplementary one, a name and a checksum."""
    section = elf.section(".debug_sup")
    if section is None:
        return False, "", ""
    data = elf.data(section)
    kind, data = data[2:3], data[3:]
    name = _text(data)
    # The length of the checksum is a number of one byte: a build id has 20.
    return kind == b"\1", name, data[len(os.fsencode(name)) + 2 :].hex()


def _of_build(candidates: Iterable[str], build_id: str) -> str | None:
    existing = (path for path in candidates if os.path.isfile(path))
    return next((path for path in existing if build_id in _identities(path)), None)


def _identities(path: str) -> tuple[str, ...]:
    """Its build id, and the checksum that a supplementary file of DWARF 5 has in its place."""
    is_supplement, _, checksum = from_elf(path, _of_dwarf_5, (False, "", ""))
    return (read_build_id(path), *((checksum,) if is_supplement else ()))


def _text(data: bytes) -> str:
    return os.fsdecode(data[: data.index(b"\0")])


def _is_same(one: str, other: str) -> bool:
    return os.path.realpath(one) == os.path.realpath(other)


def _checksum(path: str) -> int:
    checksum = 0
    try:
        with open(path, "rb", opener=regular_opener) as file:
            while block := file.read(_BLOCK_BYTES):
                checksum = zlib.crc32(block, checksum)
    except OSError:
        return -1
    return checksum
