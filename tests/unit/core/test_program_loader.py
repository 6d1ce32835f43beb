"""What loads a program."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from steelyard.core.program_loader import has_other_loader, loader_of, starts_other_loader
from tests.needs import need


def built(folder: Path, name: str, *flags: str) -> str:
    need("gcc")
    (folder / "empty.c").write_text("int main(void) { return 0; }")
    subprocess.run(["gcc", *flags, "empty.c", "-o", name], cwd=folder, check=True)
    return str(folder / name)


def test_what_is_no_program_has_no_loader(tmp_path: Path):
    (tmp_path / "text").write_text("#!/bin/sh\n")
    for path in (tmp_path, tmp_path / "none", tmp_path / "text"):
        assert loader_of(str(path)) == ""
        assert not has_other_loader(str(path))


def test_a_program_is_of_glibc_by_the_name_of_its_loader_wherever_that_lies(tmp_path: Path):
    flag = "-Wl,--dynamic-linker="
    usual = built(tmp_path, "usual", f"{flag}/store/glibc/lib/ld-linux-x86-64.so.2")
    other = built(tmp_path, "other", f"{flag}/lib/ld-musl-x86_64.so.1")
    assert loader_of(usual) == "/store/glibc/lib/ld-linux-x86-64.so.2"
    assert not has_other_loader(usual)
    assert has_other_loader(other)
    assert not has_other_loader(built(tmp_path, "static", "-static"))


def test_a_command_is_looked_up_where_it_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    built(tmp_path, "other", "-Wl,--dynamic-linker=/lib/ld-musl-x86_64.so.1")
    assert starts_other_loader(["./other", "word"], str(tmp_path))
    assert starts_other_loader([str(tmp_path / "other")])
    assert not starts_other_loader(["./other"], "/")
    assert not starts_other_loader([])
    assert not starts_other_loader([sys.executable])
    monkeypatch.setenv("PATH", str(tmp_path))
    assert shutil.which("other")
    assert starts_other_loader(["other"])
