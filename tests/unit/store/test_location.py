from __future__ import annotations

import os
import sqlite3

import pytest

from steelyard.core.errors import StoreError
from steelyard.store import store_location as location
from steelyard.store.database import Store
from tests.privileges import without_leave_to_every_file


def test_an_option_names_the_store(tmp_path, monkeypatch):
    monkeypatch.setenv("STEELYARD_STORE", "/elsewhere")
    monkeypatch.chdir(tmp_path)
    assert location.store_path("my.sqlite") == str(tmp_path / "my.sqlite")


def test_the_environment_names_the_store(monkeypatch):
    monkeypatch.setenv("STEELYARD_STORE", "/somewhere/s.sqlite")
    assert location.store_path(None) == "/somewhere/s.sqlite"


def test_the_data_directory_is_the_default(monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", "/data")
    assert location.store_path(None) == "/data/steelyard/steelyard.sqlite"


@pytest.mark.parametrize("value", ["", "relative/data"])
def test_a_data_directory_that_is_not_absolute_is_ignored(monkeypatch, value):
    monkeypatch.setenv("XDG_DATA_HOME", value)
    monkeypatch.setenv("HOME", "/home/u")
    assert location.store_path(None) == "/home/u/.local/share/steelyard/steelyard.sqlite"


def test_a_new_place_gets_its_directories(tmp_path):
    store = str(tmp_path / "a" / "b" / "s.sqlite")
    location.check_usable(store)
    assert os.path.isdir(location.journal_directory(store))
    assert not os.path.exists(store)


def test_a_store_is_usable(tmp_path):
    path = str(tmp_path / "s.sqlite")
    Store(path)
    location.check_usable(path)


@pytest.mark.parametrize("content", [b"hello", b"\x00" * 4096, b"SQLite format 3\x00"])
def test_a_file_that_is_no_database_is_refused(tmp_path, content):
    path = tmp_path / "s.sqlite"
    path.write_bytes(content)
    with pytest.raises(StoreError, match=r"s\.sqlite is not a Steelyard store.*--store"):
        location.check_usable(str(path))


def test_a_database_of_another_program_is_refused(tmp_path):
    path = str(tmp_path / "s.sqlite")
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE bookmarks (url TEXT)")
    connection.close()
    with pytest.raises(StoreError, match="another program"):
        location.check_usable(path)


def test_a_store_of_a_newer_version_is_refused(tmp_path):
    path = str(tmp_path / "s.sqlite")
    Store(path)
    connection = sqlite3.connect(path)
    connection.execute(f"PRAGMA user_version = {location.SCHEMA_VERSION + 1}")
    connection.close()
    with pytest.raises(StoreError, match="newer Steelyard"):
        location.check_usable(path)


def test_a_file_in_the_way_of_the_directory_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match=str(tmp_path / "file")):
        location.check_usable(str(tmp_path / "file" / "s.sqlite"))


def test_a_directory_that_cannot_be_written_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(StoreError, match="Permission denied"):
        location.check_usable(str(tmp_path / "s.sqlite"))


def test_a_full_disk_is_found_before_the_first_trial(tmp_path, monkeypatch):
    monkeypatch.setattr(location, "FREE_SPACE_BYTES", 2**80)
    with pytest.raises(StoreError, match="MiB left"):
        location.check_usable(str(tmp_path / "s.sqlite"))


def test_the_journal_lies_beside_the_store():
    assert location.journal_path("/d/s.sqlite", "01J") == "/d/s.sqlite.journals/01J.jsonl"


def test_a_store_that_may_only_be_read_takes_no_measurement(tmp_path):
    path = str(tmp_path / "s.sqlite")
    Store(path)
    os.chmod(path, 0o400)
    with (
        without_leave_to_every_file(),
        pytest.raises(StoreError, match="may be read but not written"),
    ):
        location.check_usable(path)
