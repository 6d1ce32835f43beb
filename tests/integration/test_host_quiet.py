"""`steelyard host quiet -- CMD` and `restore` on this machine, which is given back each time."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from steelyard.host.knob import Request
from steelyard.host.properties import KNOBS
from steelyard.host.restore import restore_host
from steelyard.host.system import Host
from tests.integration.host_sandbox import run_in_sandbox, sandbox_reason
from tests.needs import need, needs_root
from tests.patience import PATIENCE_S

AUTOGROUP = "/proc/sys/kernel/sched_autogroup_enabled"
HUGE = "/sys/kernel/mm/transparent_hugepage/enabled"
pytestmark = pytest.mark.usefixtures("alone")


def needs_writable(path: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(not os.access(path, os.W_OK), reason=f"{path} cannot be written")


@pytest.fixture
def quiet(user):
    journal = str(user.home / "host.journal")
    user.environment["STEELYARD_HOST_JOURNAL"] = journal

    def run(*arguments: str):
        return user.types("host", "quiet", *arguments)

    yield run
    # Also when a test failed between a kill and its restoration.
    if os.path.exists(journal):
        restore_host(journal)


def readings() -> dict[str, object]:
    """The state of each knob that is about the machine and not about its processes."""
    host = Host()
    request = Request(cpus=(0,))
    return {
        knob.name: knob.read(host, request)
        for knob in KNOBS
        if knob.name not in ("cpu-shield", "services")
    }


def test_the_exit_status_is_that_of_the_command(quiet):
    assert quiet("--knob", "aslr", "--", "sh", "-c", "exit 7").status == 7
    assert quiet("--knob", "aslr", "--", "sh", "-c", "kill -TERM $$").status == 128 + 15


def test_standard_output_is_the_commands_alone(quiet):
    told = quiet("--knob", "aslr", "--", "echo", "hello")
    assert told.out == "hello\n"
    assert "quiet: aslr" in told.err


def test_the_program_runs_without_address_randomisation(quiet):
    told = quiet("--knob", "aslr", "--", "cat", "/proc/self/personality")
    assert int(told.out, 16) & 0x0040000


def test_a_command_that_is_not_there_is_named(quiet):
    told = quiet("--knob", "aslr", "--", "no-such-program")
    assert told.status == 4
    assert "could not be started: no-such-program: " in told.err


def test_an_unknown_knob_is_refused_with_the_known_ones(quiet):
    told = quiet("--knob", "aslrr", "--", "true")
    assert told.status == 2
    assert "cpu-shield" in told.err


@needs_root
@needs_writable(AUTOGROUP)
@needs_writable(HUGE)
def test_settings_of_the_kernel_hold_for_the_command_and_are_put_back(quiet):
    before = readings()
    told = quiet(
        "--knob", "autogroup", "--knob", "transparent-hugepages", "--", "cat", AUTOGROUP, HUGE
    )
    assert told.out == "0\nalways madvise [never]\n"
    assert readings() == before


@needs_root
def test_the_working_directory_is_in_memory_and_gone_afterwards(quiet):
    told = quiet("--knob", "ramdisk", "--", "sh", "-c", "pwd; cp /bin/sh x; stat -f -c %T .")
    if "ramdisk" in told.err.partition("not quiet:")[2]:
        pytest.skip(f"nothing can be mounted here: {told.err}")
    directory, kind = told.out.split()
    assert kind in ("tmpfs", "ramfs")
    assert not os.path.exists(directory)
    assert directory not in Path("/proc/mounts").read_text()


@needs_root
def test_the_command_has_no_network_and_the_machine_keeps_its_own(quiet):
    before = Path("/proc/net/dev").read_text().count(":")
    told = quiet("--knob", "network", "--", "cat", "/proc/net/dev")
    if "network namespace" in told.err:
        pytest.skip(f"no network namespace can be made here: {told.err}")
    assert [line.split(":")[0].strip() for line in told.out.splitlines()[2:]] == ["lo"]
    assert Path("/proc/net/dev").read_text().count(":") == before


@needs_root
def test_swap_is_off_for_the_command_and_on_again_afterwards(quiet):
    if len(Path("/proc/swaps").read_text().splitlines()) > 1:
        pytest.skip("this machine swaps; emptying its swap could take it down")
    need("mkswap")
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        area = f"{folder}/swap area"
        with open(area, "wb") as file:
            file.write(bytes(2**20))
        os.chmod(area, 0o600)
        subprocess.run(["mkswap", "-q", area], check=True, capture_output=True)
        if subprocess.run(["swapon", area], check=False, capture_output=True).returncode:
            pytest.skip("this file system takes no swap file")
        try:
            before = Path("/proc/swaps").read_text()
            told = quiet("--knob", "swap", "--", "cat", "/proc/swaps")
            assert told.status == 0
            assert len(told.out.splitlines()) == 1
            assert Path("/proc/swaps").read_text() == before
        finally:
            subprocess.run(["swapoff", area], check=True)


@needs_root
@needs_writable(AUTOGROUP)
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_the_command_and_restores_the_machine(user, quiet, number):
    before = readings()
    process = user.start(
        "host", "quiet", "--knob", "autogroup", "--", "sh", "-c", "echo on; exec sleep 1000"
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"on\n"
    assert Path(AUTOGROUP).read_text() == "0\n"
    process.send_signal(number)
    _, err = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 128 + number, err
    assert readings() == before


@needs_root
@needs_writable(AUTOGROUP)
@needs_writable(HUGE)
def test_after_a_kill_restore_puts_back_every_knob_and_the_command_has_ended(user, quiet):
    before = readings()
    # A machine may have this one as it is wanted already.
    switched = {"autogroup"} if Path(AUTOGROUP).read_text() == "1\n" else set()
    knobs = ["aslr", "autogroup", "numa-balancing", "ramdisk", "transparent-hugepages", "turbo"]
    options = [word for name in knobs for word in ("--knob", name)]
    process = user.start("host", "quiet", *options, "--", "sh", "-c", "echo on; exec sleep 1000")
    assert process.stdout is not None
    assert process.stdout.readline() == b"on\n"
    process.kill()
    # The pipe ends when the command has ended: it outlived its session otherwise.
    process.communicate(timeout=PATIENCE_S)
    assert readings() != before
    told = user.types("host", "restore", "--json", "-")
    assert told.status == 0, told.err
    assert switched | {"transparent-hugepages"} <= set(told.document()["restored"])
    assert readings() == before
    assert user.types("host", "restore").out == "nothing was left to put back\n"


SHIELD = """
import os, signal, subprocess, sys
from pathlib import Path

others = [subprocess.Popen(["sleep", "1000"]) for _ in range(3)]
os.sched_setaffinity(others[0].pid, {1})
group = Path("/sys/fs/cgroup/cpuset/docker")
group.mkdir()
for name in ("cpuset.cpus", "cpuset.mems"):
    (group / name).write_text((group.parent / name).read_text())
(group / "tasks").write_text(str(others[1].pid))

def state():
    found = {str(p): p.read_text() for p in Path("/proc/irq").glob("*/smp_affinity_list")}
    for path in ("/proc/irq/default_smp_affinity", "/sys/devices/virtual/workqueue/cpumask"):
        found[path] = Path(path).read_text()
    for other in others:
        found[other.pid] = sorted(os.sched_getaffinity(other.pid))
        found[f"group {other.pid}"] = Path(f"/proc/{other.pid}/cpuset").read_text()
    found["groups"] = sorted(str(p) for p in group.parent.glob("**/"))
    found["cpus"] = (group / "cpuset.cpus").read_text()
    return found

def steelyard(*words):
    return [sys.executable, "-m", "steelyard.cli.main", "host", *words]

before = state()
quiet = steelyard("quiet", "--knob", "cpu-shield", "--cpus", "1", "--", "sh", "-c")
process = subprocess.Popen([*quiet, "echo on; exec sleep 1000"], stdout=subprocess.PIPE)
assert process.stdout.readline() == b"on\\n"
inside = state()
assert all(inside[other.pid] == [0] for other in others), inside
assert inside["cpus"] == "0\\n", inside
process.send_signal(getattr(signal, sys.argv[1]))
process.wait()
process.stdout.read()
if sys.argv[1] == "SIGKILL":
    assert state() == inside
    subprocess.run(steelyard("restore"), check=True)
assert state() == before, (before, state())
own = subprocess.run(
    [*quiet, "cat /proc/self/status"], check=True, capture_output=True, text=True
).stdout
assert "Cpus_allowed_list:\\t1\\n" in own, own
assert state() == before
for other in others:
    other.kill()
    other.wait()
group.rmdir()
print("given back")
"""


@needs_root
@pytest.mark.parametrize("number", ["SIGTERM", "SIGKILL"])
def test_the_shield_moves_everything_off_and_gives_everything_back(user, quiet, number):
    reason = sandbox_reason()
    if reason is not None:
        pytest.skip(reason)
    environment = {**user.environment, "PYTHONPATH": ":".join(path for path in sys.path if path)}
    assert run_in_sandbox(SHIELD, number, environment=environment).endswith("given back\n")


@needs_root
@pytest.mark.parametrize("knobs", [("--knob", "aslr"), ("--all",), ("--knob", "ramdisk")])
def test_another_user_gets_what_they_may_have_and_is_told_the_rest(user, knobs):
    with tempfile.TemporaryDirectory() as home:
        os.chown(home, 65534, 65534)
        environment = {**user.environment, "HOME": home, "XDG_STATE_HOME": f"{home}/state"}
        environment["PYTHONPATH"] = ":".join(path for path in sys.path if path)
        probe = [sys.executable, "-c", "import steelyard.cli.main"]
        options = {"env": environment, "cwd": home, "user": 65534, "group": 65534}
        if subprocess.run(probe, capture_output=True, check=False, **options).returncode:
            pytest.skip("another user cannot read this installation")
        told = subprocess.run(
            [sys.executable, "-m", "steelyard.cli.main", "host", "quiet", *knobs, "--cpus", "0",
             "--", "sh", "-c", "cat /proc/self/personality; pwd"],
            capture_output=True, check=False, text=True, **options,
        )  # fmt: skip
        assert told.returncode == 0, told.stderr
        personality, directory = told.stdout.split()
        if "aslr" in knobs or "--all" in knobs:
            assert int(personality, 16) & 0x0040000
        if "aslr" not in knobs:
            assert "which may be swapped" in told.stderr
            assert directory.startswith("/dev/shm/steelyard-65534-")
            assert not os.path.exists(directory)
        if "--all" in knobs:
            assert "not quiet: network: only root" in told.stderr
