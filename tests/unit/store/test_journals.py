from __future__ import annotations

import fcntl
import json
import os
from contextlib import suppress
from pathlib import Path

import pytest

from steelyard.core.errors import DataError, StoreError
from steelyard.store import journals
from steelyard.store.database import Store
from steelyard.store.journals import absorb_journals
from steelyard.store.store_location import journal_directory, journal_path, work_directory
from tests.experiments import identifier, make_experiment, make_trial
from tests.privileges import without_leave_to_every_file


@pytest.fixture
def store(tmp_path):
    return Store(str(tmp_path / "s.sqlite"))


def salvage(path):
    """The experiment of the lines that can be read."""
    with open(path, "rb") as file:
        first, *lines = file.read().split(b"\n")
    positions = []
    for line in lines:
        with suppress(ValueError, KeyError):
            positions.append(json.loads(line)["position"])
    try:
        number = json.loads(first)["number"]
    except ValueError:
        return None
    return make_experiment(number, trials=tuple(map(make_trial, positions)))


def read(path):
    """A journal of these tests: a line with the experiment's number, then one a trial."""
    positions = []
    with open(path, "rb") as file:
        first, *lines = file.read().split(b"\n")
    try:
        number = json.loads(first)["number"]
        for index, line in enumerate(lines):
            if line or index + 1 < len(lines):
                positions.append(json.loads(line)["position"])
    except (ValueError, KeyError):
        raise DataError(f"{path} is damaged.") from None
    trials = tuple(make_trial(position) for position in positions)
    return make_experiment(number, trials=trials)


def write(store, number, *positions, tail=b""):
    path = Path(journal_path(store.path, identifier(number)))
    lines = [json.dumps({"number": number}), *(json.dumps({"position": p}) for p in positions)]
    path.write_bytes("".join(line + "\n" for line in lines).encode() + tail)
    return path


def test_a_journal_that_ended_becomes_part_of_the_store(store):
    path = write(store, 1, 0, 1)
    assert absorb_journals(store, read, salvage).identifiers == (identifier(1),)
    assert [trial.position for trial in store.load("latest").trials] == [0, 1]
    assert not path.exists()


def test_the_directory_of_its_outputs_goes_with_it(store):
    write(store, 1)
    outputs = Path(work_directory(store.path, identifier(1)))
    outputs.mkdir()
    (outputs / "out").write_text("text")
    absorb_journals(store, read, salvage)
    assert os.listdir(journal_directory(store.path)) == []


def test_a_crash_between_commit_and_deletion_does_no_harm(store, monkeypatch):
    path = write(store, 1, 0, 1)

    def crash(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(journals, "_remove", crash)
    with pytest.raises(KeyboardInterrupt):
        absorb_journals(store, read, salvage)
    assert path.exists()
    before = store.load("latest")
    monkeypatch.undo()
    absorb_journals(store, read, salvage)
    assert store.load("latest") == before
    assert not path.exists()


def test_a_resumed_session_joins_the_stored_one(store):
    write(store, 1, 0, 1)
    absorb_journals(store, read, salvage)
    write(store, 1, 2, 3)
    absorb_journals(store, read, salvage)
    assert [trial.position for trial in store.load("latest").trials] == [0, 1, 2, 3]


def test_a_journal_that_is_being_written_stays(store):
    path = write(store, 1, 0)
    with path.open("ab") as writer:
        fcntl.flock(writer, fcntl.LOCK_EX)
        absorbed = absorb_journals(store, read, salvage)
        assert [live.spec.identifier for live in absorbed.live] == [identifier(1)]
        assert absorbed.identifiers == ()
        assert store.listing() == ()
        assert path.exists()
    assert absorb_journals(store, read, salvage).identifiers == (identifier(1),)


def test_a_journal_that_another_process_took_meanwhile_is_let_be(store, monkeypatch):
    path = write(store, 1, 0)
    lock = fcntl.flock

    def lose_the_race(descriptor, how):
        lock(descriptor, how)
        path.unlink()

    monkeypatch.setattr(fcntl, "flock", lose_the_race)
    assert absorb_journals(store, read, salvage).identifiers == ()
    assert store.listing() == ()


def test_a_damaged_line_costs_only_itself(store):
    path = write(store, 1, 0, 1, tail=b'{"position"\xff: 2\n{"position": 3}\n')
    content = path.read_bytes()
    absorbed = absorb_journals(store, read, salvage)
    assert [trial.position for trial in store.load("latest").trials] == [0, 1, 3]
    assert [caution.code for caution in absorbed.cautions] == ["damaged-journal"]
    assert "3 trials of it were saved" in absorbed.cautions[0].message
    assert not path.exists()
    assert Path(f"{path}.damaged").read_bytes() == content
    assert absorb_journals(store, read, salvage).cautions == ()


def test_a_line_that_is_whole_but_wrong_costs_only_itself(store):
    write(store, 1, 0, tail=b'{"place": 2}\n{"position": 3}\n')
    absorb_journals(store, read, salvage)
    assert [trial.position for trial in store.load("latest").trials] == [0, 3]


def test_a_journal_without_a_readable_start_is_moved_aside(store):
    path = Path(journal_path(store.path, identifier(1)))
    path.write_bytes(b'\x00\x00\x00\n{"position": 3}\n')
    absorbed = absorb_journals(store, read, salvage)
    assert "Nothing in it could be read" in absorbed.cautions[0].message
    assert store.listing() == ()
    assert os.listdir(path.parent) == [f"{path.name}.damaged"]


def test_a_second_damaged_journal_does_not_replace_the_first(store):
    path = Path(journal_path(store.path, identifier(1)))
    for content in (b"one\n", b"two\n"):
        path.write_bytes(content)
        absorb_journals(store, read, salvage)
    assert Path(f"{path}.damaged").read_bytes() == b"one\n"
    assert Path(f"{path}.damaged-2").read_bytes() == b"two\n"


def test_a_journal_that_is_just_being_made_is_left_alone(store):
    path = Path(journal_path(store.path, identifier(1)))
    path.write_bytes(b'{"number"')
    assert absorb_journals(store, read, salvage) == journals.Absorbed()
    assert path.exists()


def test_a_journal_that_never_got_its_first_line_goes_away(store):
    path = Path(journal_path(store.path, identifier(1)))
    path.write_bytes(b"")
    os.utime(path, (1, 1))
    assert absorb_journals(store, read, salvage) == journals.Absorbed()
    assert not path.exists()


def test_journals_stay_when_the_store_cannot_take_them(store, monkeypatch):
    path = write(store, 1, 0)

    def refuse(_experiment):
        raise StoreError("the disk is full")

    monkeypatch.setattr(store, "save", refuse)
    with pytest.raises(StoreError):
        absorb_journals(store, read, salvage)
    assert path.exists()


def test_a_store_that_may_only_be_read_keeps_its_journals(store):
    path = write(store, 1, 0)
    store.read_only = True
    assert [c.code for c in absorb_journals(store, read, salvage).cautions] == ["read-only-store"]
    assert path.exists()


def test_a_journal_of_another_user_does_not_keep_one_from_the_store(store):
    path = write(store, 1, 0)
    write(store, 2, 0)
    path.chmod(0)
    with without_leave_to_every_file():
        absorbed = absorb_journals(store, read, salvage)
    assert absorbed.identifiers == (identifier(2),)
    assert [caution.code for caution in absorbed.cautions] == ["journal-left"]
    assert path.exists()
