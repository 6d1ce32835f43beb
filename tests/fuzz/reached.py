"""Print the modules of Steelyard that open a file while each reader reads its seeds.

python -m tests.fuzz.reached
"""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from pathlib import Path
from types import FrameType

import steelyard
from steelyard.core.errors import SteelyardError
from tests.fuzz.readers import readers

SOURCES = Path(steelyard.__file__).parent


def main() -> None:
    """Read all seeds, with an ear for what is opened."""
    found: set[str] = set()
    is_reading = False

    def opened(event: str, _: object) -> None:
        if is_reading and event == "open":
            found.update(_modules(sys._getframe()))

    every = readers()
    sys.addaudithook(opened)
    with tempfile.TemporaryDirectory() as folder:
        for reader in every.values():
            for seed in reader.seeds:
                path = os.path.join(folder, reader.name)
                Path(path).write_bytes(seed)
                is_reading = True
                with contextlib.suppress(SteelyardError):
                    reader.read(path)
                is_reading = False
    sys.stdout.write("\n".join(sorted(found)) + "\n")


def _modules(frame: FrameType | None) -> set[str]:
    """Those that this frame was called by, as paths below the package."""
    found: set[str] = set()
    while frame is not None:
        path = Path(frame.f_code.co_filename)
        if path.is_relative_to(SOURCES):
            found.add(str(path.relative_to(SOURCES)))
        frame = frame.f_back
    return found


if __name__ == "__main__":
    main()
