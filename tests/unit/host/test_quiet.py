"""A quiet session: what is recovered before it, refused in it, and put back after it."""

from __future__ import annotations

import os
import signal

import pytest

from steelyard.core.errors import BusyError, UnknownNameError
from steelyard.host.host_journal import HostJournal
from steelyard.host.knob import Request
from steelyard.host.properties import KNOBS
from steelyard.host.quiet import ordered_knobs, quiet
from steelyard.host.restore import restore_host
from tests.unit.host.fake_host import FakeHost, snapshot

AUTOGROUP = "/proc/sys/kernel/sched_autogroup_enabled"


@pytest.fixture
def host(tmp_path):
    return FakeHost(tmp_path / "host")


@pytest.fixture
def path(tmp_path):
    return str(tmp_path / "state" / "journal")


def announce(path, host, name, boot_id=None):
    """What a session that was killed right after its change leaves behind."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    knob = KNOBS.get(name)
    request = Request(cpus=(3,), services=("cron",))
    previous = knob.read(host, request)
    wanted = knob.wanted(host, request, previous)
    HostJournal(path).announce(name, previous, wanted, boot_id or host.boot_id())
    knob.apply(host, wanted)


def test_settings_hold_inside_and_are_back_outside(host, path):
    with quiet(["autogroup"], journal_path=path, host=host) as state:
        assert host.read(AUTOGROUP) == "0"
        assert state.applied == {
            "autogroup": {"before": {AUTOGROUP: "1"}, "after": {AUTOGROUP: "0"}}
        }
    assert host.read(AUTOGROUP) == "1"


def test_an_exception_inside_restores_too(host, path):
    with pytest.raises(ZeroDivisionError), quiet(["autogroup"], journal_path=path, host=host):
        raise ZeroDivisionError
    assert host.read(AUTOGROUP) == "1"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_that_ends_the_process_restores_first(host, path, number):
    former = signal.signal(number, signal.SIG_DFL)
    try:
        with pytest.raises(SystemExit) as caught, quiet(["turbo"], journal_path=path, host=host):
            os.kill(os.getpid(), number)
        assert caught.value.code == 128 + number
        assert signal.getsignal(number) is signal.SIG_DFL
    finally:
        signal.signal(number, former)
    assert host.read("/sys/devices/system/cpu/intel_pstate/no_turbo") == "0"


def test_a_handler_of_the_caller_is_left_alone(host, path):
    seen: list[int] = []
    former = signal.signal(signal.SIGTERM, lambda number, _: seen.append(number))
    try:
        with quiet(["turbo"], journal_path=path, host=host):
            os.kill(os.getpid(), signal.SIGTERM)
    finally:
        signal.signal(signal.SIGTERM, former)
    assert seen == [signal.SIGTERM]


def test_a_later_session_first_puts_back_what_a_killed_one_left(host, path):
    before = snapshot(host)
    announce(path, host, "autogroup")
    announce(path, host, "cpu-shield")
    with quiet(["turbo"], journal_path=path, host=host) as state:
        assert state.recovered.knobs == ("cpu-shield", "autogroup")
        assert host.read(AUTOGROUP) == "1"
    assert snapshot(host) == before


def test_what_can_still_not_be_put_back_outlives_a_later_session(host, path):
    announce(path, host, "autogroup")
    host.refuse[AUTOGROUP] = 5
    with quiet(["turbo"], journal_path=path, host=host) as state:
        assert [name for name, _ in state.recovered.failures] == ["autogroup"]
    assert [change.knob for change in HostJournal(path).pending] == ["autogroup"]


def test_a_second_session_is_refused_while_the_first_lives(host, path):
    with (
        quiet(["turbo"], journal_path=path, host=host),
        pytest.raises(BusyError, match=f"process {os.getpid()}"),
        quiet(["turbo"], journal_path=path, host=host),
    ):
        pass


def test_restore_is_refused_while_a_session_lives(host, path):
    with quiet(["turbo"], journal_path=path, host=host), pytest.raises(BusyError):
        restore_host(path, host)


def test_restoring_when_nothing_was_left_does_nothing(host, path):
    before = snapshot(host)
    done = restore_host(path, host)
    assert (done.knobs, done.failures) == ((), ())
    assert snapshot(host) == before


def test_an_unknown_knob_is_named_before_anything_is_changed(host, path):
    before = snapshot(host)
    with (
        pytest.raises(UnknownNameError, match="tubro"),
        quiet(["turbo", "tubro"], journal_path=path, host=host),
    ):
        pass
    assert snapshot(host) == before


def test_knobs_come_in_their_order_whatever_order_they_are_named_in():
    names = [knob.name for knob in ordered_knobs(["cpu-shield", "governor", "smt"])]
    assert names == ["smt", "governor", "cpu-shield"]
    assert [k.name for k in ordered_knobs(None)] == [k.name for k in ordered_knobs(["default"])]
    assert {knob.name for knob in ordered_knobs(["all"])} == set(KNOBS.names())


def test_after_a_reboot_a_setting_that_the_boot_chose_anew_is_left_alone(host, path):
    announce(path, host, "autogroup", boot_id="an earlier boot")
    host.put(AUTOGROUP, "1")
    host.put("/proc/sys/kernel/numa_balancing", "1")
    before = snapshot(host)
    restore_host(path, host)
    assert snapshot(host) == before
    assert not os.path.exists(path)


def test_after_a_reboot_a_setting_that_is_still_ours_is_put_back(host, path):
    announce(path, host, "autogroup", boot_id="an earlier boot")
    restore_host(path, host)
    assert host.read(AUTOGROUP) == "1"


def test_after_a_reboot_swap_that_the_boot_did_not_bring_back_is_switched_on(host, path):
    before = host.read("/proc/swaps")
    announce(path, host, "swap", boot_id="an earlier boot")
    host.swap_on("/dev/sda2", -1)
    restore_host(path, host)
    assert host.read("/proc/swaps") == before


def test_after_a_reboot_nothing_is_done_about_processes_that_are_gone(host, path):
    announce(path, host, "cpu-shield", boot_id="an earlier boot")
    moved = dict(host.tasks)
    restore_host(path, host)
    assert host.tasks == moved
    assert not os.path.exists(path)


def test_a_service_that_did_not_run_is_not_started(host, path):
    request = Request(services=("cron", "cups"))
    with quiet(["services"], request, journal_path=path, host=host):
        assert host.running_services == {"cron": False, "cups": False}
    assert host.running_services == {"cron": True, "cups": False}


def test_a_service_that_is_not_known_is_refused_by_name(host, path):
    with quiet(["services"], Request(services=("nosuch",)), journal_path=path, host=host) as state:
        assert "nosuch" in state.refused["services"]
