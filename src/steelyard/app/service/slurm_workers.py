"""Workers that Slurm starts: a Slurm job on a node for as long as something waits for that node.

Slurm says which nodes are there and runs one worker on each; what is to be run, and what came of
it, is in the service's database alone, so that a job that Slurm forgets loses nothing.
"""

from __future__ import annotations

import fcntl
import hashlib
import math
import os
import shlex
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

from steelyard.app.service.service import Service
from steelyard.app.service.service_settings import SlurmSettings
from steelyard.core.errors import MissingCapabilityError, SteelyardError, UsageError
from steelyard.core.private_file import DIRECTORY_MODE, MODE, private_opener
from steelyard.service.cluster_workers import ClusterWorker
from steelyard.service.slurm_cluster import (
    TAKEN_AWAY,
    SlurmAwayError,
    SlurmCluster,
    SlurmError,
    SlurmJob,
    SlurmNode,
    missing_commands,
)

CLUSTER = "slurm"
LOOK_EVERY_S = 2.0
ENDING_S = 3.0
_SHORTEST_WAIT_S, _LONGEST_WAIT_S = 10.0, 600.0
_LAST_BYTES = 2000
# So many Slurm jobs in a row that were taken away before their worker asked, and it is a fault.
_MOST_TAKEN_AWAY = 10
Say = Callable[[str], None]


@dataclass(frozen=True)
class SlurmPlace:
    """The directory, seen by the service and by all nodes, of what their workers need.

    It is its owner's alone: it has the address of the service, and a token.
    """

    directory: str

    @property
    def script(self) -> str:
        """What Slurm runs on a node."""
        return os.path.join(self.directory, "start-worker")

    def worker(self, node: str) -> str:
        """Where the worker of a node keeps results until they are taken."""
        return os.path.join(self.directory, "workers", node)

    def output(self, node: str) -> str:
        """What the last Slurm job of a node printed."""
        return os.path.join(self.directory, "outputs", f"{node}.txt")

    @property
    def job_name(self) -> str:
        """What Slurm jobs of this service are called, and no others."""
        digest = hashlib.sha256(os.path.realpath(self.directory).encode("utf-8", "surrogateescape"))
        return f"steelyard-{digest.hexdigest()[:12]}"

    @contextmanager
    def kept(self, address: str, token: str, command: str) -> Iterator[None]:
        """Let workers find the service meanwhile.

        Raises
        ------
        UsageError
            The directory cannot be used, or another service uses it.
        """
        lock = self._made()
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            _write(os.path.join(self.directory, "address"), address)
            _write(os.path.join(self.directory, "token"), token)
            _write(self.script, self._script(command))
            try:
                yield
            finally:
                for name in ("address", "token"):
                    with suppress(OSError):
                        os.unlink(os.path.join(self.directory, name))
        except BlockingIOError:
            raise UsageError(
                f"Another service uses {self.directory} for its workers.", field="slurm.directory"
            ) from None
        finally:
            os.close(lock)

    def _made(self) -> int:
        """Make the directory; the descriptor of its lock."""
        try:
            for name in ("", "workers", "outputs"):
                path = os.path.join(self.directory, name)
                os.makedirs(path, mode=DIRECTORY_MODE, exist_ok=True)
            flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC
            return os.open(os.path.join(self.directory, "lock"), flags, MODE)
        except OSError as error:
            raise UsageError(
                f"The directory for Slurm's workers {self.directory} cannot be used: "
                f"{error.strerror}.",
                field="slurm.directory",
            ) from None

    def _script(self, command: str) -> str:
        """The worker's tags are the features that Slurm knows of its node."""
        here = shlex.quote(os.path.abspath(self.directory))
        return (
            "#!/bin/sh\n"
            f"here={here}\n"
            # Others can read the words of a command, and the address may hold a secret.
            'STEELYARD_SERVER=$(cat "$here/address") || exit 1\n'
            'STEELYARD_TOKEN=$(cat "$here/token") || exit 1\n'
            "export STEELYARD_SERVER STEELYARD_TOKEN\n"
            "set --\n"
            'for feature in $(cat "$here/workers/$SLURMD_NODENAME.features"); do\n'
            '    set -- "$@" --tag "$feature"\n'
            "done\n"
            f'exec {command} worker --once --name "$SLURMD_NODENAME" \\\n'
            '    --directory "$here/workers/$SLURMD_NODENAME" "$@"\n'
        )

    def keep_features(self, node: SlurmNode) -> None:
        """Let the worker of a node know what Slurm calls its features."""
        _write(f"{self.worker(node.name)}.features", " ".join(node.features))


@contextmanager
def started_by_slurm(
    service: Service, settings: SlurmSettings, address: str, token: str, say: Say
) -> Iterator[None]:
    """Have Slurm start workers meanwhile. Those that run at the end go on, and keep what they
    have until a service at the same directory takes it.

    Raises
    ------
    UsageError
        The directory cannot be used.
    MissingCapabilityError
        Slurm's commands are not there.
    """
    missing = missing_commands()
    if missing:
        raise MissingCapabilityError(
            f"Slurm's commands are not here: {', '.join(missing)}. apt-get install slurm-client, "
            "or leave [slurm] out of the settings.",
            field="slurm",
        )
    place = SlurmPlace(os.path.abspath(settings.directory))
    cluster = SlurmCluster(settings.partition, place.job_name)
    workers = SlurmWorkers(service, cluster, place, settings.options, say)
    with place.kept(address, token, settings.command), workers.looking():
        yield


def _write(path: str, text: str) -> None:
    part = f"{path}.part"
    with open(part, "w", encoding="utf-8", opener=private_opener) as file:
        file.write(text)
    os.replace(part, path)


@dataclass
class _Try:
    """What was started or booted last on a node, and when the next may follow."""

    job: int | None = None
    asked_before_unix_s: float | None = None
    boot: str | None = None
    boot_time: str = ""
    failures: int = 0
    not_before_s: float = -math.inf


@dataclass
class SlurmWorkers:
    """Starts workers where something waits, boots nodes, and tells the service how they are.

    Parameters
    ----------
    service : Service
    cluster : SlurmCluster
    place : SlurmPlace
    options : sequence of str
        More words for ``sbatch``.
    say : callable
    clock : callable
        Seconds, of a clock that nobody sets.
    """

    service: Service
    cluster: SlurmCluster
    place: SlurmPlace
    options: Sequence[str]
    say: Say
    clock: Callable[[], float] = time.monotonic
    _tries: dict[str, _Try] = field(default_factory=dict[str, _Try])
    _said: str = ""
    _ending: threading.Event = field(default_factory=threading.Event)

    @contextmanager
    def looking(self) -> Iterator[None]:
        """Look every few seconds meanwhile, in a thread."""

        def look() -> None:
            while not self._ending.is_set():
                self.look_once()
                self._ending.wait(LOOK_EVERY_S)

        thread = threading.Thread(target=look, daemon=True)
        thread.start()
        try:
            yield
        finally:
            self._ending.set()
            # A command of Slurm whose controller is away takes minutes. What it comes to is found
            # by the next service.
            thread.join(ENDING_S)

    def look_once(self) -> None:
        """As `look`; what keeps it from that is said once, until something else does."""
        try:
            self.look()
        except SteelyardError as error:
            if error.message != self._said:
                self.say(f"{error.message} Trying again.")
            self._said = error.message
        else:
            if self._said:
                self.say("Slurm and the database answer again")
            self._said = ""

    def look(self) -> None:
        """See to every node once.

        Raises
        ------
        SlurmError, StoreError
            Slurm or the database does not answer.
        """
        nodes = self.cluster.nodes()
        # Before the database: what a worker did there it did before its Slurm job had ended.
        jobs = self.cluster.jobs()
        known = self.service.hosts.cluster_workers(nodes)
        for node in nodes.values():
            if self._ending.is_set():
                return
            try:
                self._see_to(node, known.get(node.name), jobs.get(node.name))
            except SlurmAwayError:
                raise
            except SlurmError as error:
                self._failed(node.name, known.get(node.name), error.message)

    def _see_to(self, node: SlurmNode, worker: ClusterWorker | None, job: SlurmJob | None) -> None:
        tried = self._tries.setdefault(node.name, _Try())
        if job is not None:
            # A worker that runs speaks for itself, one that waits for its node cannot.
            if worker is not None and not job.is_running and node.is_up:
                self.service.hosts.vouch_for(worker, CLUSTER)
            return
        if worker is not None and worker.holds_part:
            self.service.hosts.has_ended(
                worker, f"its Slurm job has ended: {self._last_words(node)}"
            )
            return
        if tried.job is not None:
            self._ended(node, worker, tried)
        if worker is not None and (node.is_up or node.is_booting):
            status = "rebooting" if node.is_booting else "idle"
            self.service.hosts.vouch_for(worker, CLUSTER, status)
        if tried.boot is not None:
            self._see_boot(node, worker, tried)
        elif node.is_up and self.clock() >= tried.not_before_s:
            self._begin(node, worker, tried)

    def _begin(self, node: SlurmNode, worker: ClusterWorker | None, tried: _Try) -> None:
        """Start or boot what the node's next part takes; a new node enrols by being started."""
        if worker is not None and not worker.has_work:
            return
        if worker is not None and worker.needs_boot:
            self.cluster.boot(node.name)
            tried.boot, tried.boot_time = worker.next_boot, node.boot_time
            self.service.hosts.vouch_for(worker, CLUSTER, "rebooting")
            return
        self.place.keep_features(node)
        tried.asked_before_unix_s = None if worker is None else worker.asked_unix_s
        output = self.place.output(node.name)
        tried.job = self.cluster.start(node.name, self.place.script, output, self.options)

    def _see_boot(self, node: SlurmNode, worker: ClusterWorker | None, tried: _Try) -> None:
        """Note what a node was booted for when it is back."""
        if node.is_booting or not node.is_up or tried.boot is None:
            return
        if node.boot_time == tried.boot_time:
            self._failed(node.name, worker, "Slurm did not boot it, though it was asked to")
        elif worker is not None:
            self.service.hosts.was_booted(worker, tried.boot)
        tried.boot = None

    def _ended(self, node: SlurmNode, worker: ClusterWorker | None, tried: _Try) -> None:
        """A Slurm job has ended: well if its worker has asked for a part."""
        asked = worker is not None and worker.asked_unix_s != tried.asked_before_unix_s
        is_taken = not asked and self.cluster.state_of(tried.job or 0) in TAKEN_AWAY
        number, tried.job = tried.job, None
        if asked:
            tried.failures, tried.not_before_s = 0, -math.inf
            return
        why = f"its Slurm job {number} ended before it asked for a part: {self._last_words(node)}"
        is_fault = not is_taken or tried.failures + 1 >= _MOST_TAKEN_AWAY
        self._failed(node.name, worker if is_fault else None, why)

    def _failed(self, node: str, worker: ClusterWorker | None, why: str) -> None:
        """Something did not start or boot: wait, each time for longer. It is a fault of the
        worker that is given."""
        tried = self._tries.setdefault(node, _Try())
        wait_s = min(_LONGEST_WAIT_S, _SHORTEST_WAIT_S * 2.0**tried.failures)
        tried.failures += 1
        tried.not_before_s = self.clock() + wait_s
        self.say(f"worker {node}: {why}")
        if worker is not None:
            self.service.hosts.has_failed(worker, why)

    def _last_words(self, node: SlurmNode) -> str:
        """The last line that its Slurm job printed."""
        with suppress(OSError):
            with open(self.place.output(node.name), "rb") as file:
                size = file.seek(0, os.SEEK_END)
                file.seek(max(0, size - _LAST_BYTES))
                lines = file.read().decode("utf-8", "replace").split("\n")
            told = [line.strip() for line in lines if line.strip()]
            if told:
                return told[-1]
        return "it printed nothing"
