"""Root file systems for tests: some of this host's programs with what they are linked with."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path


def small_image(image: Path, *programs: str) -> Path:
    """Make an image with programs of this host in a folder that is there."""
    (image / "usr").mkdir()
    for name in ("bin", "lib", "lib64"):
        (image / name).symlink_to(f"usr/{name}")
        (image / "usr" / name).mkdir()
    for program in programs:
        path = shutil.which(program)
        assert path is not None
        libraries = subprocess.run(["ldd", path], capture_output=True, text=True, check=True).stdout
        for needed in (f"/bin/{program}", *re.findall(r"(/lib\S+) \(", libraries)):
            target = image / needed.lstrip("/")
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path if needed.startswith("/bin/") else needed, target)
    return image
