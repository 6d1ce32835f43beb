"""What fails continuous integration where tests run too little of the package."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

TOTALS = Path(__file__).parents[2] / "tools" / "coverage_totals.py"


def file(lines: int, of_lines: int, branches: int, of_branches: int) -> dict[str, object]:
    summary = {
        **{"covered_lines": lines, "num_statements": of_lines, "missing_lines": of_lines - lines},
        **{"covered_branches": branches, "num_branches": of_branches},
        "missing_branches": of_branches - branches,
    }
    return {"summary": summary}


def told(folder: Path, **files: dict[str, object]) -> subprocess.CompletedProcess[str]:
    report = folder / "coverage.json"
    named = {f"src/steelyard/{name}/a.py": each for name, each in files.items()}
    report.write_text(json.dumps({"files": named}))
    return subprocess.run(
        [sys.executable, TOTALS, report], capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize(
    ("lines", "branches", "status"), [(90, 85, 0), (89, 85, 1), (90, 84, 1), (100, 100, 0)]
)
def test_too_few_lines_or_branches_of_all_rooms_together_fail(
    tmp_path: Path, lines: int, branches: int, status: int
) -> None:
    done = told(tmp_path, core=file(lines, 100, branches, 100), app=file(0, 0, 0, 0))
    assert (done.returncode, done.stderr) == (status, "")
    assert done.stdout.count("wanted: 90% of lines, 85% of branches") == status


def test_each_room_and_the_files_that_lack_most_are_printed(tmp_path: Path) -> None:
    done = told(tmp_path, core=file(99, 100, 10, 10), app=file(1, 4, 0, 2))
    rows = [line.split() for line in done.stdout.splitlines()]
    assert (rows[0][0], rows[0][-1]) == ("5", "src/steelyard/app/a.py")
    assert ["app", "25.0%", "0.0%"] in rows
    assert ["core", "99.0%", "100.0%"] in rows
    assert ["all", "96.2%", "83.3%"] in rows


def test_a_run_that_met_nothing_of_the_package_fails(tmp_path: Path) -> None:
    summary = {"covered_lines": 0, "num_statements": 9, "missing_lines": 9}
    done = told(tmp_path, core={"summary": summary})
    assert (done.returncode, done.stderr) == (1, "")
