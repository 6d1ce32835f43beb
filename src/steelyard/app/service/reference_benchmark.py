"""The reference benchmark of a worker: the same work again and again, in seconds of CPU time.

It tells of a host nothing but whether it is as it was. Each of its three parts leans on another
part of a machine: arithmetic, branches, memory. The least of several rounds is what a host can do.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import time
from collections.abc import Mapping

from steelyard.core.errors import SteelyardError
from steelyard.host.lock import BRIEF_PURPOSE, machine_lock

EVERY_S = 3600.0
_LONGEST_S = 120.0
_PROGRAM = """
import hashlib, json, time
ROUNDS = 5
data = bytes(range(256)) * 4096
large = bytearray(32 << 20)
def arithmetic():
    for _ in range(24):
        hashlib.sha256(data).digest()
def branches():
    total = 0
    for number in range(400_000):
        total += number if number % 3 else -number
    return total
def memory():
    for _ in range(6):
        bytes(large)
def least(work):
    took = []
    for _ in range(ROUNDS):
        begun = time.process_time()
        work()
        took.append(time.process_time() - begun)
    return min(took)
parts = {"arithmetic": arithmetic, "branches": branches, "memory": memory}
print(json.dumps({name: least(work) for name, work in parts.items()}))
"""
PARTS = ("arithmetic", "branches", "memory")


class ReferenceBenchmark:
    """Runs it where its last reading is older than `EVERY_S`, also across restarts.

    Parameters
    ----------
    directory : str
        Of the worker, where it notes when it ran.
    """

    def __init__(self, directory: str) -> None:
        self._note = os.path.join(directory, "reference.json")

    def reading(self) -> dict[str, float] | None:
        """What the host took, by part; None where it is too early, or the host cannot tell."""
        if not self._is_due():
            return None
        found = run_reference()
        with open(self._note, "w", encoding="utf-8") as file:
            json.dump({"unix_s": time.time()}, file)
        return found

    def _is_due(self) -> bool:
        try:
            with open(self._note, encoding="utf-8") as file:
                age_s = time.time() - float(json.load(file)["unix_s"])
        except (OSError, ValueError, KeyError, TypeError):
            return True
        # An age below 0 is that of a clock that was set back.
        return not 0 <= age_s < EVERY_S


def run_reference() -> dict[str, float] | None:
    """Run it once, with the machine to itself; None where that fails."""
    argv = [sys.executable, "-I", "-c", _PROGRAM]
    try:
        with machine_lock(BRIEF_PURPOSE, wait=True):
            done = subprocess.run(
                argv,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                env={"PYTHONHASHSEED": "0"},
                timeout=_LONGEST_S,
                check=True,
            )
        return read_reading(json.loads(done.stdout))
    except (OSError, ValueError, subprocess.SubprocessError, SteelyardError):
        return None


def read_reading(found: object) -> dict[str, float] | None:
    """A reading as a value: each part a time above 0; None where it is none."""
    if not isinstance(found, Mapping) or set(found) != set(PARTS):
        return None
    values = {name: found[name] for name in PARTS}
    if not all(
        type(value) in (int, float) and math.isfinite(value) and 0 < value < _LONGEST_S
        for value in values.values()
    ):
        return None
    return {name: float(value) for name, value in values.items()}
