"""A block whose host is booted before each trial: one attempt, kept between boots, lost with its
host."""

from __future__ import annotations

import pytest

from steelyard.app.service.begun_part import BegunPart
from steelyard.app.service.host_boots import HostBoots, HostSaid, read_said
from steelyard.app.service.service import Service
from steelyard.core.errors import MissingCapabilityError
from steelyard.service.accounts import add_account
from steelyard.service.part_queue import lose_silent_workers
from steelyard.service.service_database import ServiceDatabase
from steelyard.service.submissions import newest_faults

FILE = """\
[experiment]
seed = 5
runs = 1
[[benchmark]]
name = "b"
command = "true"
[[factor]]
factor = "environment-size"
levels = [0, 64, 128]
[hosts]
factors = {reboot = ["trial"]}
"""
FACTS = {"architecture": "x", "cpus": 1, "boots": "yes"}


class Here:
    """A service with hosts that boot themselves, and a clock."""

    def __init__(self, path, *names):
        self.now_s = 1000.0
        self.database = ServiceDatabase(str(path / "service.sqlite"))
        self.service = Service(self.database, str(path), lambda: self.now_s)
        with self.database.writing() as connection:
            add_account(connection, "owner", "administrator", 1.0)
        self.who = self.service.access.owner()
        self.workers = {name: self.service.access.enrol(self.who, name, FACTS) for name in names}

    def asks(self, name, **said):
        return self.service.parts.give(
            self.service.access.worker(self.workers[name]), HostSaid(**said)
        )

    def faults(self):
        (sent,) = self.service.submissions(self.who)
        with self.database.reading() as connection:
            return newest_faults(connection, sent.id, 10)

    def ran(self, name, given, count):
        worker = self.service.access.worker(self.workers[name])
        return self.service.parts.ran(worker, given.id, given.attempt, count)


@pytest.fixture
def here(tmp_path):
    found = Here(tmp_path, "a", "b")
    found.service.submit(found.who, FILE, "e.toml")
    yield found
    found.database.close()


def runner(here):
    """Which of the two was drawn, and the boot that it is asked for."""
    for name in ("a", "b"):
        wanted = here.asks(name)
        if wanted is not None:
            return name, wanted.booted_for
    raise AssertionError("nobody runs it")


def test_each_trial_takes_a_boot_and_all_of_them_are_one_attempt(here) -> None:
    name, wanted = runner(here)
    assert here.asks(name).booted_for == wanted
    seen = set()
    for count in range(3):
        seen.add(wanted)
        given = here.asks(name, booted_for=wanted)
        assert (given.attempt, given.ran, given.reboot, len(given.positions)) == (
            *(0, count),
            *("trial", 3),
        )
        assert here.ran(name, given, count + 1) is (count < 2)
        if count < 2:
            wanted = here.asks(name).booted_for
    assert len(seen) == 3


def test_what_was_lost_on_the_way_is_run_anew_from_its_first_trial(here) -> None:
    name, wanted = runner(here)
    given = here.asks(name, booted_for=wanted)
    assert here.ran(name, given, 1)
    # A forged or repeated count changes nothing.
    assert not here.ran(name, given, 1)
    assert not here.ran(name, given, 2)
    given = here.asks(name, booted_for=here.asks(name).booted_for)
    assert given.ran == 1
    wanted = here.asks(name, lost="its host crashed").booted_for
    faults = here.faults()
    assert [(fault[2], fault[3]) for fault in faults] == [("lost", "its host crashed")]
    given = here.asks(name, booted_for=wanted)
    assert (given.attempt, given.ran) == (1, 0)


def test_a_host_that_does_not_come_back_from_a_boot_leaves_its_block_to_another(here) -> None:
    name, wanted = runner(here)
    given = here.asks(name, booted_for=wanted)
    assert here.ran(name, given, 1)
    assert here.asks(name).booted_for
    other = "b" if name == "a" else "a"
    here.now_s += 300.0
    assert here.asks(other) is None  # Boots take minutes.
    here.now_s += 400.0
    with here.database.writing() as connection:
        assert name in lose_silent_workers(connection, here.now_s)
    wanted = here.asks(other).booted_for
    given = here.asks(other, booted_for=wanted)
    assert (given.attempt, given.ran) == (1, 0)
    faults = here.faults()
    assert [fault[3] for fault in faults] == ["its host did not come back from a boot"]


def test_a_command_that_did_nothing_is_no_boot(tmp_path) -> None:
    boot_id = tmp_path / "boot_id"
    boot_id.write_text("first\n")
    boots = HostBoots(str(tmp_path), "false", str(boot_id))
    with pytest.raises(MissingCapabilityError, match="'false' did not boot this host"):
        boots.boot("what for")
    assert boots.said() == HostSaid()
    with pytest.raises(MissingCapabilityError, match="no-such-program"):
        HostBoots(str(tmp_path), "no-such-program", str(boot_id)).boot("what for")
    boot_id.write_text("second\n")
    assert boots.said() == HostSaid("what for")
    boots.heard()
    assert boots.said() == HostSaid()


def test_a_host_that_went_down_while_a_block_ran_says_so(tmp_path) -> None:
    boot_id = tmp_path / "boot_id"
    boot_id.write_text("first\n")
    boots = HostBoots(str(tmp_path), "", str(boot_id))
    boots.runs()
    assert "the worker was ended" in boots.said().lost
    boot_id.write_text("second\n")
    assert "crashed or lost power" in boots.said().lost
    boots.has_run()
    assert boots.said() == HostSaid()
    for damage in ("", "[]", "{", '{"other": 1}'):
        (tmp_path / "running.json").write_text(damage)
        assert boots.said() == HostSaid()


def test_what_a_worker_says_is_heard_only_as_short_texts() -> None:
    assert read_said({"booted_for": 3, "lost": ["x"]}) == HostSaid()
    assert len(read_said({"lost": "x" * 10_000}).lost) == 300


def test_trials_between_boots_are_put_together_or_said_to_be_missing(tmp_path) -> None:
    folder = str(tmp_path / "begun")
    given = {"part": 1, "attempt": 0, "positions": [-1, 4, 5], "reboot": "trial"}
    about = {"part": 1, "attempt": 0, "experiment": "e"}
    for count, position in enumerate(given["positions"]):
        begun = BegunPart(folder, {**given, "ran": count})
        assert begun.now["positions"] == [position]
        scratch = tmp_path / f"scratch{count}"
        (scratch / "archives").mkdir(parents=True)
        (scratch / "archives" / str(position)).write_text(str(count))
        result = {**about, "trials": [position], "provenance": {}}
        found = begun.after(result, str(scratch))
        assert (found is None) is (count < 2)
    assert found["trials"] == [-1, 4, 5]
    archives = {path.name: path.read_text() for path in (scratch / "archives").iterdir()}
    assert archives == {"-1": "0", "4": "1", "5": "2"}
    assert not (tmp_path / "begun").exists()
    found = BegunPart(folder, {**given, "ran": 1}).after({**about, "trials": [4]}, folder)
    assert "is not on its disk" in found["failure"]
    whole = BegunPart(folder, {**given, "reboot": "never"})
    assert whole.now["positions"] == given["positions"]
    assert whole.after({**about, "trials": [1, 2, 3]}, folder)["trials"] == [1, 2, 3]


@pytest.mark.parametrize("left", [b"", b"[1", b"\xff", b"{}", b"[" * 100_000, b"[]"])
def test_what_a_crash_left_of_earlier_trials_fails_the_block_and_not_the_worker(
    tmp_path, left
) -> None:
    folder = str(tmp_path / "begun")
    given = {"part": 1, "attempt": 0, "reboot": "trial", "positions": [4, 5]}
    about = {"part": 1, "attempt": 0, "experiment": "e"}
    assert BegunPart(folder, given).after({**about, "trials": [1]}, str(tmp_path)) is None
    (tmp_path / "begun" / "1-0.json").write_bytes(left)
    found = BegunPart(folder, {**given, "ran": 1}).after({**about, "trials": [2]}, str(tmp_path))
    assert found == {**about, "failure": "what this host ran before a boot is not on its disk"}
    assert not (tmp_path / "begun").exists()
