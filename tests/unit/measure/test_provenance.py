"""What is recorded of the programs that were run."""

from __future__ import annotations

import hashlib
import io
import sys
from pathlib import Path
from typing import Any

import pytest

from steelyard.core.model import ExperimentSpec, LaunchSpec, Variant
from steelyard.measure.provenance import compiler_of, program_provenance
from tests.unit.measure.test_program import make_program


def provenance(*argv: str) -> dict[str, Any]:
    variant = Variant("a", LaunchSpec(argv))
    return program_provenance(ExperimentSpec("x", "measurement", (variant,), (), seed=5))


def test_a_program_is_recorded_by_its_real_path_and_its_content(tmp_path: Path) -> None:
    real = make_program(tmp_path / "real", "#!/bin/sh\nexit 3\n")
    link = tmp_path / "link"
    link.symlink_to(real)
    (program,) = provenance(str(link))["programs"]
    assert program["path"] == str(real)
    assert program["sha256"] == hashlib.sha256(real.read_bytes()).hexdigest()
    assert program["interpreter"]["path"] == str(Path("/bin/sh").resolve())
    assert len(program["interpreter"]["sha256"]) == 64


def test_an_interpreter_found_by_env_is_recorded_and_not_env(tmp_path: Path) -> None:
    script = make_program(tmp_path / "script", "#!/usr/bin/env -S sh -e\n")
    (program,) = provenance(str(script))["programs"]
    assert Path(program["interpreter"]["path"]).name != "env"


def test_arguments_that_are_files_are_recorded(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.write_bytes(b"abc")
    (program,) = provenance("/bin/sh", str(data), "no such file", "a\0b", str(tmp_path))["programs"]
    (file,) = program["files"]
    assert (file["argument"], file["size_bytes"]) == (str(data), 3)
    assert file["sha256"] == hashlib.sha256(b"abc").hexdigest()


def test_a_program_that_is_gone_is_recorded_as_missing() -> None:
    (program,) = provenance("./absent")["programs"]
    assert "absent" in program["missing"]


def test_secrets_of_the_environment_are_not_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_API_TOKEN", "hush")
    monkeypatch.setenv("PLAIN", "open")
    environment = provenance("/bin/sh")["environment"]
    assert (environment["MY_API_TOKEN"], environment["PLAIN"]) == (None, "open")


def test_the_seed_the_arguments_and_the_versions_are_recorded() -> None:
    found = provenance("/bin/sh")
    assert (found["seed"], found["argv"]) == (5, sys.argv)
    assert set(found["versions"]) == {"steelyard", "python"}


def elf(comment: bytes) -> bytes:
    """The least of a 64-bit ELF file that has sections, one of them `.comment`."""
    names = b"\0.comment\0.shstrtab\0"
    body = names + comment
    header = bytearray(64)
    header[:6] = b"\x7fELF\x02\x01"
    header[40:48] = (64 + len(body)).to_bytes(8, "little")
    header[58:64] = (64).to_bytes(2, "little") + b"\x03\0" + b"\x02\0"

    def section(name: int, offset: int, size: int) -> bytes:
        entry = bytearray(64)
        entry[0:4] = name.to_bytes(4, "little")
        entry[24:32] = offset.to_bytes(8, "little")
        entry[32:40] = size.to_bytes(8, "little")
        return bytes(entry)

    table = section(0, 0, 0) + section(1, 64 + len(names), len(comment))
    return bytes(header) + body + table + section(10, 64, len(names))


def test_the_compilers_of_a_binary_are_read_from_it() -> None:
    comment = b"GCC: (Debian 12.2.0) 12.2.0\0clang version 16\0GCC: (Debian 12.2.0) 12.2.0\0"
    found = compiler_of(io.BytesIO(elf(comment)))
    assert found == "GCC: (Debian 12.2.0) 12.2.0; clang version 16"


def test_a_damaged_binary_has_no_compiler() -> None:
    whole = elf(b"GCC\0")
    for cut in range(len(whole)):
        assert compiler_of(io.BytesIO(whole[:cut])) in (None, "GCC")
    assert compiler_of(io.BytesIO(b"\x7fELF\x01\x01" + bytes(100))) is None


def test_the_release_of_a_java_machine_is_recorded(tmp_path: Path) -> None:
    (tmp_path / "jdk" / "bin").mkdir(parents=True)
    java = make_program(tmp_path / "jdk" / "bin" / "java", "#!/bin/sh\n")
    release = tmp_path / "jdk" / "release"
    (unknown,) = provenance(str(java))["programs"]
    release.write_text('JAVA_VERSION="17"\n')
    (first,) = provenance(str(java))["programs"]
    release.write_text('JAVA_VERSION="21"\n')
    (second,) = provenance(str(java))["programs"]
    assert "release" not in unknown
    assert first["release"] != second["release"]
    assert first["sha256"] == second["sha256"]
