"""What every knob keeps, over machines made of folders."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from steelyard.core.errors import HostError
from steelyard.core.experiment_spec import LaunchSpec
from steelyard.host.host_journal import HostJournal
from steelyard.host.knob import SEVERITIES, FileKnob, Knob, Request
from steelyard.host.properties import KNOBS, default_knobs
from steelyard.host.quiet import quiet
from steelyard.host.restore import restore_host
from tests.unit.host.fake_host import FakeHost, snapshot

REQUEST = Request(cpus=(3,), services=("cron", "cups"), session="test")
knobs = pytest.mark.parametrize("knob", list(KNOBS), ids=KNOBS.names())
changing = pytest.mark.parametrize(
    "knob", [k for k in KNOBS if k.changes_host], ids=lambda k: k.name
)
machines = pytest.mark.parametrize("cgroup", [1, 2, 0], ids=["v1", "v2", "no-cgroup"])


class Killed(BaseException):
    """The process is gone: nothing after this runs."""


class MortalHost(FakeHost):
    """Dies at the given change of the machine."""

    changes_left = -1

    def _live(self) -> None:
        if self.changes_left == 0:
            raise Killed
        self.changes_left -= 1

    def write(self, path: str, text: str) -> None:
        self._live()
        super().write(path, text)

    def make_directory(self, path: str, mode: int = 0o755) -> None:
        self._live()
        super().make_directory(path, mode)

    def mount(self, kind: str, target: str, options: str) -> None:
        self._live()
        super().mount(kind, target, options)

    def swap_off(self, path: str) -> None:
        self._live()
        super().swap_off(path)

    def set_affinity(self, task: int, cpus: Any) -> None:
        self._live()
        super().set_affinity(task, cpus)

    def run(self, argv: Sequence[str], timeout_s: float = 60.0) -> tuple[int, str]:
        if "stop" in argv:
            self._live()
        return super().run(argv, timeout_s)


@pytest.fixture
def journal(tmp_path: Path) -> str:
    return str(tmp_path / "journal")


@pytest.fixture
def make_host(tmp_path: Path) -> Callable[..., MortalHost]:
    def make(**options: Any) -> MortalHost:
        return MortalHost(tmp_path / "host", **options)

    return make


@knobs
def test_a_knob_has_what_a_status_line_needs(knob: Knob, make_host):
    finding = knob.finding(make_host(), REQUEST)
    assert finding.knob == knob.name
    assert finding.title
    assert finding.severity in SEVERITIES
    assert finding.severity == "ok" or finding.advice


@knobs
def test_a_status_line_can_be_had_from_a_machine_that_shows_nothing(knob: Knob, tmp_path):
    host = MortalHost(tmp_path / "host", cgroup=0, superuser=False)
    host.remove("/sys")
    for path in ("/proc/sys", "/proc/swaps", "/proc/meminfo"):
        host.remove(path)
    assert knob.finding(host, Request()).severity in SEVERITIES


@knobs
def test_a_knob_that_is_unavailable_says_why_in_words(knob: Knob, make_host):
    host = make_host(superuser=False)
    reason = knob.available(host, REQUEST)
    assert reason is None or len(reason.split()) >= 3


@knobs
@machines
def test_read_gives_a_json_value_that_stays_what_it_is(knob: Knob, cgroup, make_host):
    host = make_host(cgroup=cgroup)
    state = knob.read(host, REQUEST)
    assert json.loads(json.dumps(state)) == state
    assert knob.read(host, REQUEST) == state
    wanted = knob.wanted(host, REQUEST, state)
    assert json.loads(json.dumps(wanted)) == wanted


@knobs
@machines
def test_apply_verifies_and_restore_gives_back_exactly_what_was_read(knob: Knob, cgroup, make_host):
    host = make_host(cgroup=cgroup)
    assert knob.available(host, REQUEST) is None
    before = snapshot(host)
    previous = knob.read(host, REQUEST)
    wanted = knob.wanted(host, REQUEST, previous)
    knob.apply(host, wanted)
    assert knob.verify(host, wanted) is None
    if knob.changes_host:
        assert snapshot(host) != before
        knob.restore(host, previous, wanted)
        assert snapshot(host) == before
        assert knob.read(host, REQUEST) == previous


@changing
def test_restoring_twice_changes_nothing_more(knob: Knob, make_host):
    host = make_host()
    before = snapshot(host)
    previous = knob.read(host, REQUEST)
    wanted = knob.wanted(host, REQUEST, previous)
    knob.apply(host, wanted)
    knob.restore(host, previous, wanted)
    knob.restore(host, previous, wanted)
    assert snapshot(host) == before


@changing
def test_restoring_before_anything_was_applied_does_no_harm(knob: Knob, make_host):
    host = make_host()
    before = snapshot(host)
    previous = knob.read(host, REQUEST)
    knob.restore(host, previous, knob.wanted(host, REQUEST, previous))
    assert snapshot(host) == before


@changing
@machines
def test_a_kill_at_any_change_is_undone_by_a_later_restore(knob: Knob, cgroup, make_host, journal):
    host = make_host(cgroup=cgroup)
    before = snapshot(host)
    deaths = 0
    for changes in range(200):
        previous = knob.read(host, REQUEST)
        wanted = knob.wanted(host, REQUEST, previous)
        book = HostJournal(journal)
        book.announce(knob.name, previous, wanted, host.boot_id())
        host.changes_left = changes
        try:
            knob.apply(host, wanted)
        except Killed:
            deaths += 1
        finished = host.changes_left > 0
        host.changes_left = -1
        assert restore_host(journal, host).failures == ()
        assert snapshot(host) == before
        assert not os.path.exists(journal)
        if finished:
            break
    assert deaths


@changing
def test_a_knob_that_the_kernel_refuses_is_reported_and_leaves_nothing_changed(
    knob: Knob, make_host, journal
):
    host = make_host()
    state = knob.read(host, REQUEST)
    wanted = knob.wanted(host, REQUEST, state)
    for path in _settings(wanted):
        host.refuse[path] = errno.EIO
    for call in ("swapoff /dev/sda2", "mount tmpfs", "systemctl stop cron"):
        host.refuse[call] = errno.EPERM
    host.refuse[f"{host.top}/steelyard-own/cgroup.procs"] = errno.EPERM
    before = snapshot(host)
    with quiet([knob.name], REQUEST, journal_path=journal, host=host) as session:
        assert list(session.refused) == [knob.name]
        assert session.refused[knob.name]
        assert session.applied == {}
        assert session.launch_changes == {}
        assert snapshot(host) == before
    assert snapshot(host) == before
    assert not os.path.exists(journal)


@pytest.mark.parametrize("name", [knob.name for knob in KNOBS if isinstance(knob, FileKnob)])
def test_a_setting_that_does_not_take_is_noticed_by_reading_it_back(name, make_host, journal):
    host = make_host()
    knob = KNOBS.get(name)
    host.stubborn.update(knob.wanted(host, REQUEST, knob.read(host, REQUEST)))
    before = snapshot(host)
    with quiet([name], REQUEST, journal_path=journal, host=host) as session:
        assert " and not " in session.refused[name]
    assert snapshot(host) == before


@knobs
def test_launch_changes_are_fields_of_the_launch_specification(knob: Knob, make_host):
    host = make_host()
    wanted = knob.wanted(host, REQUEST, knob.read(host, REQUEST))
    LaunchSpec(("true",), **knob.launch_changes(wanted))


@knobs
def test_a_quiet_session_gives_back_the_machine(knob: Knob, make_host, journal):
    host = make_host()
    before = snapshot(host)
    with quiet([knob.name], REQUEST, journal_path=journal, host=host) as session:
        assert session.refused == {}
        assert list(session.applied) == [knob.name]
        json.dumps(session.applied)
    assert session.restored is not None
    assert session.restored.failures == ()
    # Emptying the caches writes to a file that the kernel does not keep.
    host.put("/proc/sys/vm/drop_caches", "0")
    assert snapshot(host) == before


@machines
def test_all_knobs_together_give_back_the_machine(cgroup, make_host, journal):
    host = make_host(cgroup=cgroup)
    before = snapshot(host)
    request = Request(cpus=(2,), services=("cron",))
    with quiet(["all"], request, journal_path=journal, host=host) as session:
        assert session.refused == {}
        assert set(session.applied) == set(KNOBS.names())
    assert session.restored is not None
    assert session.restored.failures == ()
    host.put("/proc/sys/vm/drop_caches", "0")
    assert snapshot(host) == before


def test_without_root_each_knob_is_set_or_says_why_not(make_host, journal):
    host = make_host(superuser=False)
    before = snapshot(host)
    with quiet(["all"], REQUEST, journal_path=journal, host=host) as session:
        assert set(session.applied) | set(session.refused) == set(KNOBS.names())
        assert {"aslr", "cpu-shield", "ramdisk"} <= set(session.applied)
        assert all(session.refused.values())
    assert snapshot(host) == before


def test_a_read_only_sysfs_is_a_reason_and_not_an_error(make_host, journal):
    host = make_host()
    path = "/sys/devices/system/cpu/intel_pstate/no_turbo"
    host.refuse[path] = errno.EROFS
    with quiet(["turbo"], journal_path=journal, host=host) as session:
        assert session.refused == {"turbo": f"{path} is read-only here"}


def test_the_default_set_takes_nothing_from_programs_that_they_may_need():
    assert set(default_knobs()).isdisjoint(
        {
            "network",
            "realtime-priority",
            "swap",
            "drop-caches",
            "services",
            "ramdisk",
            "smt",
            "autogroup",
        }
    )
    assert {"aslr", "cpu-shield", "governor", "turbo"} <= set(default_knobs())


def test_a_knob_that_cannot_be_put_back_stays_in_the_journal_with_the_reason(make_host, journal):
    host = make_host()
    autogroup = "/proc/sys/kernel/sched_autogroup_enabled"
    with quiet(["autogroup", "turbo"], journal_path=journal, host=host) as session:
        host.refuse[autogroup] = errno.EIO
    assert session.restored is not None
    assert session.restored.knobs == ("turbo",)
    ((name, reason),) = session.restored.failures
    assert name == "autogroup"
    assert "Input/output error" in reason
    left = HostJournal(journal).pending
    assert [(change.knob, change.reason) for change in left] == [("autogroup", reason)]
    host.refuse.clear()
    assert restore_host(journal, host).knobs == ("autogroup",)
    assert host.read(autogroup) == "1"
    assert not os.path.exists(journal)


def test_restoring_needs_every_part_to_hold(make_host):
    host = make_host()
    knob = KNOBS.get("governor")
    previous = knob.read(host, REQUEST)
    wanted = knob.wanted(host, REQUEST, previous)
    knob.apply(host, wanted)
    first, second = previous
    host.refuse[first] = errno.EIO
    with pytest.raises(HostError, match="policy0"):
        knob.restore(host, previous, wanted)
    assert host.read(second) == "schedutil"


def _settings(wanted: Any) -> list[str]:
    """The paths of the kernel's files that a state names."""
    if not isinstance(wanted, dict):
        return []
    return [path for path in wanted if path.startswith(("/sys/", "/proc/"))]
