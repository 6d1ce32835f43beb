"""The journal of changes to the host."""

from __future__ import annotations

import os

import pytest

from steelyard.core.errors import HostError
from steelyard.host.host_journal import HostJournal, default_journal_path


@pytest.fixture
def path(tmp_path):
    return str(tmp_path / "journal")


def test_an_announced_change_is_on_the_disk_before_it_is_made(path):
    change = HostJournal(path).announce("turbo", {"a": "0"}, {"a": "1"}, "boot")
    assert HostJournal(path).pending == (change,)


def test_a_change_that_was_put_back_is_gone_and_so_is_an_empty_journal(path):
    journal = HostJournal(path)
    journal.settle(journal.announce("turbo", 1, 2, "boot"))
    assert HostJournal(path).pending == ()
    journal.close()
    assert not os.path.exists(path)


def test_a_change_that_could_not_be_put_back_keeps_its_reason(path):
    journal = HostJournal(path)
    journal.postpone(journal.announce("turbo", 1, 2, "boot"), "the kernel said no")
    journal.close()
    (left,) = HostJournal(path).pending
    assert left.reason == "the kernel said no"


def test_a_torn_last_line_announces_a_change_that_was_not_begun(path):
    HostJournal(path).announce("turbo", 1, 2, "boot")
    with open(path, "ab") as file:
        file.write(b'{"change": 1, "knob": "sw')
    journal = HostJournal(path)
    assert [change.knob for change in journal.pending] == ["turbo"]
    journal.announce("smt", 1, 2, "boot")
    assert [change.knob for change in HostJournal(path).pending] == ["turbo", "smt"]


def test_a_damaged_line_is_an_error_that_names_the_file_and_the_line(path):
    HostJournal(path).announce("turbo", 1, 2, "boot")
    with open(path, "ab") as file:
        file.write(b"nonsense\n")
    with pytest.raises(HostError, match=r"Line 3 .*journal"):
        HostJournal(path)


def test_a_journal_that_cannot_be_written_says_that_nothing_is_changed(tmp_path):
    journal = HostJournal(str(tmp_path / "absent" / "journal"))
    with pytest.raises(HostError, match="Nothing is changed without it"):
        journal.announce("turbo", 1, 2, "boot")


def test_root_has_one_journal_for_the_machine_and_others_their_own(monkeypatch):
    monkeypatch.delenv("STEELYARD_HOST_JOURNAL", raising=False)
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert default_journal_path() == "/var/lib/steelyard/host.journal"
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setenv("XDG_STATE_HOME", "/home/user/state")
    assert default_journal_path() == "/home/user/state/steelyard/host.journal"
    monkeypatch.setenv("STEELYARD_HOST_JOURNAL", "/elsewhere")
    assert default_journal_path() == "/elsewhere"


def test_a_change_is_synced_when_it_is_announced_and_when_it_could_not_be_put_back(
    path, monkeypatch
):
    synced: list[str] = []
    monkeypatch.setattr(os, "fsync", lambda fd: synced.append(os.readlink(f"/proc/self/fd/{fd}")))
    journal = HostJournal(path)
    change = journal.announce("turbo", 1, 2, "boot")
    # The folder first: the name of a new file is lost without it.
    assert synced == [os.path.dirname(path), path]
    journal.postpone(change, "no")
    assert synced[2:] == [path]
    journal.close()
