"""A Slurm whose daemons are killed: its controller, and the nodes with all that runs on them."""

from __future__ import annotations

import json
import random
import shlex
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from benchmarks.service_kills.things import Thing
from tests.slurm import SlurmHere, slurm


class Controller:
    """`slurmctld`, which keeps its state in a directory."""

    name = "slurmctld"

    def __init__(self, here: SlurmHere) -> None:
        self._here = here

    def kill(self, draw: random.Random) -> bool:
        """Kill it."""
        del draw
        return self._here.kill_controller()

    def revive(self) -> None:
        """Start it where it does not run."""
        self._here.start_controller()


class Node:
    """A `slurmd` with all that runs below it: a power cut."""

    def __init__(self, here: SlurmHere, node: str) -> None:
        self.name = f"slurmd {node}"
        self._here, self._node = here, node
        self._is_off = False

    def kill(self, draw: random.Random) -> bool:
        """Kill it, or all that it runs as well."""
        try:
            if draw.random() < 0.5:
                self._here.kill_daemon(self._node)
            else:
                self._is_off = True
                self._here.power_off(self._node)
        except (OSError, ValueError):
            return False
        return True

    def revive(self) -> None:
        """Let it come back."""
        if self._is_off:
            self._is_off = False
            self._here.power_on(self._node)
        # Slurm leaves a node down that crashed twice in a row, and drains one that it gave a Slurm
        # job twice; who keeps it takes it back.
        with suppress(AssertionError):
            shown = self._here.told("scontrol", "show", "node", self._node)
            down = "State=DOWN" in shown and "unexpectedly rebooted" in shown
            if down or ("DRAIN" in shown and "Duplicate jobid" in shown):
                self._here.told("scontrol", "update", f"nodename={self._node}", "state=resume")


@contextmanager
def slurm_things(
    home: Path, environment: dict[str, str]
) -> Iterator[tuple[tuple[Thing, ...], tuple[str, ...]]]:
    """The daemons of a Slurm, and the options of a service that uses it."""
    with slurm() as here:
        environment["SLURM_CONF"] = here.environment["SLURM_CONF"]
        directory = tempfile.mkdtemp(prefix="shared-", dir=here.root)
        own = ("HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME")
        words = [f"{name}={environment[name]}" for name in own]
        locks = ["sh", "-c", f'STEELYARD_LOCK={home}/lock-$SLURMD_NODENAME exec "$@"', "worker"]
        command = ["env", *words, *locks, sys.executable, "-m", "steelyard.cli.main"]
        fields = {"directory": directory, "command": shlex.join(command)}
        lines = "\n".join(f"{name} = {json.dumps(value)}" for name, value in fields.items())
        config = home / "service.toml"
        config.write_text(f"[service]\nworker = false\n[slurm]\n{lines}\n")
        nodes = tuple(Node(here, name) for name in here.nodes)
        yield (Controller(here), *nodes), ("--config", str(config))
