"""Which file a program is, and what it is started with."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from steelyard.core.errors import UsageError
from steelyard.core.experiment_spec import LaunchSpec, Variant
from steelyard.measure.program import environment_of, find_program, padded_path, stack_padding_of
from steelyard.measure.protocol import message, program_message, run_message


def make_program(path: Path, content: str = "#!/bin/sh\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)
    path.chmod(0o755)
    return path


def test_a_program_is_found_in_the_first_directory_of_the_path_that_has_it(tmp_path: Path) -> None:
    (tmp_path / "first" / "tool").mkdir(parents=True)
    (tmp_path / "second").mkdir()
    (tmp_path / "second" / "tool").write_text("not executable")
    wanted = make_program(tmp_path / "third" / "tool")
    make_program(tmp_path / "fourth" / "tool")
    search = ":".join(str(tmp_path / name) for name in ("first", "second", "third", "fourth"))
    assert find_program("tool", {b"PATH": search.encode()}, None) == os.fsencode(wanted)


def test_an_empty_entry_of_the_path_is_the_directory_of_the_program(tmp_path: Path) -> None:
    make_program(tmp_path / "tool")
    assert find_program("tool", {b"PATH": b""}, str(tmp_path)) == b"./tool"


def test_a_path_is_taken_from_the_directory_of_the_program(tmp_path: Path) -> None:
    make_program(tmp_path / "bin" / "tool")
    assert find_program("bin/tool", {}, str(tmp_path)) == b"bin/tool"


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("absent", "no program 'absent' in the PATH"),
        ("./absent", r"no program '\./absent'"),
        ("./directory", "is a directory"),
        ("./plain", "chmod"),
        ("", "cannot be the name"),
        ("a\0b", "cannot be the name"),
    ],
)
def test_what_is_no_program_is_told(tmp_path: Path, name: str, why: str) -> None:
    (tmp_path / "directory").mkdir()
    (tmp_path / "plain").touch(mode=0o600)
    with pytest.raises(UsageError, match=why):
        find_program(name, {b"PATH": os.fsencode(tmp_path)}, str(tmp_path))


def test_variables_are_set_removed_and_padded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GONE", "1")
    launch = LaunchSpec((), (("GONE", None), ("NEW", "a=b")), environment_padding_bytes=5)
    environment = environment_of(launch)
    assert b"GONE" not in environment
    assert (environment[b"NEW"], environment[b"STEELYARD_PADDING"]) == (b"a=b", b"xxxxx")
    assert b"STEELYARD_PADDING" not in environment_of(LaunchSpec(()))


@pytest.mark.parametrize("name", ["", "A=B"])
def test_a_name_that_no_variable_can_have_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="cannot be an environment variable"):
        environment_of(LaunchSpec((), ((name, "x"),)))


@pytest.mark.parametrize("path", [b"/bin/sh", b"sh", b"./sh", b"/sh"])
@pytest.mark.parametrize("padding_bytes", [1, 7, 4000])
def test_a_padded_path_is_longer_and_names_the_same_file(path: bytes, padding_bytes: int) -> None:
    padded = padded_path(path, padding_bytes)
    assert os.path.normpath(padded).lstrip(b"/") == os.path.normpath(path).lstrip(b"/")
    assert len(padded) == len(path) + padding_bytes + (2 if path == b"sh" else 0)


def test_no_padding_leaves_the_path_alone() -> None:
    assert padded_path(b"sh", 0) == b"sh"


@pytest.mark.parametrize("padding_bytes", [-1, 4090])
def test_a_padding_that_the_kernel_does_not_take_is_refused(padding_bytes: int) -> None:
    with pytest.raises(UsageError, match="not within 0 to"):
        padded_path(b"/bin/sh", padding_bytes)


def test_a_held_stack_cannot_start_above_what_the_environment_takes() -> None:
    launch = LaunchSpec(("sh",), environment_padding_bytes=3000, stack_hold_bytes=2000)
    with pytest.raises(UsageError, match="padded by 3000"):
        stack_padding_of(launch)


def test_messages_are_netstrings_of_netstrings() -> None:
    assert message(b"run", b"", b"\0,:\n") == b"16:3:run,0:,4:\0,:\n,,"
    assert run_message(7, 3, 1, 0, True) == b"30:3:run,1:7,1:3,1:1,1:1,1:0,1:1,,"


def test_a_zero_byte_in_an_argument_is_refused() -> None:
    with pytest.raises(UsageError, match="zero byte"):
        program_message(0, Variant("a", LaunchSpec(("/bin/sh", "a\0b"))))


def test_an_empty_command_is_refused() -> None:
    with pytest.raises(UsageError, match="empty command"):
        program_message(0, Variant("a", LaunchSpec(())))
