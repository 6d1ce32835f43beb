"""What is recorded of the programs that were run."""

from __future__ import annotations

import hashlib
import io
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from steelyard.core.experiment_spec import ExperimentSpec, LaunchSpec, Variant
from steelyard.measure.provenance import compiler_of, program_provenance
from tests.unit.measure.test_program import make_program


def spec_of(*argv: str) -> ExperimentSpec:
    return ExperimentSpec("x", "measurement", (Variant("a", LaunchSpec(argv)),), (), seed=5)


def provenance(*argv: str) -> dict[str, Any]:
    return program_provenance(spec_of(*argv))


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


def test_variables_that_explain_a_result_are_kept_by_value_and_others_by_digest(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    for name, value in (("OMP_NUM_THREADS", "4"), ("GH_PAT", "hush"), ("ASKED", "open")):
        monkeypatch.setenv(name, value)
    spec = replace(spec_of("/bin/sh"), recorded_environment=("ASKED",))
    first, second = program_provenance(spec), program_provenance(spec)
    assert first["environment"]["OMP_NUM_THREADS"] == "4"
    assert first["environment"]["ASKED"] == "open"
    assert "GH_PAT" not in first["environment"]
    assert first["environment_digests"] == second["environment_digests"]
    monkeypatch.setenv("GH_PAT", "hush!")
    changed = program_provenance(spec)
    digests = (first["environment_digests"], changed["environment_digests"])
    assert {name for name in digests[0] if digests[0][name] != digests[1][name]} == {"GH_PAT"}
    assert "hush" not in str(changed)


def test_digests_of_variables_cannot_be_tried_out_without_the_key_of_their_user(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("GH_PAT", "hush")
    found = []
    for home in ("one", "other"):
        monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / home))
        found.append(program_provenance(spec_of("/bin/sh")))
        key = tmp_path / home / "steelyard" / "environment.key"
        assert key.stat().st_mode & 0o777 == 0o600
    assert found[0]["environment_key"] != found[1]["environment_key"]
    assert found[0]["environment_digests"]["GH_PAT"] != found[1]["environment_digests"]["GH_PAT"]


def test_a_key_that_cannot_be_kept_or_is_no_key_is_not_used(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "steelyard").mkdir()
    (tmp_path / "steelyard" / "environment.key").write_bytes(b"short")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    keys = {program_provenance(spec_of("/bin/sh"))["environment_key"] for _ in range(2)}
    assert len(keys) == 2


def test_the_call_is_recorded_without_its_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    call = ["steelyard", "measure", "--env", "API=abc", "--", "x", "--password", "hunter2"]
    monkeypatch.setattr(sys, "argv", call)
    told = provenance("/bin/sh")["argv"]
    assert told == ["steelyard", "measure", "--env", "API=***", "--", "x", "--password", "***"]


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
