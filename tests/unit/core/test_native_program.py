"""Where the native programs of the package are, and what is said where they are not."""

from __future__ import annotations

from pathlib import Path

import pytest

from steelyard.core import native_program as module
from steelyard.core.errors import MissingCapabilityError
from steelyard.core.native_program import native_program


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(module, "NATIVE", str(tmp_path))
    return tmp_path


def test_one_that_is_not_there_is_named_with_its_place_and_how_to_get_it(folder: Path) -> None:
    with pytest.raises(MissingCapabilityError) as caught:
        native_program("steelyard-scale", "the scale", field="--scale")
    told = caught.value.message
    assert told.startswith(f"The scale is not installed at {folder}/steelyard-scale. ")
    assert "make native" in told
    assert caught.value.field == "--scale"


def test_a_program_must_be_executable_and_what_is_loaded_need_not(folder: Path) -> None:
    for name in ("steelyard-scale", "libscale.so"):
        (folder / name).write_text("")
        (folder / name).chmod(0o644)
    with pytest.raises(MissingCapabilityError):
        native_program("steelyard-scale", "the scale")
    assert native_program("libscale.so", "the scale") == str(folder / "libscale.so")
    (folder / "steelyard-scale").chmod(0o755)
    assert native_program("steelyard-scale", "the scale") == str(folder / "steelyard-scale")


def test_a_variable_names_another_one(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "own").write_text("")
    (folder / "own").chmod(0o755)
    monkeypatch.setenv("STEELYARD_SCALE", str(folder / "own"))
    found = native_program("steelyard-scale", "the scale", variable="STEELYARD_SCALE")
    assert found == str(folder / "own")
    monkeypatch.setenv("STEELYARD_SCALE", "")
    with pytest.raises(MissingCapabilityError, match="steelyard-scale"):
        native_program("steelyard-scale", "the scale", variable="STEELYARD_SCALE")
