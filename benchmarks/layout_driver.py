"""What does a call of `steelyard cc` cost beside clang? Compiling and linking a program of a line.

`configure` calls a compiler a thousand times for such programs. Calls of both are made in turn;
the overhead is the median of the differences, of wall time and of user and system time.

    python -m benchmarks.layout_driver --calls 40
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from statistics import median

from benchmarks.layout_trials import STEELYARD

LARGEST_OVERHEAD_S = 0.05
CALLS = {"compile": ("-c", "hello.c", "-o", "hello.o"), "compile and link": ("hello.c",)}
# As the drivers: they link by lld, and say nothing of options that a call does not use.
PLAIN = ("-fuse-ld=lld", "-Wno-unused-command-line-argument")
SOURCE = '#include <stdio.h>\nint main(void) { puts("hello"); return 0; }\n'


def spent(argv: Sequence[str], folder: str) -> tuple[float, float]:
    """Wall time, and user and system time, of a command in seconds."""
    began_s = time.monotonic()
    process = subprocess.Popen(argv, cwd=folder)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise RuntimeError(f"{' '.join(argv)} ended with {process.returncode}")
    return time.monotonic() - began_s, used.ru_utime + used.ru_stime


def main(arguments: Sequence[str] | None = None) -> int:
    """Print what both take and the difference; whether processor time is within the limit."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--calls", type=int, default=40)
    options = parser.parse_args(arguments)
    print("| call | clang, ms | `steelyard cc`, ms | more | clang, CPU ms | CPU ms | more |")
    print("|---|---|---|---|---|---|---|")
    holds = True
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "hello.c"), "w", encoding="utf-8") as file:
            file.write(SOURCE)
        for name, words in CALLS.items():
            pairs: list[tuple[tuple[float, float], tuple[float, float]]] = []
            for _ in range(options.calls):
                plain = spent(("clang-19", *PLAIN, *words), folder)
                pairs.append((plain, spent((str(STEELYARD), "cc", *words), folder)))
            cells: list[str] = []
            for which in (0, 1):
                more_s = median(ours[which] - plain[which] for plain, ours in pairs)
                both = (median(pair[each][which] for pair in pairs) for each in (0, 1))
                cells += [f"{1000 * value:.0f}" for value in (*both, more_s)]
            holds &= more_s <= LARGEST_OVERHEAD_S
            print(f"| {name} | " + " | ".join(cells) + " |")
    print(f"\nat most {1000 * LARGEST_OVERHEAD_S:.0f} ms of processor time more:", end=" ")
    print("holds" if holds else "DOES NOT HOLD")
    return 0 if holds else 1


if __name__ == "__main__":
    sys.exit(main())
