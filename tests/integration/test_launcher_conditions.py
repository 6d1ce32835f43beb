"""The conditions that a program asks for are the conditions that it finds."""

from __future__ import annotations

import ctypes
import os
import resource
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from steelyard.core.errors import LauncherDiedError, MissingCapabilityError, UsageError
from steelyard.core.experiment_spec import LaunchSpec, MetricSpec, Variant
from steelyard.measure.preflight import check_launch
from tests.launching import WALL_TIME, command, run, sh
from tests.needs import needed

COUNTERS = (
    "cycles",
    "instructions",
    "cache_misses",
    "branch_misses",
    "page_faults",
    "context_switches",
    "task_clock",
)


def output_of(tmp_path: Path, variant: Variant) -> tuple[str, dict[str, Any]]:
    (record,) = run(tmp_path, variant, keep_output=True)
    assert record["status"] == "ok", record
    return Path(record["output"]).read_text(), record


def test_the_program_runs_on_the_cpus_asked_for(tmp_path: Path) -> None:
    cpu = max(os.sched_getaffinity(0))
    found, record = output_of(tmp_path, sh("grep Cpus_allowed_list /proc/$$/status", cpus=(cpu,)))
    assert found.split()[1] == str(cpu)
    assert record["realised"] == {"cpus": str(cpu)}


def test_cpus_that_the_machine_lacks_fail_the_trial(tmp_path: Path) -> None:
    (record,) = run(tmp_path, command("true", cpus=(1023,)))
    assert record["reason"] == "spawn"
    assert "cannot set the CPUs: Invalid argument" in record["error"]


def test_address_randomisation_can_be_switched_off(tmp_path: Path) -> None:
    cat = needed("cat")
    variants = [command(cat, "/proc/self/maps", aslr=False) for _ in range(3)]
    records = run(tmp_path, *variants, keep_output=True)
    assert len({Path(record["output"]).read_text() for record in records}) == 1
    assert records[0]["realised"] == {"aslr": False}


def test_address_randomisation_can_be_asked_for(tmp_path: Path) -> None:
    if Path("/proc/sys/kernel/randomize_va_space").read_text().strip() == "0":
        pytest.skip("this machine randomises nothing")
    variants = [command(needed("cat"), "/proc/self/maps", aslr=True) for _ in range(3)]
    records = run(tmp_path, *variants, keep_output=True)
    assert len({Path(record["output"]).read_text() for record in records}) == 3
    assert records[0]["realised"] == {"aslr": True}


def test_niceness_is_set(tmp_path: Path) -> None:
    wanted = min(19, os.nice(0) + 3)
    found, record = output_of(tmp_path, command(needed("nice"), nice=wanted))
    assert int(found) == wanted
    assert record["realised"] == {"nice": wanted}


def test_real_time_priority_is_set_or_its_refusal_is_told(tmp_path: Path) -> None:
    script = 'cut -d" " -f40,41 /proc/$$/stat'
    (record,) = run(tmp_path, sh(script, realtime_priority=2), keep_output=True)
    if record["status"] == "failed":
        assert "cannot set the real-time priority" in record["error"]
        pytest.skip("this user may not ask for real-time priority")
    assert Path(record["output"]).read_text().split() == ["2", "1"]  # priority, SCHED_FIFO
    assert record["realised"] == {"realtime_priority": 2}


def test_limits_are_set(tmp_path: Path) -> None:
    limits = (("NOFILE", 77), ("core", 0))
    found, _ = output_of(tmp_path, sh("ulimit -n; ulimit -c", limits=limits))
    assert found.split() == ["77", "0"]


def test_a_limit_that_may_not_be_raised_fails_the_trial(tmp_path: Path) -> None:
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    (record,) = run(tmp_path, command("true", limits=(("NOFILE", max(hard, 1 << 31) + 1),)))
    assert record["reason"] == "spawn"
    assert "cannot set a resource limit: Operation not permitted" in record["error"]


def test_a_limit_that_does_not_exist_is_reported(tmp_path: Path) -> None:
    with pytest.raises((LauncherDiedError, UsageError), match="no resource limit 'PATIENCE'"):
        run(tmp_path, command("true", limits=(("PATIENCE", 1),)))


def test_a_private_network_has_no_interface_that_is_up(tmp_path: Path) -> None:
    try:
        found, record = output_of(
            tmp_path, command(needed("cat"), "/proc/self/net/dev", private_network=True)
        )
    except LauncherDiedError as error:
        assert "user namespaces" in str(error)  # noqa: PT017
        pytest.skip("this machine allows no private network")
    interfaces = {line.split(":")[0].strip() for line in found.splitlines() if ":" in line}
    assert "lo" in interfaces
    assert not any(name.startswith(("eth", "en", "wl")) for name in interfaces)
    assert record["realised"] == {"private_network": True}


def test_environment_changes_reach_the_program_alone(tmp_path: Path) -> None:
    os.environ["STEELYARD_TEST_GONE"] = "here"
    try:
        changes = (("STEELYARD_TEST_GONE", None), ("STEELYARD_TEST_NEW", "a=b"))
        found, _ = output_of(tmp_path, command(needed("env"), environment=changes))
    finally:
        del os.environ["STEELYARD_TEST_GONE"]
    assert "STEELYARD_TEST_GONE" not in found
    assert "STEELYARD_TEST_NEW=a=b" in found.splitlines()
    assert "STEELYARD_TEST_NEW" not in os.environ


@pytest.mark.parametrize("size_bytes", [1, 1000, 100_000])
def test_the_environment_is_padded_by_as_many_bytes(tmp_path: Path, size_bytes: int) -> None:
    script = 'printf %s "$STEELYARD_PADDING" | wc -c'
    found, _ = output_of(tmp_path, sh(script, environment_padding_bytes=size_bytes))
    assert int(found) == size_bytes


def test_the_stack_starts_lower_by_the_padding(tmp_path: Path) -> None:
    starts: list[int] = []
    for padding in (0, 64, 1024, 3000):
        launch = LaunchSpec(
            (needed("cat"), "/proc/self/stat"), aslr=False, stack_padding_bytes=padding
        )
        found, _ = output_of(tmp_path, Variant("cat", launch))
        starts.append(int(found.rpartition(")")[2].split()[25]))
    if starts[0] == 0:
        pytest.skip("this user may not read the start of the stack")
    shifts = [starts[0] - start for start in starts]
    assert all(
        abs(shift - padding) < 16
        for shift, padding in zip(shifts, (0, 64, 1024, 3000), strict=True)
    )


def test_a_held_stack_starts_at_one_place_whatever_the_environment(tmp_path: Path) -> None:
    starts: set[int] = set()
    for padding in (0, 1, 16, 1000, 3999):
        launch = LaunchSpec(
            (needed("cat"), "/proc/self/stat"),
            aslr=False,
            environment_padding_bytes=padding,
            stack_hold_bytes=4000,
        )
        found, _ = output_of(tmp_path, Variant("cat", launch))
        starts.add(int(found.rpartition(")")[2].split()[25]))
    if starts == {0}:
        pytest.skip("this user may not read the start of the stack")
    assert len(starts) == 1


def test_a_stack_padding_beyond_the_kernels_limit_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="not within 0 to"):
        run(tmp_path, command("true", stack_padding_bytes=5000))


def may_count() -> bool:
    """Whether the kernel lets this user count its own time, asked without the launcher."""
    number = {"x86_64": 298, "aarch64": 241}[os.uname().machine]
    task_clock = (1).to_bytes(4, "little") + (112).to_bytes(4, "little") + (1).to_bytes(8, "little")
    attributes = bytearray(112)  # perf_event_attr: type, size, config, ..., flags
    attributes[: len(task_clock)] = task_clock
    attributes[40] = 1 << 5 | 1 << 6  # exclude_kernel, exclude_hv
    buffer = (ctypes.c_char * len(attributes)).from_buffer(attributes)
    libc = ctypes.CDLL(None, use_errno=True)
    descriptor = libc.syscall(number, buffer, 0, -1, -1, 0)
    if descriptor >= 0:
        os.close(descriptor)
    return descriptor >= 0


def counter_specs(names: Sequence[str]) -> list[MetricSpec]:
    return [WALL_TIME, *(MetricSpec(name, "count", source="counter") for name in names)]


def test_counters_are_null_where_the_machine_lacks_them_and_never_zero(tmp_path: Path) -> None:
    busy = sh("i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done")
    (record,) = run(tmp_path, busy, metrics=counter_specs(COUNTERS))
    counters = record["counters"]
    assert set(counters) == {name.replace("_", "-") for name in COUNTERS}
    for name in ("cycles", "instructions", "page-faults", "task-clock"):
        assert counters[name] is None or counters[name]["value"] > 0
    for count in filter(None, counters.values()):
        assert 0 < count["running_ns"] <= count["enabled_ns"]


def test_counters_count_the_program_with_its_children_and_nothing_else(tmp_path: Path) -> None:
    light, heavy = (
        sh(f"(i=0; while [ $i -lt {turns} ]; do i=$((i+1)); done)") for turns in (1, 300_000)
    )
    records = run(tmp_path, light, heavy, light, metrics=counter_specs(["task_clock"]))
    counts = [record["counters"]["task-clock"] for record in records]
    if None in counts and not may_count():
        pytest.skip("this user may not count")
    assert counts[1]["value"] > 3 * max(counts[0]["value"], counts[2]["value"])
    used_us = records[1]["rusage"]["user_us"] + records[1]["rusage"]["system_us"]
    # The clock runs on where a neighbour of this virtual machine has the processor. That usage
    # leaves out; but one of both processes always waits, so that there is no more than has passed.
    assert 0.8 * used_us * 1e3 <= counts[1]["value"] <= 1.01 * records[1]["spent_ns"]


def test_no_counter_is_opened_unless_asked_for(tmp_path: Path) -> None:
    (record,) = run(tmp_path, command("true"))
    assert record["counters"] == {}


def test_memory_comes_from_the_nodes_asked_for(tmp_path: Path) -> None:
    if not Path("/sys/devices/system/node/node0").exists():
        pytest.skip("this kernel does not show memory nodes")
    found, record = output_of(tmp_path, sh("cat /proc/$$/numa_maps", memory_nodes=(0,)))
    assert record["realised"] == {"memory_nodes": "0"}
    assert " bind:0 " in found


def test_a_memory_node_that_the_machine_lacks_fails_the_trial(tmp_path: Path) -> None:
    (record,) = run(tmp_path, command("true", memory_nodes=(63,)))
    assert record["reason"] == "spawn"
    assert "cannot set the memory nodes" in record["error"]


def test_the_clocks_from_boot_are_shifted_and_the_time_of_day_is_not(tmp_path: Path) -> None:
    try:
        check_launch(LaunchSpec(("true",), clock_shift_s=1))
    except MissingCapabilityError as error:
        pytest.skip(error.message)
    script = "cut -d' ' -f1 /proc/uptime; date +%s"
    plain, _ = output_of(tmp_path, sh(script))
    shifted, record = output_of(tmp_path, sh(script, clock_shift_s=100_000))
    (uptime_s, day_s), (later_s, same_s) = (map(float, t.split()) for t in (plain, shifted))
    # The kernel prints hundredths of a second; the difference of their floats may fall short.
    passed_cs = round(100 * later_s) - round(100 * uptime_s)
    assert 100_000_00 <= passed_cs < 100_100_00
    assert 0 <= same_s - day_s < 100
    assert record["realised"] == {"clock_shift_s": 100_000}
    assert record["wall_ns"] < 100e9


def test_warm_up_runs_come_before_the_measured_one_and_leave_no_record(tmp_path: Path) -> None:
    log = tmp_path / "log"
    (record,) = run(tmp_path, sh(f"echo run >> {log}; echo said >&2", warmup_runs=3))
    assert log.read_text() == "run\n" * 4
    assert record["realised"] == {"warmup_runs": 3}
    assert record["status"] == "ok"


def test_a_warm_up_run_that_fails_fails_the_trial(tmp_path: Path) -> None:
    (record,) = run(tmp_path, sh("exit 3", warmup_runs=1))
    assert record["reason"] == "prepare"
    assert record["error"] == "Its warm-up run failed (exit)."
    assert record["wall_ns"] is None


@pytest.mark.parametrize(
    ("launch", "factor"),
    [({"memory_nodes": (63,)}, "numa-node"), ({"clock_shift_s": 1}, "clock-shift")],
)
def test_what_this_machine_cannot_do_is_refused_by_name_before_any_trial(
    launch: dict[str, Any], factor: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(MissingCapabilityError, match=f"The factor {factor} cannot be realised"):
        check_launch(LaunchSpec(("true",), **launch))
