"""Readers of what compilers, linkers and running programs leave: ELF files, archives, reports."""

from __future__ import annotations

import json
import os
import shutil
import struct
import tarfile
import tempfile
import zipfile
from contextlib import suppress
from io import BytesIO
from pathlib import Path

from steelyard.build.elf_functions import read_elf_functions
from steelyard.build.link_line import expand_response_files
from steelyard.build.static_library import NotArchiveError, read_archive
from steelyard.core.elf_file import ElfFile, NotElfError
from steelyard.core.errors import ArchiveError, SuiteError
from steelyard.core.experiment_spec import IterationsSpec
from steelyard.layout.response_files import expanded_words
from steelyard.measure.layout_report import read_report, report_file
from steelyard.measure.package_results import found_package
from steelyard.measure.package_results import report_file as package_report
from steelyard.measure.provenance import compiler_of
from steelyard.profile.paths.declared_arguments import declared_arguments
from steelyard.profile.paths.frame_table_copy import CodeFrame, FrameChange, FrameTableCopy
from steelyard.profile.symbols.debug_files import read_build_id, separate_file, supplementary_file
from steelyard.profile.symbols.debug_sections import debug_sections
from steelyard.profile.symbols.elf_symbols import read_symbols
from steelyard.profile.symbols.frame_rules import UnreadableRulesError
from steelyard.profile.symbols.inlined_code import debug_source
from steelyard.profile.symbols.source_lines import source_lines
from steelyard.profile.symbols.static_probes import static_probes
from steelyard.service.package.archive import PackageLimits, package_in
from steelyard.service.package.archive import unpack as unpack_package
from steelyard.service.package.package_faults import find_faults
from steelyard.suite.unpack import unpack
from tests.fuzz.reader import Reader, check_message

_MEMORY = "/dev/shm" if os.path.isdir("/dev/shm") else None
# Where a table of frames is, and where it goes.
_TABLE_AT, _MOVED_TO = 0x2000, 0x8000
_PACKAGE_LIMITS = PackageLimits(total_bytes=1 << 26, member_count=2000)
ELF_FILES = Path(__file__).parents[1] / "data" / "elf"


def _elf(path: str) -> None:
    """All that is asked of a program or library that a profile or a plan names."""
    with suppress(OSError), open(path, "rb") as file:
        assert len(compiler_of(file) or "") <= 1 << 21
    symbols = read_symbols(path)
    for place in range(min(50, len(symbols.names))):
        assert isinstance(symbols.names[place], bytes)
    assert len(symbols.names) == len(symbols.addresses) == len(symbols.ends)
    assert (symbols.addresses[1:] >= symbols.addresses[:-1]).all()
    for probe in static_probes(path):
        assert probe.offset >= 0
    for look in (read_build_id, separate_file, supplementary_file, debug_source):
        assert look(path) is None or isinstance(look(path), str)
    with tempfile.TemporaryDirectory(dir=_MEMORY) as folder:
        debug_sections(path, folder)
    starts = [*symbols.addresses[:50].tolist(), 0x1000]
    assert all(isinstance(line, str) for line in source_lines(path, starts))
    assert declared_arguments(path, starts).keys() <= set(starts)


def _object_file(path: str) -> None:
    try:
        found = read_elf_functions(BytesIO(Path(path).read_bytes()))
    except (NotElfError, ValueError):
        return
    assert all(function.name is not None for function in found.functions)


def _archive(path: str) -> None:
    try:
        members = read_archive(path)
    except (NotArchiveError, OSError, ValueError):
        return
    assert all(isinstance(member.data, bytes) for member in members)


def _unpacked(path: str) -> None:
    """Nothing comes out beside the directory, and nothing but plain files and folders."""
    with tempfile.TemporaryDirectory(dir=_MEMORY) as folder:
        target = os.path.join(folder, "inside", "target")
        os.mkdir(os.path.dirname(target))
        try:
            unpack(path, target)
        except SuiteError:
            assert os.listdir(os.path.dirname(target)) == []
        assert os.listdir(folder) == ["inside"]
        for found in Path(folder).rglob("*"):
            assert found.is_dir() or found.is_file() or found.is_symlink()
            assert found.resolve().is_relative_to(Path(folder).resolve())
            assert found.is_symlink() or not found.stat().st_mode & 0o7000


def _package(path: str) -> None:
    """A package comes out whole, with names that differ everywhere, or not at all."""
    with tempfile.TemporaryDirectory(dir=_MEMORY) as folder:
        target = os.path.join(folder, "inside", "target")
        os.mkdir(os.path.dirname(target))
        try:
            package = unpack_package(path, target, _PACKAGE_LIMITS)
        except ArchiveError:
            assert os.listdir(os.path.dirname(target)) == []
            raise
        assert os.listdir(folder) == ["inside"]
        assert os.listdir(os.path.dirname(target)) == ["target"]
        names = [member.path.casefold() for member in package.members]
        assert len(set(names)) == len(names)
        for found in Path(target).rglob("*"):
            assert found.is_dir() or found.is_file() or found.is_symlink()
            assert found.resolve().is_relative_to(Path(target).resolve())
            assert not found.lstat().st_mode & 0o6000


def _results(path: str) -> None:
    """What a collect script packed: a digest and finite metrics, or a problem."""
    with tempfile.TemporaryDirectory(dir=_MEMORY) as folder:
        Path(package_report(folder, 0)).write_text(json.dumps({"kept": path, "result": "r"}))
        found = found_package(folder, {"trial": 0}, IterationsSpec("json-lines"))
        assert os.path.exists(path)
        if "problem" in found:
            check_message(found["problem"])
            return
        for told in found["metrics"].values():
            assert told["values"]
            assert all(abs(value) < float("inf") for value in told["values"])
        json.dumps(found, allow_nan=False)


def _script(path: str) -> None:
    """A script and a file of variables, whatever is in them, have faults or none."""
    with tempfile.TemporaryDirectory(dir=_MEMORY) as folder:
        for name in ("run.sh", "collect.sh", "env"):
            shutil.copyfile(path, os.path.join(folder, name))
        found = find_faults(package_in(folder), folder)
        for fault in (*found.faults, *found.notes):
            check_message(fault.message)


def _report(path: str) -> None:
    folder = os.path.dirname(path)
    shutil.copyfile(path, report_file(folder, 3))
    told = read_report(folder, 3)
    assert isinstance(told, dict)
    json.dumps(told, allow_nan=False)


def _frame_table(path: str) -> None:
    """A table that is moved has the entries that it had, and ours, each with an entry in the
    header; where it cannot be moved it says why."""
    data = Path(path).read_bytes()
    added = (CodeFrame(0x9000, 16, (FrameChange(4, 16),)), CodeFrame(0x9010, 8, (), 0x1100))
    try:
        table = FrameTableCopy(data, _TABLE_AT)
        header, moved = table.moved(_MOVED_TO, added)
    except UnreadableRulesError as error:
        check_message(str(error))
        return
    (count,) = struct.unpack_from("<I", header, 8)
    assert len(header) == table.header_bytes(len(added)) == (12 + 8 * count + 7) // 8 * 8
    places = [struct.unpack_from("<i", header, 16 + 8 * at)[0] for at in range(count)]
    inside = range(len(header), len(header) + len(moved))
    assert all(place in inside for place in places)


def _frame_tables() -> tuple[bytes, ...]:
    """The sections `.eh_frame` of the ELF files."""
    found: list[bytes] = []
    for data in _elf_files():
        elf = ElfFile(BytesIO(data))
        section = elf.section(".eh_frame")
        if section is not None:
            found.append(elf.data(section))
    return tuple(found)


def _words(path: str) -> None:
    for expanded in (expanded_words([f"@{path}"]), expand_response_files([f"@{path}"])):
        assert all(isinstance(word, str) for word in expanded)


def _tar(kind: str) -> bytes:
    written = BytesIO()
    with tarfile.open(fileobj=written, mode=f"w:{kind}") as file:
        folder = tarfile.TarInfo("a")
        folder.type = tarfile.DIRTYPE
        file.addfile(folder)
        for name, data in (("a/b.c", b"int main;\n"), ("a/c", b"x" * 700)):
            member = tarfile.TarInfo(name)
            member.size = len(data)
            file.addfile(member, BytesIO(data))
        link = tarfile.TarInfo("a/l")
        link.type, link.linkname = tarfile.SYMTYPE, "b.c"
        file.addfile(link)
    return written.getvalue()


def _results_archive() -> bytes:
    written = BytesIO()
    with tarfile.open(fileobj=written, mode="w:") as file:
        for name, data in (
            ("results.csv", b"time_s,rate (MB/s),word\n0.5,3,a\n0.25,4,b\n"),
            ("metrics.json", b'{"a": 1, "b": {"values": [1, 2], "unit": "ms"}}'),
        ):
            member = tarfile.TarInfo(name)
            member.size = len(data)
            file.addfile(member, BytesIO(data))
    return written.getvalue()


def _zip() -> bytes:
    written = BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("a/b.c", "int main;\n")
        file.writestr("a/c", "x" * 700)
    return written.getvalue()


def _ar() -> bytes:
    def member(name: str, data: bytes) -> bytes:
        head = f"{name:<16}{0:<12}{0:<6}{0:<6}{644:<8}{len(data):<10}`\n"
        return head.encode() + data + b"\n" * (len(data) & 1)

    long_names = b"a-name-that-is-long.o/\n"
    return b"!<arch>\n" + member("//", long_names) + member("/0", b"\x7fELF") + member("b.o/", b"x")


_REPORT = {
    "schema": "steelyard/1",
    "kind": "layout-run",
    "parts": {"functions": True, "stack": False},
    "interval_ns": 500,
}


def _elf_files() -> tuple[bytes, ...]:
    """Of a C file of three functions: gcc 12 -O1 -g -c; -shared -fPIC -nostdlib; with -g -gz."""
    return tuple(path.read_bytes() for path in sorted(ELF_FILES.iterdir()))


def program_readers() -> dict[str, Reader]:
    """The readers by their names."""
    elf = _elf_files()
    return {
        "elf": Reader(_elf, elf),
        "object-file": Reader(_object_file, elf),
        "ar-archive": Reader(_archive, (_ar(),)),
        "tar-archive": Reader(_unpacked, (_tar(""), _tar("gz"), _tar("xz")), "input.tar"),
        "zip-archive": Reader(_unpacked, (_zip(),), "input.zip"),
        "package-tar": Reader(_package, (_tar(""), *map(_tar, ("gz", "bz2", "xz")))),
        "package-results": Reader(_results, (_results_archive(),)),
        "package-script": Reader(_script, (b"#!/bin/sh\nmake && ./x\n", b"A=1\nexport B='2'\n")),
        "package-zip": Reader(_package, (_zip(),)),
        "layout-report": Reader(_report, (json.dumps(_REPORT).encode(),)),
        "frame-table": Reader(_frame_table, _frame_tables()),
        "response-file": Reader(_words, (b'-O2 \'a b\' "c\\"d" e\\ f\n@other\n',)),
    }
