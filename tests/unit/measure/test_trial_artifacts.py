"""What a trial left is part of it even where Steelyard was killed before it was looked at."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from steelyard.core.events_spec import EventsSpec
from steelyard.core.experiment_results import Trial
from steelyard.core.experiment_spec import ExperimentSpec, LaunchSpec, MetricSpec, Variant
from steelyard.measure.iterations import iterations_file
from steelyard.measure.journal_reader import read_journal
from steelyard.measure.layout_report import report_file
from steelyard.measure.tracing import events_file
from steelyard.measure.trial_artifacts import forget_taken, taken_line
from steelyard.measure.trial_journal import JournalWriter

EVENTS = {"kinds": ["waits"], "counts": [2], "order": [0, 0], "lost": 0}
REPORT = {"parts": {"code": True, "stack": False, "heap": False}, "interval_ns": 5_000_000}
SPEC = ExperimentSpec(
    "01HZX000000000000000000000",
    "comparison",
    tuple(Variant(name, LaunchSpec((name,))) for name in ("off", "on")),
    (MetricSpec("wall_time", "s"),),
    seed=7,
    events=EventsSpec(groups=("sched",), variant=1),
)


def record(position: int, variant: int) -> dict[str, Any]:
    return {
        **{"trial": position, "block": 0, "variant": variant, "build": 0, "warmup": False},
        **{"status": "ok", "reason": None, "started_unix_ns": 0, "spent_ns": 3, "wall_ns": 2},
    }


@pytest.fixture
def files(tmp_path: Path) -> str:
    """Where the trials 0 and 1, of both variants, left what they did."""
    directory = tmp_path / "files"
    directory.mkdir()
    for position in (0, 1):
        Path(report_file(str(directory), position)).write_text(
            json.dumps({"kind": "layout-run", **REPORT})
        )
    Path(events_file(str(directory), 1)).write_text(json.dumps(EVENTS))
    return str(directory)


def read_back(tmp_path: Path, files: str | None, *lines: dict[str, Any]) -> tuple[Trial, ...]:
    path = str(tmp_path / "journal.jsonl")
    with JournalWriter(path, SPEC, {}, files=files) as journal:
        for line in lines:
            journal.append(line)
    return tuple(read_journal(path).trials)


def test_events_and_layouts_that_were_not_taken_before_a_kill_are_read_with_the_journal(
    tmp_path: Path, files: str
) -> None:
    off, on = read_back(tmp_path, files, record(0, 0), record(1, 1))
    assert off.details == {"layout": REPORT}
    assert on.details == {"layout": REPORT, "events": EVENTS}
    assert on.realised == {"layout": "code@5ms"}


def test_reading_a_journal_takes_nothing_from_whoever_writes_it(tmp_path: Path, files: str) -> None:
    assert read_back(tmp_path, files, record(1, 1)) == read_back(tmp_path, files)


def test_the_journals_line_counts_once_it_is_there(tmp_path: Path, files: str) -> None:
    taken = taken_line(record(1, 1), SPEC, files, telling=True)
    forget_taken(files, 1)
    assert taken == {"printed": 1, "layout": REPORT, "events": EVENTS}
    (on,) = read_back(tmp_path, files, record(1, 1), taken)
    assert on.details == {"layout": REPORT, "events": EVENTS}


def test_directories_in_the_place_of_files_are_removed_with_what_is_in_them(
    tmp_path: Path, files: str
) -> None:
    Path(iterations_file(files, 0), "deep").mkdir(parents=True)
    for position in (0, 1):
        forget_taken(files, position)
    assert list(Path(files).iterdir()) == []


def test_what_is_lost_is_told_of(tmp_path: Path) -> None:
    taken = taken_line(record(1, 1), SPEC, str(tmp_path), telling=True)
    assert taken["events"] is None
    assert "no report" in taken["layout"]["problem"]


def test_a_journal_whose_files_are_gone_keeps_its_trials(tmp_path: Path) -> None:
    for files in (None, str(tmp_path / "gone")):
        (on,) = read_back(tmp_path / str(files is None), files, record(1, 1))
        assert (on.status, on.details) == ("ok", {"events": None})


def test_nothing_is_taken_from_a_program_that_leaves_nothing(tmp_path: Path) -> None:
    assert taken_line(record(0, 0), replace(SPEC, events=None), str(tmp_path), telling=False) == {}
