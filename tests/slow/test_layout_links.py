"""Links of one program again and again, beside other work: the same bytes each time."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.layout_programs import require_layout

require_layout()
STEELYARD = Path(sys.executable).with_name("steelyard")
LINKS = 240
SOURCE = """
#include <stdio.h>
#include <stdlib.h>
int main(void) { void *place = malloc(9); puts(place ? "here" : ""); free(place); return 0; }
"""


def test_a_link_is_the_same_however_often_it_is_made(tmp_path: Path) -> None:
    (tmp_path / "main.c").write_text(SOURCE)
    subprocess.run([STEELYARD, "cc", "-O2", "-c", "main.c"], cwd=tmp_path, check=True)

    def link(number: int) -> str:
        name = f"program{number}"
        subprocess.run([STEELYARD, "cc", "main.o", "-o", name], cwd=tmp_path, check=True)
        digest = hashlib.sha256((tmp_path / name).read_bytes()).hexdigest()
        (tmp_path / name).unlink()
        return digest

    with ThreadPoolExecutor(2) as pool:
        assert len(set(pool.map(link, range(LINKS)))) == 1
