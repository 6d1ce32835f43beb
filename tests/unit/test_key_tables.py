"""The tables and figures of how many call paths keys resolve."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.keys_of_paths.key_figures import draw_all
from benchmarks.keys_of_paths.key_record import (
    KINDS,
    SCENARIOS,
    KeyRecord,
    Rules,
    SampleShares,
    Shares,
    read_record,
    write_record,
)
from benchmarks.keys_of_paths.key_tables import (
    cost_tables,
    limit_of,
    recording_change,
    recording_text,
    resolving,
    sample_table,
    share_table,
    verdict,
    verdict_lines,
)

ALL = Shares(1.0, 0.0, 0.0, 0.0, ((1, 1.0),))
SOME = Shares(0.5, 0.3, 0.05, 0.15, ((1, 0.5), (2, 0.1), (7, 0.2)))
NONE = Shares(0.0, 0.0, 0.0, 1.0, ())


def record(name: str, shares: Shares = ALL, language: str = "C") -> KeyRecord:
    return KeyRecord(
        name, language, "f00d", Rules(2.5, 0.995, 4, "train", "ref"),
        (10, 12), 2.0, 0.1, 90.0, (0.5, 1.5),
        (1.0, 1.1), 1.1, (1.0001, 1.002), 0.004,
        {kind: dict.fromkeys(SCENARIOS, shares) for kind in KINDS},
        SampleShares(100, 2, 3, shares), (1.0, 1.1, 1.05, 1.0), (1.1, 1.0, 1.05, 1.06),
    )  # fmt: skip


def test_a_record_is_read_as_it_was_written(tmp_path: Path) -> None:
    written = record("zip", SOME)
    write_record(written, str(tmp_path))
    assert read_record(str(tmp_path), "zip") == written


@pytest.mark.parametrize("text", ["", "{", "[]", '{"name": "zip"}'])
def test_a_damaged_record_is_none_and_is_measured_again(tmp_path: Path, text: str) -> None:
    (tmp_path / "zip.json").write_text(text)
    assert read_record(str(tmp_path), "zip") is None


def test_records_of_more_setups_are_used_and_those_of_other_goals_are_not() -> None:
    made = Rules(2.5, 0.995, 10, "train", "ref")
    assert made.cover(Rules(2.5, 0.995, 5, "train", "ref"))
    assert not made.cover(Rules(2.5, 0.995, 11, "train", "ref"))
    assert not made.cover(Rules(2.5, 0.97, 5, "train", "ref"))
    assert not made.cover(Rules(2.5, 0.995, 5, "test", "ref"))


def test_the_number_of_candidates_that_most_paths_have_is_of_what_is_right() -> None:
    assert limit_of(SOME) == 7
    assert limit_of(SOME, 0.75) == 2
    assert limit_of(NONE) == 0


def test_means_are_given_of_all_programs_and_without_the_recursive_ones() -> None:
    found = [record("zip"), record("lisp", SOME)]
    assert [one.name for one in resolving(found)] == ["zip"]
    lines = share_table(found, KINDS[2])
    assert lines[-2].startswith("| mean of 2 | 75.0 % | 80.0 % |  | 75.0 %")
    assert lines[-1].startswith("| mean of 1 without the recursive | 100.0 %")


def test_what_does_not_hold_is_said() -> None:
    lines = verdict_lines("All", [record("lisp", SOME)])
    assert "| offline at least 97 % | 50.0 % | NO |" in lines
    assert "| growth at most 1.13 | 1.100 | yes |" in lines
    assert verdict([record("lisp", NONE)])["samples at least 97 %"] == ("0.0 %", False)


def test_tables_have_a_row_a_program_and_the_same_columns_in_each() -> None:
    found = [record("zip"), record("lisp", NONE, "C++")]
    for lines in (cost_tables(found), sample_table(found), share_table(found, KINDS[0])):
        rows = [line for line in lines if line.startswith("|")]
        assert any(row.startswith("| zip ") for row in rows)
        assert any(row.startswith("| lisp ") for row in rows)
    sizes = {line.count("|") for line in sample_table(found) if line.startswith("|")}
    assert sizes == {8}


def test_a_slowdown_is_told_only_where_a_t_test_sees_one() -> None:
    steady = record("zip")
    assert recording_text(steady).startswith("NC")
    slower = replace(steady, sampled_run_s=(1.5, 1.6, 1.55, 1.52))
    assert recording_text(slower) == "48.7 %"
    alike = replace(steady, plain_run_s=(1.0, 1.0), sampled_run_s=(1.0, 1.0))
    assert recording_change(alike) == (0.0, 1.0)
    assert recording_text(replace(steady, plain_run_s=(), sampled_run_s=())) == "–"


@pytest.mark.parametrize(
    "found",
    [
        [record("zip")],
        [record("lisp", NONE)],
        [record("zip", SOME), record("c$t_{x}", SOME, "C++")],
        [record(f"program{at}", SOME, ("C", "C++")[at % 3 == 0]) for at in range(26)],
        [replace(record("zip"), plain_run_s=(0.0, 0.0), sampled_run_s=(0.0, 0.0))],
        [replace(record("zip"), plain_run_s=(), sampled_run_s=())],
    ],
    ids=["one", "no path", "two languages", "many", "no time", "no setups"],
)
def test_figures_are_drawn_of_whatever_was_measured(tmp_path: Path, found: list[KeyRecord]) -> None:
    paths = draw_all(found, str(tmp_path))
    names = {os.path.basename(path) for path in paths}
    wanted = ("5.2", "5.7", "5.8", "5.9", "5.10", "5.11", "5.12")
    assert {f"figure-{name}.png" for name in wanted} <= names
    assert ("figure-5.6.png" in names) == bool(found[0].plain_run_s)
    assert all(os.path.getsize(path) > 1000 for path in paths)


def test_nothing_is_drawn_of_nothing(tmp_path: Path) -> None:
    assert draw_all([], str(tmp_path)) == []
