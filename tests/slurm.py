"""A Slurm of the tests' own: its controller and several nodes on this machine, in one directory.

A node that is booted is a `slurmd` that ends and comes back: the program that Slurm calls for it
is told its node by a variable, since Slurm does not name it.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from tests.needs import need, need_root
from tests.patience import PATIENCE_S

_QUIET = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
_PROGRAMS = ("slurmctld", "slurmd", "sbatch", "scontrol", "squeue")
_CONF = """\
ClusterName=tests
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller}
SlurmUser=root
AuthType=auth/none
CredType=cred/none
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType={select}
StateSaveLocation={root}/state
SlurmdSpoolDir={root}/spool.%n
SlurmdPidFile={root}/%n.pid
SlurmctldPidFile={root}/slurmctld.pid
SlurmctldLogFile={root}/slurmctld.log
SlurmdLogFile={root}/%n.log
RebootProgram={root}/reboot
ResumeTimeout=120
SlurmdTimeout={silence}
ReturnToService={returns}
KillWait=1
SlurmdParameters=config_overrides
SchedulerParameters=batch_sched_delay=0,sched_interval=1
CommunicationParameters=NoCtldInAddrAny
JobRequeue=0
{more}
{nodes}
PartitionName=bench Nodes={names} Default=YES OverSubscribe=EXCLUSIVE State=UP
"""
_REBOOT = """\
#!/bin/sh
echo "$STEELYARD_TEST_NODE" >> {root}/reboots
kill -KILL "$(cat {root}/$STEELYARD_TEST_NODE.pid)"
"""
# A node runs until the file `stop` is there, and begins again as after a boot. Slurm counts in
# seconds: a node that is back within the one in which it was sent away was not away.
_NODE = """\
export STEELYARD_TEST_NODE=$1
boot=
while [ ! -e {root}/stop ]; do
    slurmd -D -N "$1" $boot >/dev/null 2>&1
    while [ -e {root}/down.$1 ] && [ ! -e {root}/stop ]; do sleep 0.05; done
    boot=-b
    sleep 2
done
"""


@dataclass
class SlurmHere:
    """A Slurm that runs: its directory, its nodes, its environment."""

    root: Path
    nodes: tuple[str, ...]
    environment: dict[str, str]
    controller: subprocess.Popen[bytes] | None = None

    def start_controller(self) -> None:
        """Start `slurmctld` where it does not run."""
        if self.controller is None or self.controller.poll() is not None:
            self.controller = subprocess.Popen(["slurmctld", "-D"], env=self.environment, **_QUIET)

    def kill_controller(self) -> bool:
        """Kill `slurmctld`, whose state is on the disk; whether it ran."""
        if self.controller is None or self.controller.poll() is not None:
            return False
        self.controller.kill()
        self.controller.wait()
        return True

    def kill_daemon(self, node: str) -> None:
        """Kill the `slurmd` of a node alone, which begins again."""
        os.kill(int((self.root / f"{node}.pid").read_text()), signal.SIGKILL)

    @contextmanager
    def joined(self, node: str) -> Iterator[None]:
        """A node more, which nobody named before."""
        (self.root / f"spool.{node}").mkdir()
        words = ["slurmd", "-Z", "-D", "-N", node, "--conf", f"Feature=f-{node}"]
        process = subprocess.Popen(words, env=self.environment, **_QUIET)
        try:
            yield
        finally:
            for number in (*_steps(node, self.root), process.pid):
                with suppress(ProcessLookupError):
                    os.kill(number, signal.SIGKILL)
            process.wait()

    def told(self, *words: str) -> str:
        """What one of its commands prints."""
        done = subprocess.run(
            words, env=self.environment, capture_output=True, text=True, timeout=60, check=False
        )
        assert done.returncode == 0, (words, done.stdout, done.stderr)
        return done.stdout

    @property
    def reboots(self) -> list[str]:
        """The nodes that were booted, in order."""
        file = self.root / "reboots"
        return file.read_text().split() if file.exists() else []

    def power_off(self, node: str) -> None:
        """End a node and all that runs on it at once."""
        (self.root / f"down.{node}").touch()
        daemon = int((self.root / f"{node}.pid").read_text())
        numbers = (daemon, *_steps(node, self.root), *_below(daemon))
        # Nothing of it may see another end, and report that.
        for sent in (signal.SIGSTOP, signal.SIGKILL):
            for number in numbers:
                with suppress(ProcessLookupError):
                    os.kill(number, sent)

    def power_on(self, node: str) -> None:
        """Let it come back."""
        (self.root / f"down.{node}").unlink()

    def wait_for(self, holds: Callable[[], bool], what: str) -> None:
        """Wait until something holds."""
        deadline_s = time.monotonic() + PATIENCE_S
        while not holds():
            assert time.monotonic() < deadline_s, (what, self._state())
            time.sleep(0.1)

    def is_up(self) -> bool:
        """Whether all nodes can take jobs."""
        shown = self.told("sinfo", "-h", "-N", "-o", "%T").split()
        return shown == ["idle"] * len(self.nodes)

    def _state(self) -> str:
        return self.told("sinfo", "-N", "-l") + self.told("squeue", "-l")


def _parents() -> dict[int, int]:
    """The parent of each process."""
    found: dict[int, int] = {}
    for path in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            found[int(path.name)] = int((path / "stat").read_text().rpartition(")")[2].split()[1])
    return found


def _below(number: int) -> list[int]:
    parents = _parents()
    found, new = set[int](), {number}
    while new:
        new = {own for own, parent in parents.items() if parent in new} - found
        found |= new
    return sorted(found)


def _steps(node: str, root: Path) -> list[int]:
    """The daemon of a node of this Slurm, what runs its Slurm jobs, and what these run.

    What runs a job is the parent of what is told the node, and no child of the daemon.
    """
    ours = f"SLURM_CONF={root}/slurm.conf".encode()
    names = {f"{name}={node}".encode() for name in ("SLURMD_NODENAME", "STEELYARD_TEST_NODE")}
    found: list[int] = []
    for number, parent in _parents().items():
        with suppress(OSError):
            words = set(Path(f"/proc/{number}/environ").read_bytes().split(b"\0"))
            if not (ours in words and names & words):
                continue
            if Path(f"/proc/{parent}/comm").read_text() == "slurmstepd\n":
                found.append(parent)
            found += [number, *_below(number)]
    return found


def _free_ports(count: int) -> list[int]:
    held = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [each.getsockname()[1] for each in held]
    for each in held:
        each.close()
    return ports


@contextmanager
def slurm(
    nodes: Sequence[str] = ("w1", "w2"),
    *,
    silence: int = 300,
    returns: int = 1,
    joins: bool = False,
    more: Sequence[str] = (),
) -> Iterator[SlurmHere]:
    """A Slurm with some nodes, idle; others may join it later (`joins`). More lines of its
    settings have `{root}` for its directory."""
    need_root()
    need(*_PROGRAMS)
    root = Path(tempfile.mkdtemp(prefix="slurm-", dir="/tmp"))
    host = socket.gethostname()
    controller, joining, *ports = _free_ports(2 + len(nodes))
    # Dynamic nodes listen where the settings say for all (slurm.conf(5), dynamic nodes).
    joined = ("SelectTypeParameters=CR_CPU", "MaxNodeCount=8", f"SlurmdPort={joining}")
    settings = [*more, *(joined if joins else ())]
    lines = [
        f"NodeName={name} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} Feature=f-{name}"
        for name, port in zip(nodes, ports, strict=True)
    ]
    conf = root / "slurm.conf"
    conf.write_text(
        _CONF.format(
            host=host,
            controller=controller,
            root=root,
            silence=silence,
            returns=returns,
            select="select/cons_tres" if joins else "select/linear",
            more="\n".join(settings).format(root=root),
            nodes="\n".join(lines),
            names="ALL" if joins else ",".join(nodes),
        )
    )
    (root / "state").mkdir()
    (root / "reboot").write_text(_REBOOT.format(root=root))
    (root / "reboot").chmod(0o700)
    (root / "node").write_text(_NODE.format(root=root))
    environment = {**os.environ, "SLURM_CONF": str(conf)}
    here = SlurmHere(root, tuple(nodes), environment)
    here.start_controller()
    running: list[subprocess.Popen[bytes]] = []
    try:
        for name in nodes:
            (root / f"spool.{name}").mkdir()
            node = ["sh", str(root / "node"), name]
            running.append(subprocess.Popen(node, env=environment, **_QUIET))
        here.wait_for(lambda: _answers(here) and here.is_up(), "all nodes are up")
        yield here
    finally:
        (root / "stop").touch()
        for name in nodes:
            with suppress(OSError, ValueError):
                here.power_off(name)
        here.kill_controller()
        for process in running:
            for number in (*_below(process.pid), process.pid):
                with suppress(ProcessLookupError):
                    os.kill(number, signal.SIGKILL)
            process.wait()
        shutil.rmtree(root, ignore_errors=True)


def _answers(here: SlurmHere) -> bool:
    done = subprocess.run(
        ["scontrol", "ping"], env=here.environment, capture_output=True, timeout=60, check=False
    )
    return done.returncode == 0
