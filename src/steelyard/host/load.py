"""A load on the machine, of a stated kind, until it is ended: ``python -m steelyard.host.load``.

Each process does one thing without pause, and ends with the process that started it.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import tempfile
from collections.abc import Callable, Mapping

PR_SET_PDEATHSIG = 1  # <linux/prctl.h>
READY = b"\n"
# Larger than the caches of most CPUs, so that every pass goes to memory.
_MEMORY_BYTES = 256 << 20
_BLOCK_BYTES = 4 << 20
_FILE_BYTES = 64 << 20


def compute() -> None:
    """Take a CPU: additions that stay in its registers and first cache."""
    total = 0
    while True:
        for number in range(1 << 20):
            total ^= number


def copy_memory() -> None:
    """Take bandwidth of memory: copy a large block back and forth."""
    source, target = bytearray(_MEMORY_BYTES // 2), bytearray(_MEMORY_BYTES // 2)
    while True:
        target[:] = source
        source[:] = target


def write_disk() -> None:
    """Take bandwidth of the disk below the temporary directory: write a file and sync it."""
    block = os.urandom(_BLOCK_BYTES)
    # It has no name, so that a kill leaves nothing behind.
    with tempfile.TemporaryFile(buffering=0) as file:
        while True:
            file.seek(0)
            for _ in range(_FILE_BYTES // _BLOCK_BYTES):
                file.write(block)
            os.fsync(file.fileno())


KINDS: Mapping[str, Callable[[], None]] = {
    "cpu": compute,
    "memory": copy_memory,
    "disk": write_disk,
}


def main() -> None:
    """Run the load that the first argument names; the second is the process to end with."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
    if os.getppid() != int(sys.argv[2]):
        return
    os.write(1, READY)
    KINDS[sys.argv[1]]()


if __name__ == "__main__":
    main()
