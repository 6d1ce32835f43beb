"""Descriptions of programs of the suite, by what is measured of one that comes along."""

from __future__ import annotations

import statistics
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.integration.conftest import User
from tests.needs import needs

pytestmark = needs("gcc", "make")
DESCRIBE = ("suite", "describe", "hash-join", "--size", "test", "--runs", "3")


def test_a_program_is_described_by_its_runs_its_samples_and_its_allocations(user: User) -> None:
    told = user.types(*DESCRIBE, "--json", "-", "--html", "page.html", "--plot", "figure.svg")
    document = told.document()
    (program,) = document["programs"]
    assert (program["name"], program["runs"], program["failed"]) == ("hash-join", 3, 0)
    assert (program["missing"], program["problem"]) == (False, None)
    for metric in ("wall_time", "user_time"):
        values = program[f"{metric}_s"]
        assert len(values) == 3
        variation = statistics.stdev(values) / statistics.fmean(values)
        assert program[f"{metric}_variation"] == pytest.approx(variation)
    # Two tables of 16 bytes an entry, at the least.
    assert program["allocations"]["size_bytes"] > 1_000_000
    assert program["allocations"]["count"] >= 2
    assert program["functions"] >= 3
    shares = program["shares"]
    if shares is None:
        assert "Shares of time are not known" in program["notes"][0]
    else:
        parts = [shares[name] for name in ("program", "libraries", "kernel")]
        assert sum(parts) == pytest.approx(1.0)
        assert min(parts) >= 0.0
    assert "hash-join" in (user.home / "page.html").read_text("utf-8")
    ElementTree.parse(user.home / "figure.svg")


def test_the_same_allocations_are_counted_each_time_and_stand_in_every_table(user: User) -> None:
    document = user.types(*DESCRIBE, "--json", "-").document()
    count = str(document["programs"][0]["allocations"]["count"])
    plain = user.types(*DESCRIBE).out.splitlines()
    column = plain[0].split("  ")
    assert [word.strip() for word in column if word][:2] == ["program", "wall time"]
    assert count in plain[1].split()
    rows = user.types(*DESCRIBE, "--markdown").out.splitlines()
    heads = [cell.strip() for cell in rows[0].strip("|").split("|")]
    cells = [cell.strip() for cell in rows[2].strip("|").split("|")]
    assert cells[heads.index("program")] == "hash-join"
    assert cells[heads.index("allocations")] == count


def test_a_program_that_cannot_be_built_is_told_beside_the_others(
    user: User, tmp_path: Path
) -> None:
    empty = tmp_path / "no-tools"
    empty.mkdir()
    told = User(user.home, {**user.environment, "PATH": str(empty)}).types(*DESCRIBE, "--json", "-")
    assert told.status != 0
    assert "gcc" in told.err
    assert "Traceback" not in told.err
