"""Is the native sampler right? On programs whose truth is known, with perf beside it.

    python -m benchmarks.sampling [--part aliasing|randomness|shares|spreads|overhead ...]

`aliasing`, `randomness`, `shares` and `spreads` rest on numbers of samples and on processor time,
and do not mind a busy machine; `overhead` wants a quiet one. The programs are in this folder,
built by `cc`.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence

from benchmarks.sampling import aliasing, overhead, randomness, shares, spreads
from benchmarks.sampling.sampled_programs import build, verdict

PARTS = {
    "aliasing": aliasing.prove,
    "randomness": randomness.prove,
    "shares": shares.prove,
    "spreads": spreads.prove,
    "overhead": overhead.prove,
}


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--part", action="append", choices=PARTS, help="repeatable; all otherwise")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--period-us", type=float, default=1_000, help="of samples in aliasing and randomness"
    )
    parser.add_argument(
        "--spread", choices=("uniform", "exponential"), default="uniform", help="and of shares"
    )
    group = parser.add_argument_group("aliasing")
    group.add_argument("--recordings", type=int, default=20, help="of each kind")
    group.add_argument("--limit-ms", type=int, default=500, help="of each thread of the program")
    group.add_argument("--threads-only", action="store_true", help="watch threads, not CPUs")
    group = parser.add_argument_group("randomness")
    group.add_argument("--random-ms", type=int, default=12_000, help="of the program")
    group.add_argument("--java-rounds", type=int, default=2_000, help="of YieldPoints")
    group.add_argument("--picture", action="store_true", help="draw it for docs/PERFORMANCE.md")
    group = parser.add_argument_group("shares")
    group.add_argument("--repeats", type=int, default=40, help="recordings of each program")
    group.add_argument("--share-ms", type=int, default=200, help="of each recording")
    group.add_argument("--share-period-us", type=float, default=200)
    group = parser.add_argument_group("spreads")
    group.add_argument("--spread-ms", type=int, default=500, help="of each recording")
    group = parser.add_argument_group("overhead")
    group.add_argument("--blocks", type=int, default=20, help="and of spreads")
    group.add_argument("--rounds", type=int, default=15_000, help="of the program")
    group.add_argument("--rates", type=int, nargs="+", default=list(overhead.RATES_HZ))
    group.add_argument("--stacks", choices=overhead.CHAINS, default="none", help="call chains")
    group.add_argument(
        "--clock-watcher-ms",
        type=int,
        default=0,
        help="of a program that does nothing but look at the clock, for so long by itself",
    )
    group.add_argument(
        "--handovers",
        type=int,
        default=0,
        help="of a byte between two processes, instead of a program that computes",
    )
    group.add_argument("--java", action="store_true", help="of Java, with async-profiler beside")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the parts that are asked for; 1 where one does not hold."""
    options = _options(arguments)
    holds = True
    with tempfile.TemporaryDirectory() as folder:
        programs = build(folder)
        for part in options.part or PARTS:
            print(f"\n{part}\n", flush=True)
            found = PARTS[part](programs, options)
            print(f"{part}: {verdict(found)}", flush=True)
            holds = holds and found
    return 0 if holds else 1


if __name__ == "__main__":
    sys.exit(main())
