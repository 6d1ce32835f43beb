"""Read inputs that were damaged at random: none may end in anything but an answer or one error.

    python -m benchmarks.profile_fuzz [--inputs 1000000] [--seed 1] [--reader NAME]

An input that does is kept in build/fuzz, and put into the corpus with a test once it is mended.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter

from benchmarks.profile_fuzz.profile_readers import CORPUS, READERS
from steelyard.core.errors import SteelyardError

_PATIENCE_S = 10
_MEMORY_BYTES = 4 << 30
_FOUND = os.path.join("build", "fuzz")


class TooLongError(Exception):
    """A reader took longer than any input of some kilobytes may."""


def corpus_of(reader: str) -> list[bytes]:
    """The inputs from which others are made, of one reader."""
    names = sorted(name for name in os.listdir(CORPUS) if name.rpartition("-")[0] == reader)
    found: list[bytes] = []
    for name in names:
        with open(os.path.join(CORPUS, name), "rb") as file:
            found.append(file.read())
    return found


def tried(reader: str, data: bytes, path: str) -> str | None:
    """Read one input; what went wrong, where something did."""
    with open(path, "wb") as file:
        file.write(data)
    signal.setitimer(signal.ITIMER_REAL, _PATIENCE_S)
    try:
        READERS[reader].read(path)
    except SteelyardError:
        return None
    except Exception:  # noqa: BLE001 - whatever else it is, it is a fault
        return traceback.format_exc()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    return None


def fuzz(reader: str, count: int, seed: int) -> tuple[Counter[str], int]:
    """Try so many inputs; what went wrong by the place of it, and how many were read as whole."""
    corpus = corpus_of(reader)
    faults: Counter[str] = Counter()
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="steelyard-fuzz-", dir=memory) as folder:
        path = os.path.join(folder, "input")
        for number in range(count):
            draws = random.Random(f"{seed}/{reader}/{number}")
            data = READERS[reader].damage(draws.choice(corpus), draws, corpus)
            fault = tried(reader, data, path)
            if fault is None:
                continue
            place = " | ".join(fault.strip().splitlines()[-3:])
            faults[place] += 1
            if faults[place] == 1:
                os.makedirs(_FOUND, exist_ok=True)
                with open(os.path.join(_FOUND, f"{reader}-{number}"), "wb") as file:
                    file.write(data)
                print(f"{reader} {number}:\n{fault}", flush=True)
    return faults, count


def guard() -> None:
    """Make of what is too much an error, as of warnings."""

    def too_long(*_: object) -> None:
        raise TooLongError

    signal.signal(signal.SIGALRM, too_long)
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY_BYTES, _MEMORY_BYTES))
    warnings.simplefilter("error")


def main() -> int:
    """Try all readers and say how many inputs ended how."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--inputs", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--reader", choices=sorted(READERS))
    options = parser.parse_args()
    chosen = [options.reader] if options.reader else list(READERS)
    weights = sum(READERS[name].weight for name in chosen)
    guard()
    failed = total = 0
    for name in chosen:
        begin_s = time.process_time()
        faults, count = fuzz(name, options.inputs * READERS[name].weight // weights, options.seed)
        failed, total = failed + sum(faults.values()), total + count
        spent_s = time.process_time() - begin_s
        print(f"{name}: {count} inputs, {sum(faults.values())} faults, {spent_s:.0f} s", flush=True)
    print(f"{total} inputs, {failed} faults")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
