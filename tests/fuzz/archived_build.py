"""Archives of builds that workers send for their platform, as a reader that is fuzzed."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from steelyard.build.build_archive import pack_build, unpack_build
from steelyard.build.run_build import Build
from tests.fuzz.reader import Reader

KEY = "0" * 32


def _read(path: str) -> None:
    with tempfile.TemporaryDirectory() as directory:
        scratch = os.path.join(directory, "scratch")
        packed = unpack_build(path, scratch, KEY)
        assert packed.key == KEY
        assert set(os.listdir(directory)) == {"scratch"}


def _seed() -> bytes:
    with tempfile.TemporaryDirectory() as directory:
        place = Path(directory, "build")
        (place / "src").mkdir(parents=True)
        (place / "src" / "program").write_bytes(b"\x7fELF")
        (place / "link").symlink_to("src/program")
        target = os.path.join(directory, "archive")
        pack_build(KEY, Build(str(place), 1.5, {"seed": 0}), target)
        return Path(target).read_bytes()


def shared_build_readers() -> dict[str, Reader]:
    """By name."""
    return {"shared-build": Reader(_read, (_seed(),))}
