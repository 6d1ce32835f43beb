"""What is kept of the machine with every experiment."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from steelyard.host.facts import host_facts, virtualisation
from tests.unit.host.fake_host import BOOT, FakeHost


def test_the_facts_of_this_machine_are_json_and_name_kernel_and_cpus():
    facts = host_facts()
    json.dumps(facts)
    assert facts["kernel"] == os.uname().release
    assert facts["cpus_allowed"] == sorted(os.sched_getaffinity(0))
    assert facts["memory_bytes"] > 2**20
    assert facts["boot_id"]


def test_facts_are_read_from_the_kernels_files(tmp_path):
    facts = host_facts(FakeHost(tmp_path))
    assert facts["boot_id"] == BOOT
    assert facts["aslr"] == 2
    assert facts["governor"] is None
    assert facts["turbo"] is True
    assert facts["smt"] is True
    assert facts["transparent_hugepages"] == "madvise"
    assert facts["clock_source"] == "tsc"
    assert facts["cpu_model"] == "Fake CPU"
    assert facts["memory_bytes"] == 1000 * 1024
    assert facts["virtualisation"] is None


def test_what_a_machine_does_not_show_is_none(tmp_path):
    facts = host_facts(FakeHost(tmp_path / "empty"))
    host = FakeHost(tmp_path / "bare")
    host.remove("/proc")
    host.remove("/sys")
    bare = host_facts(host)
    assert set(bare) == set(facts)
    assert bare["cpu_model"] is None
    assert bare["memory_bytes"] is None
    assert bare["turbo"] is None


@pytest.mark.parametrize(
    ("vendor", "flags", "kind"),
    [
        ("QEMU", "fpu hypervisor", "qemu"),
        ("Amazon EC2", "fpu", "amazon"),
        ("Microsoft Corporation", "fpu", None),
        ("Microsoft Corporation", "fpu hypervisor", "hyper-v"),
        ("Dell Inc.", "fpu", None),
        (None, "fpu hypervisor", "unknown"),
    ],
)
def test_a_virtual_machine_is_known_by_its_vendor_or_its_cpu(tmp_path, vendor, flags, kind):
    host = FakeHost(tmp_path)
    host.put("/proc/cpuinfo", f"flags : {flags}")
    if vendor:
        host.put("/sys/class/dmi/id/sys_vendor", vendor)
    assert virtualisation(host) == kind


def test_the_way_of_a_measurement_imports_the_standard_library_alone():
    code = (
        "import sys; before = set(sys.modules); import steelyard.host.facts, steelyard.host.lock;"
        "print(*sorted(m.partition('.')[0] for m in set(sys.modules) - before))"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    loaded = set(out.stdout.split())
    assert loaded & {"steelyard"}
    assert not loaded & {"subprocess", "ctypes", "dataclasses", "inspect", "pathlib", "json"}
