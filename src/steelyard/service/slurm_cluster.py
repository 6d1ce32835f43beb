"""Slurm, by its own commands: which nodes there are, which jobs run, start one, boot a node.

What the commands print is of Slurm 22.05; later versions keep these fields.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass

from steelyard.core.errors import SteelyardError

_TIMEOUT_S = 60.0
_FIELD = re.compile(r"(?:^| )(\w+)=(\S*)")
# States of a node that takes Slurm jobs, and flags that only say of what kind it is.
_TAKES_JOBS = (
    *("IDLE", "ALLOCATED", "MIXED", "COMPLETING", "PLANNED"),
    *("CLOUD", "DYNAMIC_NORM", "DYNAMIC_FUTURE"),
)
# What commands say of a controller that does not run, begins, or was killed while they asked.
_AWAY = re.compile(
    "unable to (contact|establish)|connection (refused|failure|timed out|reset)|timed out"
    "|zero bytes were transmitted|unexpected message received|not responding",
    re.IGNORECASE,
)
_BOOTS = ("REBOOT", "REBOOT_ISSUED", "REBOOT_REQUESTED")
# States of a Slurm job that was ended from outside, and by nothing that ran in it.
TAKEN_AWAY = frozenset({"NODE_FAIL", "PREEMPTED", "CANCELLED", "REVOKED", "REQUEUED"})
COMMANDS = ("scontrol", "squeue", "sbatch")


class SlurmError(SteelyardError):
    """A command of Slurm is missing, or failed."""

    code = "slurm"
    exit_status = 4


class SlurmAwayError(SlurmError):
    """Slurm's controller gives no answer."""


@dataclass(frozen=True)
class SlurmNode:
    """A node as Slurm sees it.

    Parameters
    ----------
    name : str
    states : tuple of str
        Its state and the flags of it, such as ``IDLE`` and ``DRAIN``.
    features : tuple of str
    boot_time : str
        When it was booted, in Slurm's words.
    """

    name: str
    states: tuple[str, ...]
    features: tuple[str, ...] = ()
    boot_time: str = ""

    @property
    def is_up(self) -> bool:
        """Whether it takes Slurm jobs, now or when the one that runs there has ended."""
        return all(state in _TAKES_JOBS for state in self.states)

    @property
    def is_booting(self) -> bool:
        """Whether it is to be booted, or is being."""
        return any(state in _BOOTS for state in self.states)


@dataclass(frozen=True)
class SlurmJob:
    """A Slurm job that waits or runs."""

    number: int
    node: str
    is_running: bool


@dataclass(frozen=True)
class SlurmCluster:
    """The nodes of one partition, for Slurm jobs of one name.

    Parameters
    ----------
    partition : str
        Empty for the one that Slurm takes if none is named.
    job_name : str
    """

    partition: str
    job_name: str

    def nodes(self) -> dict[str, SlurmNode]:
        """The nodes of the partition, by name.

        Raises
        ------
        SlurmError
            Slurm does not answer, or has no such partition.
        """
        wanted = self.partition or self._default_partition()
        found: dict[str, SlurmNode] = {}
        for line in _told("scontrol", "--oneliner", "show", "nodes").splitlines():
            fields = dict(_FIELD.findall(line))
            if wanted in fields.get("Partitions", "").split(","):
                node = _node(fields)
                found[node.name] = node
        if not found:
            raise SlurmError(f"Slurm has no partition {wanted!r} with nodes.", field="slurm")
        return found

    def jobs(self) -> dict[str, SlurmJob]:
        """The Slurm jobs of this name that wait or run, by the node that they are for."""
        found: dict[str, SlurmJob] = {}
        for line in _told("squeue", "-h", "--me", "-n", self.job_name, "-o", "%i|%n|%T").split():
            number, node, state = line.split("|")
            found[node] = SlurmJob(int(number), node, state != "PENDING")
        return found

    def state_of(self, number: int) -> str:
        """The state of a Slurm job in Slurm's words; empty where Slurm has forgotten it.

        Raises
        ------
        SlurmError
            Slurm does not answer.
        """
        try:
            told = _told("scontrol", "--oneliner", "show", "job", str(number))
        except SlurmError as error:
            if "Invalid job id" in error.message:
                return ""
            raise
        return dict(_FIELD.findall(told)).get("JobState", "")

    def start(self, node: str, script: str, output: str, options: Sequence[str] = ()) -> int:
        """Send a Slurm job that has a node for itself; its number."""
        place = ["--nodelist", node, "--nodes", "1", "--exclusive", "--no-requeue"]
        partition = ["--partition", self.partition] if self.partition else []
        files = ["--output", output, "--open-mode", "truncate", "--job-name", self.job_name]
        told = _told("sbatch", "--parsable", *partition, *place, *files, *options, script)
        return int(told.split(";")[0])

    def boot(self, node: str) -> None:
        """Boot a node when nothing runs on it any more; Slurm takes it back afterwards."""
        reason = "reason=a clean host for a trial"
        _told("scontrol", "reboot", "ASAP", "nextstate=RESUME", reason, node)

    def _default_partition(self) -> str:
        for line in _told("scontrol", "--oneliner", "show", "partitions").splitlines():
            fields = dict(_FIELD.findall(line))
            if fields.get("Default") == "YES":
                return fields["PartitionName"]
        raise SlurmError("Slurm has no default partition: name one.", field="slurm.partition")


def _node(fields: dict[str, str]) -> SlurmNode:
    features = fields.get("AvailableFeatures", "")
    return SlurmNode(
        fields["NodeName"],
        # A star marks a node that does not answer.
        tuple(fields.get("State", "").replace("*", "+NOT_RESPONDING").split("+")),
        () if features == "(null)" else tuple(filter(None, features.split(","))),
        fields.get("BootTime", ""),
    )


def missing_commands() -> list[str]:
    """The commands of Slurm that are not there."""
    return [name for name in COMMANDS if shutil.which(name) is None]


def _environment() -> dict[str, str]:
    """What Slurm's commands need; they pass it on to the nodes, where no secret of ours belongs."""
    kept = ("PATH", "HOME", "USER", "LOGNAME", "LANG", "TZ")
    return {
        name: value
        for name, value in os.environ.items()
        if name in kept or name.startswith("SLURM_")
    }


def _told(*argv: str) -> str:
    try:
        done = subprocess.run(
            argv,
            env=_environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_TIMEOUT_S,
            check=False,
        )
    except FileNotFoundError:
        raise SlurmError(
            f"Slurm's command {argv[0]} is not there: apt-get install slurm-client.", field="slurm"
        ) from None
    except (OSError, subprocess.TimeoutExpired) as error:
        raise SlurmAwayError(f"Slurm's command {argv[0]} gives no answer: {error}.") from None
    if done.returncode != 0:
        said = (done.stderr or done.stdout).strip()
        last = (said.splitlines() or [f"status {done.returncode}"])[-1]
        raise (SlurmAwayError if _AWAY.search(said) else SlurmError)(f"{argv[0]}: {last}")
    return done.stdout
