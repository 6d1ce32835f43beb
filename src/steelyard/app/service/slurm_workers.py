"""Workers that Slurm starts: a Slurm job on a node for as long as something waits for that node.

Slurm says which nodes are there and runs one worker on each; what is to be run, and what came of
it, is in the service's database alone, so that a job that Slurm forgets loses nothing.
"""

from __future__ import annotations

import math
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from steelyard.app.service.service import Service
from steelyard.app.service.service_settings import SlurmSettings
from steelyard.app.service.slurm_place import SlurmPlace
from steelyard.core.errors import MissingCapabilityError, SteelyardError
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
# So many Slurm jobs in a row that were taken away before their worker asked, and it is a fault.
_MOST_TAKEN_AWAY = 10
Say = Callable[[str], None]


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
                worker, f"its Slurm job has ended: {self.place.last_words(node.name)}"
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
        said = self.place.last_words(node.name)
        why = f"its Slurm job {number} ended before it asked for a part: {said}"
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
