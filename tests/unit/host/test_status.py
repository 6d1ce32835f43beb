"""What the status says of machines with known troubles."""

from __future__ import annotations

import os

import pytest

from steelyard.host import status
from steelyard.host.host_journal import HostJournal
from steelyard.host.knob import SEVERITIES
from steelyard.host.session import SessionLock, is_session_alive, session_lock_path
from steelyard.host.status import read_status, unrestored_finding
from tests.unit.host.fake_host import STAT, FakeHost


@pytest.fixture
def host(tmp_path):
    return FakeHost(tmp_path)


def finding(host, name, cpus=None):
    return {found.knob: found for found in read_status(host, cpus)}[name]


def test_every_finding_is_rated_and_what_is_wrong_has_advice(host):
    findings = read_status(host)
    assert len({found.knob for found in findings}) == len(findings)
    for found in findings:
        assert found.severity in SEVERITIES
        assert found.severity == "ok" or found.advice, found
        assert not (found.severity == "ok" and found.advice), found


def test_a_machine_that_shows_nothing_has_a_status_too(tmp_path):
    host = FakeHost(tmp_path)
    host.remove("/proc")
    host.remove("/sys")
    assert read_status(host)


def test_everything_that_the_command_promises_is_there(host):
    names = {found.knob for found in read_status(host)}
    assert {
        "governor", "turbo", "smt", "aslr", "load", "busy-processes", "timer-interrupts",
        "device-interrupts", "irq-affinity", "nohz-full", "isolcpus", "swap",
        "transparent-hugepages", "autogroup", "clock-source", "virtualisation", "steal",
        "thermal-throttling", "file-system", "perf-permission", "numa-balancing", "nmi-watchdog",
    } <= names  # fmt: skip


@pytest.mark.parametrize(
    ("knob", "severity", "value"),
    [
        ("governor", "bad", "powersave, schedutil"),
        ("turbo", "warning", "on"),
        ("smt", "warning", "on"),
        ("swap", "warning", "2 areas, 0 MiB used"),
        ("autogroup", "ok", "on"),
        ("thermal-throttling", "ok", "never since boot"),
        ("clock-source", "ok", "tsc"),
        ("virtualisation", "ok", "none"),
    ],
)
def test_settings_are_rated(host, knob, severity, value):
    found = finding(host, knob)
    assert (found.severity, found.value) == (severity, value)


def test_autogroup_is_fine_when_on_and_never_advised_off(host):
    assert not finding(host, "autogroup").advice
    host.put("/proc/sys/kernel/sched_autogroup_enabled", "0")
    found = finding(host, "autogroup")
    assert (found.value, found.wanted, found.severity) == ("off", "on", "info")
    assert "sched_autogroup_enabled=1" in found.advice


@pytest.mark.parametrize(
    ("path", "text", "knob", "severity"),
    [
        ("/proc/loadavg", "3.9 1 1 1/1 1", "load", "bad"),
        ("/proc/loadavg", "1.0 1 1 1/1 1", "load", "warning"),
        ("/proc/cpuinfo", "flags : hypervisor", "virtualisation", "warning"),
        ("/sys/devices/system/cpu/cpu1/thermal_throttle/core_throttle_count", "4",
         "thermal-throttling", "warning"),
        ("/sys/devices/system/clocksource/clocksource0/current_clocksource", "hpet",
         "clock-source", "warning"),
        ("/proc/self/mountinfo", "1 0 0:9 / / rw - nfs4 server:/ rw", "file-system", "bad"),
        ("/proc/self/mountinfo", "1 0 0:9 / / rw - tmpfs none rw", "file-system", "ok"),
        ("/proc/meminfo", "MemTotal: 1000 kB\nMemAvailable: 50 kB", "free-memory", "bad"),
        ("/sys/devices/system/cpu/isolated", "0-3", "isolcpus", "ok"),
        ("/sys/devices/system/cpu/nohz_full", "(null)", "nohz-full", "info"),
        ("/.dockerenv", "", "container", "info"),
        ("/proc/stat", "cpu0 900 0 0 9000 0 0 0 100", "steal", "bad"),
    ],
)  # fmt: skip
def test_trouble_is_seen_and_rated(host, path, text, knob, severity):
    host.put(path, text)
    assert finding(host, knob).severity == severity


def test_a_user_without_permission_for_counters_is_told_the_command(tmp_path):
    host = FakeHost(tmp_path, superuser=False)
    found = finding(host, "perf-permission")
    assert found.severity == "warning"
    assert "perf_event_paranoid=2" in found.advice


def test_what_a_killed_session_left_changed_is_bad_and_says_how_to_undo_it(host, tmp_path):
    path = str(tmp_path / "journal")
    HostJournal(path).announce("turbo", {}, {}, host.boot_id())
    found = unrestored_finding(path, host)
    assert (found.severity, found.value) == ("bad", "turbo")
    assert found.advice == "steelyard host restore"
    with SessionLock(path, host):
        assert unrestored_finding(path, host).severity == "info"


def test_a_session_may_start_while_the_status_looks_whether_one_lives(host, tmp_path, monkeypatch):
    path = str(tmp_path / "journal")
    with SessionLock(path, host):
        pass
    lock_file = os.stat(session_lock_path(path, host)).st_ino
    started: list[bool] = []
    close = os.close

    def start_a_session_first(fd: int) -> None:
        if os.fstat(fd).st_ino == lock_file and not started:
            started.append(True)
            with SessionLock(path, host):
                close(fd)
        else:
            close(fd)

    monkeypatch.setattr(os, "close", start_a_session_first)
    assert not is_session_alive(path, host)
    assert started


def test_a_session_that_ends_while_the_status_reads_left_nothing(host, tmp_path, monkeypatch):
    path = str(tmp_path / "journal")
    session = SessionLock(path, host)
    session.__enter__()
    journal = HostJournal(path)
    change = journal.announce("turbo", {}, {}, host.boot_id())

    def end_the_session_after(path: str) -> HostJournal:
        read = HostJournal(path)
        journal.settle(change)
        journal.close()
        session.__exit__()
        return read

    monkeypatch.setattr(status, "HostJournal", end_the_session_after)
    assert unrestored_finding(path, host).severity == "info"
    monkeypatch.undo()
    assert unrestored_finding(path, host).severity == "ok"


class BusyHost(FakeHost):
    """Between two samples a process runs and a device interrupts."""

    def pause(self, duration_s: float) -> None:
        self.put("/proc/uptime", "1001.0 900.0")
        stat = STAT.format(pid=100, name="miner", parent=1, flags=0, ticks=87, start=1000, cpu=3)
        self.put("/proc/100/stat", stat)
        text = (self.read("/proc/interrupts") or "").replace("1 2 3 4", "1 2 3 404")
        self.put("/proc/interrupts", text.replace("LOC: 10 10 10 10", "LOC: 10 10 10 9010"))
        self.put("/proc/stat", "cpu3 1900 0 0 9050 0 0 0 50")


def test_a_busy_process_is_named_with_its_share(tmp_path):
    found = finding(BusyHost(tmp_path), "busy-processes")
    assert found.severity == "bad"
    assert found.value == "miner (100) 80%"


def test_interrupts_are_counted_on_the_chosen_cpus_alone(tmp_path):
    host = BusyHost(tmp_path / "a")
    assert finding(host, "device-interrupts", (3,)).value == "eth0 on CPU 3: 400/s"
    assert finding(BusyHost(tmp_path / "b"), "device-interrupts", (0,)).value == "none"


def test_a_storm_of_timer_interrupts_is_a_warning(tmp_path):
    found = finding(BusyHost(tmp_path), "timer-interrupts", (3,))
    assert found.severity == "warning"
    assert "9000/s" in (found.value or "")


def test_time_that_the_hypervisor_takes_is_bad(tmp_path):
    assert finding(BusyHost(tmp_path), "steal", (3,)).severity == "bad"
