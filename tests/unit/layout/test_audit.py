"""Audits of what is no program, or no longer a whole one."""

from __future__ import annotations

import os
import random
import shutil
from pathlib import Path

import pytest

from steelyard.core.errors import DataError
from steelyard.layout.audit import audit_program
from tests.needs import need


def test_a_damaged_program_is_told_of_however_it_is_damaged(tmp_path: Path) -> None:
    draw = random.Random(5)
    need("true")
    whole = Path(shutil.which("true") or "").read_bytes()
    path = tmp_path / "program"
    for _ in range(300):
        data = bytearray(whole)
        # Of the header, and of the table of sections, which is last.
        for _ in range(3):
            data[draw.randrange(4, 64)] = draw.randrange(256)
            data[-draw.randrange(1, 1500)] = draw.randrange(256)
        path.write_bytes(data)
        with pytest.raises(DataError, match=r"program|linked"):
            audit_program(str(path))


def test_what_is_no_regular_file_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", tmp_path, tmp_path / "nothing"):
        with pytest.raises(DataError, match="is not a program"):
            audit_program(str(path))
