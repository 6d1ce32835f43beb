"""Knobs set to what no quiet session leaves them at, so that each one has something to put back."""

from __future__ import annotations

import contextlib
import os
import subprocess
import tempfile
from collections.abc import Iterator

_LOUD = {
    "/proc/sys/kernel/sched_autogroup_enabled": "1",
    "/proc/sys/kernel/numa_balancing": "1",
    "/sys/kernel/mm/ksm/run": "1",
    "/sys/kernel/mm/transparent_hugepage/enabled": "always",
}
_SWAP_BYTES = 8 << 20


@contextlib.contextmanager
def loud_host() -> Iterator[list[str]]:
    """The host with its knobs loud, as far as this user may; gives what could not be set."""
    refused: list[str] = []
    with contextlib.ExitStack() as stack:
        for path, text in _LOUD.items():
            try:
                before = _chosen(path)
                _write(path, text)
            except OSError as error:
                refused.append(f"{path}: {error.strerror}")
            else:
                stack.callback(_write, path, before)
        refused += stack.enter_context(_swap_area())
        yield refused


def _chosen(path: str) -> str:
    """What a file of the kernel has; of several words, the one in brackets."""
    with open(path, encoding="ascii") as file:
        text = file.read().strip()
    return text.partition("[")[2].partition("]")[0] or text


def _write(path: str, text: str) -> None:
    with open(path, "w", encoding="ascii") as file:
        file.write(text)


@contextlib.contextmanager
def _swap_area() -> Iterator[list[str]]:
    """A small swap area on disk; gives why there is none."""
    with tempfile.NamedTemporaryFile(dir="/var/tmp", prefix="steelyard-swap-") as file:
        file.write(bytes(_SWAP_BYTES))
        file.flush()
        os.fsync(file.fileno())
        for command in (["mkswap", file.name], ["swapon", file.name]):
            try:
                done = subprocess.run(command, capture_output=True, text=True, check=False)
            except OSError as error:
                yield [f"{command[0]}: {error.strerror}"]
                return
            if done.returncode:
                yield [f"{command[0]}: {done.stderr.strip()}"]
                return
        try:
            yield []
        finally:
            subprocess.run(["swapoff", file.name], check=False)
