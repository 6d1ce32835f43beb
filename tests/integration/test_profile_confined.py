"""What a sampler may be denied: open files, and CPUs."""

from __future__ import annotations

import os
import resource
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from steelyard.profile.sampler_command import sampler_path
from tests.integration.conftest import Told, User
from tests.integration.profiling import NO_SAMPLES, sampled
from tests.needs import need
from tests.patience import awaited, said_by

BUSY = (sys.executable, "-c", "sum(i * i for i in range(2_000_000))")
# Where version 1 of control groups keeps those of CPUs, and version 2 all.
GROUPS = (Path("/sys/fs/cgroup/cpuset"), Path("/sys/fs/cgroup"))


def confined(user: User, confine: Callable[[], None], *words: str) -> Told:
    """`steelyard profile` with these words, confined before it begins."""
    process = user.start("profile", *words, preexec_fn=confine)
    out, err = said_by(process)
    if process.returncode == NO_SAMPLES:
        pytest.skip(f"this machine gives no samples: {err.decode()}")
    return Told(process.returncode, out.decode(), err.decode())


def report(user: User) -> dict[str, Any]:
    """What the profile in the user's folder says."""
    return user.types("profile", "report", "--json", "-").document()


@pytest.fixture
def last_cpu() -> Iterator[Path]:
    """A control group of the last CPU; skips where none can be made."""
    cpu = max(os.sched_getaffinity(0))
    for root in GROUPS:
        group = root / f"steelyard-test-{os.getpid()}"
        with suppress(OSError):
            group.mkdir()
            try:
                (group / "cpuset.cpus").write_text(str(cpu))
                (group / "cpuset.mems").write_text("0")
                yield group
                return
            finally:
                group.rmdir()
    pytest.skip("a control group of CPUs takes root and a cpuset controller")


def test_a_sampler_that_may_open_few_files_still_samples(user: User) -> None:
    limit = 64 + 8 * (os.cpu_count() or 1)

    def confine() -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))

    told = confined(user, confine, "record", "--", *BUSY)
    assert told.status == 0, told.err
    assert report(user)["samples"] > 0


def test_a_program_in_a_group_of_one_cpu_is_sampled_there(user: User, last_cpu: Path) -> None:
    def confine() -> None:
        (last_cpu / "cgroup.procs").write_text("0")

    told = confined(user, confine, "record", "--", *BUSY)
    assert told.status == 0, told.err
    assert report(user)["samples"] > 0


def test_a_process_on_cpus_out_of_reach_is_watched_by_its_threads(
    user: User, last_cpu: Path
) -> None:
    need("sh")

    def confine() -> None:
        (last_cpu / "cgroup.procs").write_text("0")

    if len(os.sched_getaffinity(0)) == 1:
        pytest.skip("this machine has no CPU outside of the group")
    with subprocess.Popen(["sh", "-c", "while :; do :; done"]) as outside:
        told = confined(user, confine, "record", "--duration", "300ms", "--pid", str(outside.pid))
        outside.kill()
    assert told.status == 0, told.err
    assert report(user)["samples"] > 0


# Leaves the group that it was started in for one with all CPUs, and computes on others than before.
LEAVING = """
import os, sys, time
others = set(range(os.cpu_count())) - os.sched_getaffinity(0)
open(sys.argv[1], "w").write("0")
os.sched_setaffinity(0, others)
while time.process_time() < 2.0:
    sum(i * i for i in range(100_000))
"""


def test_what_a_program_does_on_cpus_that_it_comes_to_later_is_told_and_widens(
    user: User, last_cpu: Path
) -> None:
    if os.cpu_count() == 1:
        pytest.skip("this machine has no CPU outside of the group")

    def confine() -> None:
        (last_cpu / "cgroup.procs").write_text("0")

    program = (sys.executable, "-c", LEAVING, str(last_cpu.parent / "cgroup.procs"))
    told = confined(user, confine, "record", "--", *program)
    assert told.status == 0, told.err
    document = report(user)
    assert document["unwatched_ratio"] > 0.3
    (warning,) = [item for item in document["warnings"] if item["code"] == "unwatched-threads"]
    assert "CPUs that were not watched" in warning["message"]
    assert document["functions"][0]["share"]["low"] <= 1 - document["unwatched_ratio"]


def test_a_sampler_that_fails_on_a_cpu_says_so(
    user: User, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    need("strace")
    sampled(user, "record", "--", *BUSY)
    denying = tmp_path / "denying"
    inject = "inject=sched_setaffinity:error=EINVAL"
    words = ("strace", "-f", "-o", "/dev/null", "-e", "trace=sched_setaffinity", "-e", inject)
    denying.write_text(f'#!/bin/sh\nexec {shlex.join((*words, sampler_path()))} "$@"\n')
    denying.chmod(0o755)
    monkeypatch.setitem(user.environment, "STEELYARD_SAMPLER", str(denying))
    told = user.types("profile", "record", "--", *BUSY)
    assert told.status == 2
    assert "The sampler cannot run on CPU" in told.err
    assert "for each of 3 choices" in told.err


def waits_to_be_on_its_cpus(group: Path) -> bool:
    """Whether a sampler in the group has threads of its own, which go to a CPU first."""
    for process in (group / "cgroup.procs").read_text().split():
        with suppress(OSError):
            if os.path.realpath(f"/proc/{process}/exe") == os.path.realpath(sampler_path()):
                return len(os.listdir(f"/proc/{process}/task")) > 1
    return False


def test_a_sampler_whose_cpu_is_taken_before_it_runs_there_chooses_again(
    user: User, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, last_cpu: Path
) -> None:
    need("strace")
    cpus = sorted(os.sched_getaffinity(0))
    if len(cpus) == 1:
        pytest.skip("this machine has no CPU outside of the group that is made")
    sampled(user, "record", "--", *BUSY)
    slow = tmp_path / "slow"
    # Of each thread the first; there is time enough to take a CPU before it goes there, and for
    # the others to be let go before the one that went first waits for anything.
    calls = "sched_setaffinity,ppoll"
    inject = f"inject={calls}:delay_enter=1000000:when=1"
    words = ("strace", "-f", "-o", "/dev/null", "-e", f"trace={calls}", "-e", inject)
    slow.write_text(f'#!/bin/sh\nexec {shlex.join((*words, sampler_path()))} "$@"\n')
    slow.chmod(0o755)
    monkeypatch.setitem(user.environment, "STEELYARD_SAMPLER", str(slow))
    (last_cpu / "cpuset.cpus").write_text(",".join(map(str, cpus)))

    def confine() -> None:
        (last_cpu / "cgroup.procs").write_text("0")

    process = user.start("profile", "record", "--", *BUSY, preexec_fn=confine)
    awaited(lambda: process.poll() is not None or waits_to_be_on_its_cpus(last_cpu))
    (last_cpu / "cpuset.cpus").write_text(str(cpus[-1]))
    _, err = said_by(process)
    assert process.returncode == 0, err.decode()
    assert report(user)["samples"] > 0


def test_who_may_not_watch_a_process_is_not_advised_to_set_what_is_set() -> None:
    need("setpriv")
    level = Path("/proc/sys/kernel/perf_event_paranoid")
    if os.geteuid() != 0 or not level.exists() or not 0 < int(level.read_text()) <= 2:
        pytest.skip("it takes root, and kernel.perf_event_paranoid at 1 or 2")
    nobody = ("setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups")
    if subprocess.run([*nobody, "test", "-x", sampler_path()], check=False).returncode:
        pytest.skip(f"other users may not execute {sampler_path()}")
    words = ("--output", "/dev/null", "--header", "{}", "--report", "1")
    told = subprocess.run(
        [*nobody, sampler_path(), *words, "--pid", str(os.getpid())],
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    ).stdout
    assert told.startswith("error: ")
    assert "sysctl" not in told
    assert "another user's" in told
