"""A journal of another's: whatever it says, nothing is written, removed or run."""

from __future__ import annotations

import json
import os

import pytest

from steelyard.core.errors import HostError
from steelyard.host.restore import restore_host
from tests.needs import needs_root
from tests.unit.host.fake_host import BOOT, FakeHost, snapshot

SHARED = "/sys/fs/cgroup/cpuset"


@pytest.fixture
def host(tmp_path):
    host = FakeHost(tmp_path / "host")
    host.put("/etc/passwd", "root\n")
    host.put("/home/user/kept/file", "kept\n")
    return host


def journal(tmp_path, *changes):
    """The journal with these entries: (knob, previous, wanted)."""
    path = tmp_path / "journal"
    lines = [{"host_journal": 1}]
    for number, (knob, previous, wanted) in enumerate(changes):
        lines.append(
            {
                "change": number,
                "knob": knob,
                "boot_id": BOOT,
                "previous": previous,
                "wanted": wanted,
            }
        )
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    path.chmod(0o600)
    return str(path)


def shield(**changed):
    state = {
        "groups": None,
        "irqs": {},
        "tasks": {},
        "own": {},
        "shield": [3],
        "companions": [],
        "program": [3],
        "rest": [0],
    }
    return {**state, **changed}


def groups(top=SHARED, path=f"{SHARED}/a/cpuset.cpus", text="0-3", own=SHARED):
    found = {"version": 1, "top": top, "groups": {path: text}, "ungoverned": [], "own": own}
    return {**found, "subtree_control": None, "rest": "0"}


PASSWD = {"/etc/passwd": "hacked"}
FOREIGN = {
    "a file of another knob": ("turbo", PASSWD, PASSWD),
    "a file that a setting has not": ("setting:governor", PASSWD, PASSWD),
    "a text of two lines": (
        "autogroup",
        {"/proc/sys/kernel/sched_autogroup_enabled": "1\n2"},
        {},
    ),
    "a folder that is no RAM disk": (
        "ramdisk",
        {"directory": None},
        {"directory": "/home/user/kept", "kind": "ramfs"},
    ),
    "a folder above the RAM disk": (
        "ramdisk",
        {"directory": None},
        {"directory": "/run/steelyard-/../../home/user/kept", "kind": "ramfs"},
    ),
    "a tree that root does not make": (
        "ramdisk",
        {"directory": None},
        {"directory": "/home/user/kept", "kind": None},
    ),
    "an interrupt that is a file": ("cpu-shield", shield(irqs=PASSWD), shield(irqs=PASSWD)),
    "an interrupt above interrupts": (
        "cpu-shield",
        shield(irqs={"/proc/irq/../../etc/smp_affinity_list": "0"}),
        shield(),
    ),
    "a group elsewhere": ("cpu-shield", shield(groups=groups(top="/etc")), shield()),
    "a group above": (
        "cpu-shield",
        shield(groups=groups(path=f"{SHARED}/../../../../etc/cpuset.cpus")),
        shield(),
    ),
    "a text that is no CPUs": ("cpu-shield", shield(groups=groups(text="x y")), shield()),
    "its own group elsewhere": ("cpu-shield", shield(groups=groups(own="/etc")), shield()),
    "a thread that is a path": ("cpu-shield", shield(tasks={"../1": [1, [0]]}), shield()),
    "a service that is an option": ("services", {"--root=/tmp/x": True}, {}),
    "a service that is a path": ("services", {"../../home/user/evil": True}, {}),
    "a swap area that is relative": ("swap", [["kept", 0]], []),
    "a mount elsewhere": (
        "setting:filesystem",
        {"directory": None},
        {"directory": "/home/user/kept", "kind": "tmpfs", "image": None},
    ),
    "an image elsewhere": (
        "setting:filesystem",
        {"directory": None},
        {"directory": "/run/steelyard-files-1-a", "kind": "ext4", "image": "/etc/passwd"},
    ),
    "a mark of others": ("setting:background-load", {"argv": []}, {"word": "", "level": "none"}),
    "another command": (
        "setting:command",
        {"commands": {"set": "echo hacked"}, "level": None},
        {"commands": {"set": "true"}, "level": "on"},
    ),
    "a state of another kind": ("ramdisk", None, [1, 2]),
    "a state that is a text": ("turbo", "x", "y"),
    "numbers for names": ("services", {"1": 2}, 7),
}


@pytest.mark.parametrize("name", FOREIGN)
def test_an_entry_that_its_knob_would_not_have_written_is_refused(host, tmp_path, name):
    before = snapshot(host)
    path = journal(tmp_path, FOREIGN[name])
    found = restore_host(path, host)
    assert snapshot(host) == before
    assert (found.knobs, len(found.failures)) == ((), 1), found
    assert "journal" in found.failures[0][1]
    assert host.calls == []


def test_the_entries_beside_a_foreign_one_are_put_back(host, tmp_path):
    own = {"/proc/sys/kernel/sched_autogroup_enabled": "0"}
    path = journal(tmp_path, ("autogroup", own, own), FOREIGN["a mark of others"])
    assert restore_host(path, host).knobs == ("autogroup",)
    assert host.read("/proc/sys/kernel/sched_autogroup_enabled") == "0"


OWN = ("autogroup", {"/proc/sys/kernel/sched_autogroup_enabled": "0"}, {})


def refused(host, path):
    before = snapshot(host)
    with pytest.raises(HostError) as caught:
        restore_host(path, host)
    assert snapshot(host) == before
    return caught.value.message


def test_a_journal_that_is_a_link_is_refused_before_anything_is_done(host, tmp_path):
    journal(tmp_path, OWN)
    (tmp_path / "link").symlink_to("journal")
    refused(host, str(tmp_path / "link"))
    assert (tmp_path / "journal").exists()


def test_a_journal_with_two_names_is_refused(host, tmp_path):
    path = journal(tmp_path, OWN)
    os.link(path, tmp_path / "other")
    assert "one name" in refused(host, path)


def test_a_journal_that_others_may_write_is_refused(host, tmp_path):
    path = journal(tmp_path, OWN)
    os.chmod(path, 0o666)
    assert "others may write it" in refused(host, path)


@needs_root
def test_root_refuses_the_journal_of_another_user(host, tmp_path):
    path = journal(tmp_path, OWN)
    os.chown(path, 1234, 1234)
    assert "belongs to user 1234" in refused(host, path)


@needs_root
def test_root_refuses_a_journal_in_a_directory_that_others_may_write(host, tmp_path):
    folder = tmp_path / "open"
    folder.mkdir()
    folder.chmod(0o777)
    path = journal(folder, OWN)
    assert "its directory" in refused(host, path)
    folder.chmod(0o1777)  # Sticky: nobody replaces the file of another.
    assert restore_host(path, host).knobs == ("autogroup",)


@pytest.mark.parametrize("kind", ["fifo", "directory"])
def test_a_journal_that_is_no_file_is_refused(host, tmp_path, kind):
    path = str(tmp_path / "journal")
    os.mkfifo(path) if kind == "fifo" else os.mkdir(path)
    refused(host, path)


def test_what_cannot_be_recorded_is_not_put_back(host, tmp_path, monkeypatch):
    path = journal(tmp_path, OWN)
    real = os.open

    def read_only(name, flags, *mode, **more):
        if name == path and flags & os.O_RDWR:
            raise OSError(30, "Read-only file system", path)
        return real(name, flags, *mode, **more)

    monkeypatch.setattr(os, "open", read_only)
    assert "cannot be written" in refused(host, path)
