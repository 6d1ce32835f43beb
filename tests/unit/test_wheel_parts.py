"""What the wheel takes of the native parts, and what it refuses."""

from __future__ import annotations

import importlib.util
import os
import shutil
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from steelyard.core.native_program import NATIVE

ROOT = Path(__file__).parents[2]


@pytest.fixture
def tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("hatch_build", ROOT / "tools" / "hatch_build.py")
    assert spec is not None
    assert spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


@pytest.fixture
def built(tool: ModuleType, tmp_path: Path) -> Any:
    """What the hook adds to a wheel, of native parts that are there already."""
    script = tmp_path / "tools" / "native.sh"
    script.parent.mkdir()
    script.write_text("#!/bin/sh\n")
    script.chmod(0o755)

    def build(parts: str) -> dict[str, Any]:
        place = tmp_path / "build" / "wheel-native-install"
        shutil.copytree(parts, place)
        added: dict[str, Any] = {"force_include": {}}
        hook = tool.NativeBuildHook(str(tmp_path), {}, None, None, str(tmp_path), "wheel")
        hook.initialize("standard", added)
        return added

    return build


def test_the_wheel_takes_every_native_part_that_is_built(built) -> None:
    added = built(NATIVE)
    files = [name for _, _, names in os.walk(NATIVE) for name in names]
    assert len(added["force_include"]) == len(files)
    assert added["tag"].startswith("py3-none-manylinux_2_")


def test_a_program_that_is_linked_dynamically_is_refused(built, tmp_path) -> None:
    parts = tmp_path / "parts"
    parts.mkdir()
    shutil.copy("/usr/bin/env", parts / "steelyard-launcher")
    with pytest.raises(RuntimeError, match="linked dynamically"):
        built(str(parts))
