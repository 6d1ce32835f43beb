"""The directory that a service and the nodes of its Slurm share."""

from __future__ import annotations

import fcntl
import hashlib
import os
import shlex
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from steelyard.core.errors import UsageError
from steelyard.core.private_file import DIRECTORY_MODE, MODE, private_opener
from steelyard.service.slurm_cluster import SlurmNode

_LAST_BYTES = 2000


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

    def last_words(self, node: str) -> str:
        """The last line that its Slurm job printed."""
        with suppress(OSError):
            with open(self.output(node), "rb") as file:
                size = file.seek(0, os.SEEK_END)
                file.seek(max(0, size - _LAST_BYTES))
                lines = file.read().decode("utf-8", "replace").split("\n")
            told = [line.strip() for line in lines if line.strip()]
            if told:
                return told[-1]
        return "it printed nothing"


def _write(path: str, text: str) -> None:
    part = f"{path}.part"
    with open(part, "w", encoding="utf-8", opener=private_opener) as file:
        file.write(text)
    os.replace(part, path)
