"""The store as a user sees it: list, show, delete, import and export."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import time
from pathlib import Path

import pytest

from steelyard.store.store_location import journal_directory
from tests.patience import PATIENCE_S

FIXTURES = Path(__file__).parent / "data"


@pytest.fixture
def measured(user):
    """The identifier of a measurement of three runs."""
    told = user.types("measure", "--runs", "3", "--json", "-", "--name", "t", "--", "true")
    assert told.status == 0, told.err
    return told.document()["experiment"]


def store_of(user):
    return user.home / "data" / "steelyard" / "steelyard.sqlite"


def test_an_empty_store_says_how_to_fill_it(user):
    told = user.types("list")
    assert (told.status, told.err) == (0, "")
    assert "steelyard measure" in told.out
    assert user.types("list", "--json", "-").document()["experiments"] == []


def test_a_measurement_is_listed_and_shown(user, measured):
    listed = user.types("list", "--json", "-").document()["experiments"]
    assert [(found["experiment"], found["trials"]) for found in listed] == [(measured, 3)]
    assert (listed[0]["stopped"], listed[0]["running"]) == ("runs", False)
    assert measured[:10] in user.types("list").out
    shown = user.types("show", measured[:12].lower(), "--trials", "--json", "-").document()
    assert [trial["status"] for trial in shown["trials"]] == ["ok"] * 3
    assert shown["variants"][0]["trials"] == 3
    assert "true" in user.types("show").out


def test_the_journal_is_gone_once_the_store_has_it(user, measured):
    journals = Path(journal_directory(str(store_of(user))))
    assert os.listdir(journals) != []
    user.types("list")
    assert os.listdir(journals) == []


def test_failed_trials_are_shown_with_their_reason(user, script):
    program = script("echo out of luck >&2\nexit 3")
    user.types("measure", "--runs", "3", "--", program)
    shown = user.types("show", "--json", "-").document()
    assert shown["variants"][0]["failures"] == {"exit": 3}
    text = user.types("show", "--trials").out
    assert "exit code 3  out of luck" in text


def test_deleting_asks_for_leave(user, measured):
    told = user.types("delete", measured)
    assert told.status == 2
    assert "--yes" in told.err
    assert len(user.types("list", "--json", "-").document()["experiments"]) == 1


def test_deleting_all_or_none(user, measured):
    told = user.types("delete", "--yes", measured, "0000", "--json", "-")
    assert told.status == 2
    assert told.document()["kind"] == "error"
    told = user.types("delete", "--yes", measured, "latest", "--json", "-")
    assert told.document()["experiments"] == [measured]
    assert user.types("list", "--json", "-").document()["experiments"] == []


def test_a_running_experiment_is_listed_and_not_deleted(user, script):
    program = script("sleep 0.05")
    process = user.start("measure", "--runs", "100000", "--", program)
    try:
        deadline = time.monotonic() + PATIENCE_S
        running = []
        while not (running and running[0]["trials"]) and time.monotonic() < deadline:
            running = user.types("list", "--json", "-").document()["experiments"]
        assert running[0]["running"]
        assert running[0]["stopped"] is None
        told = user.types("delete", "--yes", "latest")
        assert told.status == 2
        assert "being measured" in told.err
        assert user.types("show", "--json", "-").document()["running"]
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=PATIENCE_S)
    listed = user.types("list", "--json", "-").document()["experiments"]
    assert (listed[0]["running"], listed[0]["stopped"]) == (False, "interrupted")


def test_steelyards_own_json_goes_to_another_store_and_back(user, measured):
    assert user.types("export", "-o", "e.steelyard.json").status == 0
    other = str(user.home / "other.sqlite")
    told = user.types("import", "--store", other, "e.steelyard.json")
    assert told.out == f"{measured}\n"
    here = user.types("show", "--trials", "--json", "-").document()
    there = user.types("show", "--store", other, "--trials", "--json", "-").document()
    assert here == there
    assert user.types("import", "--store", other, "e.steelyard.json").status == 0
    assert len(user.types("list", "--store", other, "--json", "-").document()["experiments"]) == 1


def test_an_import_does_not_change_what_the_store_has(user, measured):
    user.types("export", "-o", "e.steelyard.json")
    document = json.loads((user.home / "e.steelyard.json").read_text())
    document["trials"][0]["measurements"]["wall_time"] = [9.0]
    (user.home / "e.steelyard.json").write_text(json.dumps(document))
    told = user.types("import", "e.steelyard.json")
    assert told.status == 2
    assert f"steelyard delete {measured}" in told.err


@pytest.mark.parametrize("name", ["hyperfine_1.json", "hyperfine_2.json"])
def test_hyperfines_file_is_imported_and_reported_on(user, name):
    told = user.types("import", str(FIXTURES / name))
    assert told.status == 0, told.err
    shown = user.types("show", told.out.strip(), "--json", "-").document()
    assert shown["specification"]["kind"] == "comparison"
    report = user.types("report", told.out.strip(), "--json", "-")
    assert report.status == 0, report.err
    assert report.document()["comparisons"][0]["verdict"] == "slower"


def test_an_import_says_which_counters_it_left_out(user):
    row = {"name": "b", "real_time": 2.0, "time_unit": "us", "ratio": float("nan")}
    text = json.dumps({"context": {"num_cpus": 1}, "benchmarks": [row, row]})
    (user.home / "google.json").write_text(text)
    told = user.types("import", "google.json", "--json", "-")
    assert told.status == 0
    assert "warning: ratio is left out of 1 execution. google.json: benchmarks[0].ratio" in told.err
    assert [caution["code"] for caution in told.document()["warnings"]] == ["metrics-left-out"]


def test_an_import_cannot_be_resumed(user):
    identifier = user.types("import", str(FIXTURES / "hyperfine_1.json")).out.strip()
    told = user.types("resume", identifier)
    assert told.status == 2
    assert "imported" in told.err


@pytest.mark.parametrize("name", ["csv", "parquet", "hyperfine", "hyperfine-2", "steelyard-json"])
def test_every_format_is_exported_and_imported_again(user, measured, name):
    told = user.types("export", "--format", name, "-o", "file", "--json", "-")
    assert told.status == 0, told.err
    assert told.document()["format"] == name
    other = str(user.home / "other.sqlite")
    assert user.types("import", "--store", other, "file").status == 0
    shown = user.types("show", "--store", other, "--trials", "--json", "-").document()
    wanted = user.types("show", "--trials", "--json", "-").document()
    values = [[t["measurements"]["wall_time"] for t in d["trials"]] for d in (shown, wanted)]
    assert values[0] == values[1]


def test_an_export_can_be_printed(user, measured):
    told = user.types("export", "--format", "csv", "-o", "-")
    assert told.out.startswith("experiment,variant,")
    assert measured in told.out
    assert "left out" in told.err


def test_a_file_name_without_a_known_end_needs_a_format(user, measured):
    told = user.types("export", "-o", "file.txt")
    assert told.status == 2
    assert "--format" in told.err


def test_a_damaged_store_is_told_in_one_line(user, measured):
    user.types("list")
    store_of(user).write_bytes(b"not a database at all" * 1000)
    for command in (("list",), ("show",), ("measure", "--runs", "1", "--", "true")):
        told = user.types(*command)
        assert told.status == 2
        assert told.err.count("\n") == 1
        assert "steelyard.sqlite is not a Steelyard store" in told.err


def test_a_store_of_another_program_is_left_alone(user):
    path = user.home / "other.sqlite"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE bookmarks (url TEXT)")
    connection.close()
    before = path.read_bytes()
    assert "another program" in user.types("list", "--store", str(path)).err
    assert path.read_bytes() == before


def test_a_damaged_journal_gives_what_it_can_and_is_moved_aside(user, measured):
    journals = Path(journal_directory(str(store_of(user))))
    journal = journals / f"{measured}.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    lines[2] = b"\x00" * 40 + b"\n"
    journal.write_bytes(b"".join(lines))
    told = user.types("list", "--json", "-")
    document = told.document()
    assert [warning["code"] for warning in document["warnings"]] == ["damaged-journal"]
    assert "steelyard: warning:" in told.err
    assert document["experiments"][0]["trials"] == 2
    assert os.listdir(journals) == [f"{measured}.jsonl.damaged"]


def test_processes_that_open_the_store_at_once_do_not_disturb_each_other(user):
    for _experiment in range(3):
        assert user.types("measure", "--runs", "2", "--", "true").status == 0
    processes = [user.start("list", "--json", "-") for _process in range(4)]
    for process in processes:
        _out, err = process.communicate(timeout=PATIENCE_S)
        assert (process.returncode, err) == (0, b"")
    found = user.types("list", "--json", "-").document()["experiments"]
    assert [experiment["trials"] for experiment in found] == [2, 2, 2]
