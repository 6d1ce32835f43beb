"""Which ways of compiling a file the linter sees."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

LINT_ONCE = Path(__file__).parents[2] / "tools" / "lint_once.py"


def kept(folder: Path, *commands: tuple[str, str]) -> list[str]:
    database = folder / "compile_commands.json"
    database.write_text(
        json.dumps([{"file": file, "command": command} for file, command in commands])
    )
    subprocess.run([sys.executable, LINT_ONCE, database], check=True)
    return [entry["command"] for entry in json.loads(database.read_text())]


def test_a_file_that_several_parts_compile_alike_is_linted_once(tmp_path):
    first, again = "c++ -Ia -std=c++20 -o one.o -c a.cpp", "c++ -Ib -std=c++20 -o two.o -c a.cpp"
    assert kept(tmp_path, ("a.cpp", first), ("a.cpp", again)) == [first]


def test_ways_that_make_other_code_of_a_file_stay(tmp_path):
    ways = [
        f"c++ {flags} -c a.cpp" for flags in ("-std=c++20", "-DB=1", "-DB=2", "-mgeneral-regs-only")
    ]
    assert kept(tmp_path, *(("a.cpp", way) for way in ways)) == ways


def test_files_of_one_way_stay_each(tmp_path):
    assert len(kept(tmp_path, ("a.cpp", "c++ -c a.cpp"), ("b.cpp", "c++ -c b.cpp"))) == 2
