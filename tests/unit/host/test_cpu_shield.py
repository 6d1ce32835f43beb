"""The CPU shield on machines with both versions of cgroups, and with none."""

from __future__ import annotations

import errno
import os

import pytest

from steelyard.host.cpuset import find_cpuset
from steelyard.host.knob import Request
from steelyard.host.properties.cpu_shield import KNOB as SHIELD
from steelyard.host.quiet import quiet
from tests.unit.host.fake_host import FakeHost, snapshot

REQUEST = Request(cpus=(3,))


@pytest.fixture
def shielded(tmp_path):
    def enter(host, request=REQUEST):
        return quiet(["cpu-shield"], request, journal_path=str(tmp_path / "journal"), host=host)

    return enter


def test_version_1_moves_tasks_narrows_groups_and_keeps_this_process_out(tmp_path, shielded):
    host = FakeHost(tmp_path / "host", cgroup=1)
    with shielded(host) as state:
        assert host.members(f"{host.top}/steelyard-rest") == [1, 100, 200]
        assert host.read(f"{host.top}/steelyard-rest/cpuset.cpus") == "0-1"
        assert host.read(f"{host.top}/docker/cpuset.cpus") == "0-1"
        assert host.members(f"{host.top}/steelyard-own") == [os.getpid()]
        assert host.affinity(os.getpid()) == (0, 1)
        assert state.launch_changes == {"cpus": (3,)}
        assert state.applied["cpu-shield"]["after"] == {
            "program": "3",
            "rest": "0-1",
            "means": "cgroup v1",
        }


def test_kernel_threads_that_belong_to_a_cpu_are_told_and_no_error(tmp_path, shielded):
    host = FakeHost(tmp_path / "host", cgroup=1)
    with shielded(host) as state:
        assert host.members(host.top) == [2, 30]
        assert "2 kernel threads are bound to their CPUs and stay" in state.notes["cpu-shield"]


def test_version_2_hands_out_the_controller_and_takes_it_back(tmp_path, shielded):
    host = FakeHost(tmp_path / "host", cgroup=2)
    with shielded(host):
        assert "cpuset" in (host.read(f"{host.top}/cgroup.subtree_control") or "")
        assert host.read(f"{host.top}/user/cpuset.cpus") == "0-1"
        assert host.members(f"{host.top}/steelyard-own") == [os.getpid()]
    assert host.read(f"{host.top}/cgroup.subtree_control") == "cpu"
    assert os.getpid() in host.members(f"{host.top}/user")


def test_on_a_hybrid_machine_the_hierarchy_with_the_controller_is_found(tmp_path):
    host = FakeHost(tmp_path, cgroup=1)
    mounts = host.read("/proc/self/mountinfo")
    host.put(
        "/proc/self/mountinfo",
        f"{mounts}\n3 1 0:5 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n"
        "4 1 0:6 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory",
    )
    host.put("/sys/fs/cgroup/unified/cgroup.controllers", "hugetlb")
    assert find_cpuset(host) == (1, "/sys/fs/cgroup/cpuset")


def test_a_container_that_may_not_hand_out_cpusets_falls_back_to_affinity(tmp_path, shielded):
    host = FakeHost(tmp_path / "host", cgroup=2)
    host.put(f"{host.top}/cgroup.type", "domain")
    before = snapshot(host)
    with shielded(host) as state:
        assert host.affinity(100) == (0, 1, 2)
        assert state.notes["cpu-shield"][0].startswith("by affinity alone: this container")
    assert snapshot(host) == before


def test_without_cgroups_threads_are_moved_by_affinity(tmp_path, shielded):
    host = FakeHost(tmp_path / "host", cgroup=0)
    with shielded(host) as state:
        assert host.affinity(1) == (0, 1, 2)
        assert host.affinity(200) == (2,)
        assert host.affinity(30) == (3,)
        assert state.applied["cpu-shield"]["after"]["means"] == "affinity"
    assert host.affinity(200) == (2, 3)


def test_a_process_that_a_moved_one_started_is_widened_with_it(tmp_path, shielded):
    host = FakeHost(tmp_path / "host", cgroup=0)
    with shielded(host):
        host.add_task(900, "child", parent=100, cpus=host.affinity(100))
        host.add_task(901, "pinned since", parent=100, cpus=(1,))
    assert host.affinity(900) == (0, 1, 2, 3)
    assert host.affinity(901) == (1,)


def test_a_thread_whose_number_was_given_anew_is_left_alone(tmp_path, shielded):
    host = FakeHost(tmp_path / "host", cgroup=0)
    with shielded(host):
        host.add_task(200, "another", cpus=(0,))
        host.put("/proc/200/stat", (host.read("/proc/200/stat") or "").replace("2000", "9999"))
    assert host.affinity(200) == (0,)


def test_an_interrupt_that_refuses_to_move_is_told_and_no_error(tmp_path, shielded):
    host = FakeHost(tmp_path / "host", cgroup=1)
    host.refuse["/proc/irq/17/smp_affinity_list"] = errno.EIO
    with shielded(host) as state:
        assert host.read("/proc/irq/16/smp_affinity_list") == "0-2"
        assert host.read("/proc/irq/18/smp_affinity_list") == "0"
        assert host.read("/proc/irq/default_smp_affinity") == "00000007"
        assert host.read("/sys/devices/virtual/workqueue/cpumask") == "7"
        assert any("/proc/irq/17" in note for note in state.notes["cpu-shield"])
    assert state.restored is not None
    assert state.restored.failures == ()


def test_a_group_that_appears_or_goes_meanwhile_is_no_reason_to_fail(tmp_path, shielded):
    host = FakeHost(tmp_path / "host", cgroup=1)
    with shielded(host) as state:
        host.remove(f"{host.top}/docker/inner")
        host.make_directory(f"{host.top}/new")
    assert state.restored is not None
    assert state.restored.failures == ()
    assert host.read(f"{host.top}/docker/cpuset.cpus") == "0-3"


@pytest.mark.parametrize(
    ("cpus", "words"),
    [((9,), "CPU 9 is not online"), ((0, 1, 2, 3), "at least one CPU must be left")],
)
def test_cpus_that_cannot_be_shielded_are_refused_with_the_reason(tmp_path, cpus, words):
    assert words in (SHIELD.available(FakeHost(tmp_path), Request(cpus=cpus)) or "")


def test_the_only_cpu_cannot_be_shielded(tmp_path):
    host = FakeHost(tmp_path)
    host.put("/sys/devices/system/cpu/online", "0")
    assert "only CPU" in (SHIELD.available(host, Request()) or "")


def test_the_other_hardware_thread_of_a_shielded_core_is_kept_idle(tmp_path, shielded):
    host = FakeHost(tmp_path / "host", cgroup=1)
    with shielded(host, Request(cpus=(2,))):
        assert host.affinity(os.getpid()) == (0, 1)
    with shielded(host, Request(cpus=(0, 2))):
        assert host.affinity(os.getpid()) == (1, 3)
