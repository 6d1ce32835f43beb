"""Packages that attack the host are contained and told of, and the next trial is clean."""

from __future__ import annotations

import os
import shutil
import signal
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.test_packages import RUN, trials_of
from tests.needs import need_root
from tests.packages import RESULTS, need_containers, need_trusted, package
from tests.patience import awaited
from tests.small_images import small_image

# What nobody may do from inside; each ends the script with a number of its own if it can.
FORBIDDEN = {
    "mount": "mount -t tmpfs x /mnt",
    "remount": "mount -o remount,rw /usr",
    "namespaces": "unshare -Ur true",
    "system-files": "touch /usr/steelyard-mark",
    "kernel-setting": "echo 1 > /proc/sys/kernel/panic",
    "cpu": "echo 1 > /sys/devices/system/cpu/cpu0/online",
    "sysrq": "echo h > /proc/sysrq-trigger",
    "device": "mknod d c 1 3",
    "look-into-init": "cat /proc/1/environ",
    "files-of-init": "ls /proc/1/fd",
    "root-of-init": "ls /proc/1/root/",
    "trace-init": "python3 -c 'import ctypes; exit(ctypes.CDLL(None).ptrace(16, 1, 0, 0))'",
    "stop-init": "kill -STOP 1; grep -q '^State:.[Tt]' /proc/1/status",
    "shadow": "cat /etc/shadow",
    "homes": "ls /home | grep -v benchmark",
    "root-home": "ls /root",
    "network": "python3 -c 'import socket; socket.create_connection((\"192.0.2.1\", 9), 9)'",
    "interfaces": "grep -vE 'Inter|face|lo:' /proc/net/dev",
    "hostname": "hostname other",
    "clock": "date -s 2001-01-01 > /dev/null",
    "privileges": "su root -c true || sudo -n true",
    "nice": "nice -n -5 true 2>&1 | grep -v cannot",
}


@pytest.fixture(autouse=True)
def _host_is_as_it_was(user):
    need_containers(user.home)
    user.environment["STEELYARD_PACKAGES"] = str(user.home / "packages")
    yield
    # What a killed session left goes when the store is opened next.
    assert user.types("list").status == 0
    # Others of this machine may run packages too; what is of this test names its folder.
    assert not [command for command in _commands() if str(user.home) in command]
    assert str(user.home) not in Path("/proc/mounts").read_text()
    assert not list(user.home.glob("**/*.container"))


def _commands() -> list[str]:
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            found.append((process / "cmdline").read_bytes().decode(errors="replace"))
        except OSError:
            continue
    return [text for text in found if "steelyard-container" in text]


def ran(user, *options: str, run: str = RESULTS, **scripts: str):
    """The trial of a package, and what the command said."""
    package(user.home / "p", run, **scripts)
    told = user.types(*RUN, "p", "--runs", "1", *options)
    assert "Traceback" not in told.err
    return trials_of(user)[0], told


def clean(user) -> None:
    """The next trial finds nothing of the one before."""
    package(
        user.home / "next", "test ! -e mark && test ! -e /tmp/mark && test ! -e /mark\n" + RESULTS
    )
    told = user.types(*RUN, "next", "--runs", "1")
    assert told.status == 0, told.err


def test_nothing_that_takes_privileges_can_be_done(user):
    tries = [f"if {words}; then echo {name}; fi" for name, words in FORBIDDEN.items()]
    body = "\n".join(["{", *tries, "} > done 2> said", "cp done results.csv"])
    trial, told = ran(user, run=body, collect="tar -cf r.tar done said; echo r.tar")
    assert told.status == 0, told.err
    with tarfile.open(trial["details"]["package"]["kept"]) as kept:
        assert kept.extractfile("done").read().decode().split() == []
    assert not os.path.exists("/usr/steelyard-mark")


def test_forks_without_end_are_stopped_and_counted(user):
    bomb = "touch mark; bomb() { bomb | bomb & }; bomb; sleep 0.2; exit 1"
    trial, told = ran(user, "--processes", "40", run=bomb)
    assert told.status == 3
    about = trial["details"]["package"]
    if about["held"].startswith("cgroup"):
        assert about["refused_forks"] > 0
        assert "Its container refused" in told.err
    clean(user)


def test_a_full_inode_table_is_contained_and_told(user):
    filler = "touch mark; i=0; while : > f$i; do i=$((i+1)); done 2>/dev/null; exit 1"
    _, told = ran(user, "--inodes", "500", run=filler)
    assert told.status == 3
    assert "All 500 inodes" in told.err
    clean(user)


def test_a_full_disk_is_contained_and_told(user):
    trial, told = ran(user, "--disk", "8M", run="head -c 100M /dev/zero > /tmp/mark")
    assert told.status == 3
    assert "All 8388608 bytes" in told.err
    assert trial["reason"] == "exit"
    clean(user)


def test_memory_without_end_is_refused_or_ended(user):
    taker = "exec python3 -c 'b = bytearray(1 << 30); b[::4096] = bytes(1 << 18)'"
    trial, told = ran(user, "--memory", "64M", "--disk", "8M", run=taker)
    assert told.status == 3
    if trial["details"]["package"]["held"].endswith("cgroup"):
        assert "for want of memory" in told.err
    clean(user)


@pytest.mark.parametrize(
    "daemon",
    [
        "setsid sleep 5000 &",
        "(setsid setsid sleep 5000 &)",
        "nohup sh -c 'trap \"\" TERM HUP INT; while :; do sleep 1; done' > /dev/null 2>&1 &",
        "python3 -c 'import os\nfor i in 1, 2:\n os.fork() and os._exit(0)\n os.setsid()\n"
        'os.execlp("sleep", "sleep", "5000")\'',
    ],
    ids=["session", "two-sessions", "deaf", "forked-twice"],
)
def test_what_leaves_its_session_ends_with_its_trial_and_is_counted(user, daemon):
    trial, told = ran(user, run=f"touch mark\n{daemon}\n{RESULTS}")
    assert told.status == 0, told.err
    assert trial["details"]["leftover_processes"] >= 1
    clean(user)


@pytest.mark.parametrize("words", ["kill -9 -1", "kill -9 1; kill -STOP 1", "kill -9 $PPID"])
def test_signals_reach_nothing_outside(user, words):
    trial, _ = ran(user, run=f"{words}\n{RESULTS}")
    # `kill $PPID` is `kill 0`, the script's own group: the launcher has no number inside.
    assert trial["reason"] in (None, "signal")
    clean(user)


def test_a_script_that_outlives_its_time_is_ended_with_all_that_it_started(user):
    trial, told = ran(user, "--timeout", "300ms", run="setsid sleep 5000 & sleep 5000")
    assert told.status == 3
    assert trial["reason"] == "timeout"
    clean(user)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("yes", "wrote more than"),
        ("while :; do :; done", "took longer than 1 s"),
        ("kill -9 -1; exit 4", "failed with exit code 4"),
        ("rm -rf /package/* /package; exit 5", "failed with exit code 5"),
    ],
    ids=["flood", "endless", "kills", "removes"],
)
def test_a_set_up_that_attacks_is_a_failed_trial(user, words, said):
    trial, told = ran(user, "--setup-timeout", "1s", setup_sh=words)
    assert told.status == 3
    assert trial["reason"] == "build"
    assert said in trial["details"]["stderr_tail"]
    clean(user)


def test_a_set_up_cannot_prepare_a_root_that_trials_leave_by(user):
    words = "cd /; mv package p2; ln -s /etc package; ln -s /proc /mark; true"
    trial, told = ran(user, setup_sh=words)
    assert told.status == 3
    assert trial["reason"] in ("prepare", "build", "spawn")
    clean(user)


def test_the_environment_of_the_caller_is_not_passed_on(user):
    user.environment["SECRET_OF_CALLER"] = "xyzzy"
    trial, told = ran(
        user,
        run="env > results.csv",
        setup_sh="! env | grep -q xyzzy",
        collect="env >> results.csv; tar -cf r.tar results.csv; echo r.tar",
    )
    assert told.status == 0, told.err
    assert b"xyzzy" not in Path(trial["details"]["package"]["kept"]).read_bytes()


def test_a_network_is_there_when_it_is_asked_for(user):
    ours = os.readlink("/proc/self/ns/net")
    look = "readlink /proc/self/ns/net > results.csv"
    collect = "tar -cf r.tar results.csv; echo r.tar"
    for options, is_ours in (((), False), (("--network",), True)):
        trial, told = ran(user, *options, run=look, collect=collect)
        assert told.status == 0, told.err
        found = Path(trial["details"]["package"]["kept"]).read_bytes()
        assert (ours.encode() in found) is is_ours


@pytest.fixture(params=["/var/tmp", "/tmp"])
def image(request) -> Iterator[Path]:
    """A folder that other users may read; a container has a `/tmp` of its own."""
    with tempfile.TemporaryDirectory(dir=request.param) as folder:
        os.chmod(folder, 0o755)
        yield Path(folder)


def test_an_image_that_only_root_may_read_is_refused_wherever_it_lies(user, image):
    need_root()
    (image / "bin").mkdir()
    shutil.copy(shutil.which("sh"), image / "bin")
    image.chmod(0o700)
    trial, told = ran(user, "--image", str(image))
    assert told.status == 3
    assert "cannot be seen" in trial["details"]["stderr_tail"]


def test_an_image_that_the_container_may_not_read_is_refused(user):
    need_root()
    image = user.home / "image"
    (image / "bin").mkdir(parents=True)
    shutil.copy(shutil.which("sh"), image / "bin")
    user.home.chmod(0o700)
    trial, told = ran(user, "--image", str(image))
    assert told.status == 3
    assert "cannot be seen" in trial["details"]["stderr_tail"]


def test_an_image_takes_the_place_of_the_hosts_folders(user, image):
    small_image(image, "sh", "tar", "ls")
    trial, told = ran(
        user,
        *("--image", str(image)),
        run="ls /usr/bin > results.csv; ls /etc >> results.csv 2>&1; true",
        collect="tar -cf r.tar results.csv; echo r.tar",
    )
    assert told.status == 0, told.err
    with tarfile.open(trial["details"]["package"]["kept"]) as kept:
        assert kept.extractfile("results.csv").read().split()[:3] == [b"ls", b"sh", b"tar"]


@pytest.mark.parametrize("environment", ["contained", "trusted"])
@pytest.mark.parametrize("who", ["command", "launcher", "keeper", "init"])
def test_whoever_is_killed_nothing_of_the_container_is_left(user, who, environment):
    if environment == "trusted":
        need_trusted()
    number = 4000 + os.getpid() % 1000
    package(user.home / "p", f"setsid sleep {number} &\nsleep {number}")
    options = ("--runs", "1", "--environment", environment, "--disk", "64M")
    command = user.start(*RUN, "p", *options)
    try:
        chain = awaited(lambda: _chain(command.pid, number))
        os.kill(chain[who], signal.SIGKILL)
        awaited(lambda: not _sleepers(number) and not _holders(user))
    finally:
        command.kill()
        command.communicate()
    assert str(user.home) not in Path("/proc/mounts").read_text()
    clean(user)


def _processes() -> dict[int, tuple[int, str]]:
    """Of each process its parent and its command."""
    found = {}
    for path in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((path / "stat").read_text().rpartition(")")[2].split()[1])
            command = (path / "cmdline").read_bytes().decode(errors="replace")
        except (OSError, ValueError):
            continue
        found[int(path.name)] = parent, command
    return found


def _sleepers(number: int) -> list[int]:
    wanted = f"sleep\0{number}\0"
    return [each for each, (_, command) in _processes().items() if command == wanted]


def _holders(user) -> list[str]:
    return [command for command in _commands() if str(user.home) in command]


def _chain(command: int, number: int) -> dict[str, int] | None:
    """The processes from the command to the first of the container, once the trial runs."""
    if len(_sleepers(number)) < 2:
        return None
    processes = _processes()

    def below(parent: int, name: str) -> int | None:
        return next(
            (p for p, (above, c) in processes.items() if above == parent and name in c), None
        )

    found = {"command": command}
    for name, program, above in (
        ("launcher", "steelyard-launcher", "command"),
        ("keeper", "steelyard-container", "launcher"),
        ("entrant", "steelyard-container", "keeper"),
        ("init", "steelyard-container", "entrant"),
    ):
        process = below(found[above], program)
        if process is None:
            return None
        found[name] = process
    return found


def test_the_kernel_stays_as_it_is_whatever_a_contained_package_writes(user):
    setting = Path("/proc/sys/kernel/panic_on_oops")
    before = setting.read_text()
    tries = {
        "a setting": "echo 3 > /proc/sys/kernel/panic_on_oops",
        "its caches": "echo 3 > /proc/sys/vm/drop_caches",
        "its console": "echo h > /proc/sysrq-trigger",
        "the clock": "date -s 2001-01-01",
        "a device": "mknod disk b 8 0",
        "a mount": "mount -t tmpfs none /tmp",
        "memory": "head -c 1 /dev/mem",
    }
    lines = [f"({line}) > /dev/null 2>&1 && touch 'done {name}'" for name, line in tries.items()]
    look = "ls > results.csv"
    collect = "tar -cf r.tar results.csv; echo r.tar"
    trial, told = ran(user, run="\n".join((*lines, look)), collect=collect)
    assert told.status == 0, told.err
    with tarfile.open(trial["details"]["package"]["kept"]) as kept:
        found = kept.extractfile("results.csv").read().decode()
    assert "run.sh" in found
    assert "done" not in found
    assert setting.read_text() == before
