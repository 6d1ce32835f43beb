"""Are addresses random in the bits that index caches and predictors? NIST's tests say.

A program built by `steelyard cc` writes addresses of heap objects, functions and stack frames, each
sequence from a run of its own. Their index bits (6 to 17 as in Curtsinger and Berger, 2013, section
3.2; of stack frames 6 to 11, because a pad is less than 4096) are put to the tests of SP 800-22,
beside /dev/urandom, which must pass, and the program with STEELYARD_LAYOUT=none, which must not.
A test is passed when no more sequences have p < 0.01 than chance allows (section 4.2.1, with the
binomial distribution itself) and, from 55 on, p-values are spread evenly (section 4.2.2); both with
p >= 0.0001.

    python -m benchmarks.layout_random --sequences 100 --code-sequences 20
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, auto
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from benchmarks import sp800_22

STEELYARD = Path(sys.executable).with_name("steelyard")
SOURCE = Path(__file__).with_name("addresses.c")
ALPHA = 0.01
UNIFORM_FROM = 55  # Section 4.2.2: fewer p-values say too little.
CHANCE = 0.0001
INDEX_BITS = (6, 17)
STACK_BITS = (6, 11)
PAGE_BIT = 12
OBJECTS_A_PAGE = 64  # of 64 bytes
TESTS: dict[str, sp800_22.Test] = {
    **sp800_22.TESTS,
    # For sequences of 100,000 bits m has to be below log2(n) - 5, and log2(n) - 2.
    "approximate entropy": partial(sp800_22.approximate_entropy, pattern_bits=8),
    "serial": partial(sp800_22.serial, pattern_bits=12),
}


# Those of Curtsinger and Berger (2013).
SEVEN = frozenset(TESTS) - {"approximate entropy", "serial"}


class Promise(Enum):
    """What docs/layout.md says of a source.

    What lives is not given again, so that the addresses of many live objects differ, where bits of
    chance would repeat some: they are spread more evenly than chance. The two tests that look at
    patterns notice it, and p-values of cumulative sums are too high.
    """

    RANDOM = auto()  # all tests are passed, and p-values are spread evenly
    EVEN = auto()  # of the seven tests no more sequences fail than chance allows
    NOTHING = auto()


@dataclass(frozen=True)
class Judged:
    """A test over all sequences of a source."""

    is_enough: bool  # no more of them have p < ALPHA than chance allows
    is_even: bool  # p-values are spread evenly
    passed_ratio: float

    @property
    def passes(self) -> bool:
        """Whether it is passed."""
        return self.is_enough and self.is_even

    def __str__(self) -> str:
        shown = f"{self.passed_ratio:.2f}{'' if self.is_even else ' uneven'}"
        return shown if self.passes else f"**{shown}**"


@dataclass(frozen=True)
class Source:
    """Where sequences come from: a pattern of the program, or /dev/urandom where it is empty.

    What is not randomised must not pass all tests. Of N objects the oldest is freed before the next
    is allocated. With `first_of_pages` only addresses in another page than the last one are taken.
    """

    name: str
    pattern: tuple[str, ...]
    layout: str
    bits: tuple[int, int] = INDEX_BITS
    promise: Promise = Promise.RANDOM
    first_of_pages: bool = False

    def holds(self, judged: dict[str, Judged]) -> bool:
        """Whether it is as promised."""
        is_random = all(each.passes for each in judged.values())
        if self.layout == "none":
            return not is_random
        if self.promise is Promise.RANDOM:
            return is_random
        return self.promise is Promise.NOTHING or all(judged[name].is_enough for name in SEVEN)


SOURCES = (
    Source("/dev/urandom", (), ""),
    Source("heap: one object of 64 bytes", ("heap", "64", "1"), "heap"),
    Source("heap: 1,000 of 64 bytes", ("heap", "64", "1000"), "heap", promise=Promise.EVEN),
    Source("heap: 50,000 of 64 bytes", ("heap", "64", "50000"), "heap", promise=Promise.EVEN),
    Source(
        "heap: 1,000 of 64 bytes, bits 6 to 11",
        ("heap", "64", "1000"),
        "heap",
        STACK_BITS,
        promise=Promise.EVEN,
    ),
    Source("heap: 1,000 of 16 to 1024 bytes", ("mixed", "0", "1000"), "heap", promise=Promise.EVEN),
    Source(
        "heap: 1,000 of 16 to 448 bytes, no multiples of 128",
        ("mixed", "1", "1000"),
        "heap",
        promise=Promise.EVEN,
    ),
    # Within a page the objects follow each other: what is drawn is the page, and where it begins.
    Source("heap: 64 bytes, none freed", ("grow", "64", "0"), "heap", promise=Promise.NOTHING),
    Source(
        "heap: 64 bytes, none freed, the first of each page",
        ("grow", "64", "0"),
        "heap",
        promise=Promise.EVEN,
        first_of_pages=True,
    ),
    Source("stack frames", ("stack", "0", "1"), "stack", STACK_BITS),
    Source("functions", ("code", "0", "1"), "code"),
    Source("not randomised: heap", ("heap", "64", "1000"), "none"),
    Source("not randomised: stack frames", ("stack", "0", "0"), "none", STACK_BITS),
    Source("not randomised: functions", ("code", "0", "0"), "none"),
)


def sequence(source: Source, program: str, bit_count: int, interval: str) -> sp800_22.Bits:
    """The bits of one run."""
    if not source.pattern:
        return np.unpackbits(np.frombuffer(os.urandom(bit_count // 8), dtype=np.uint8))
    low, high = source.bits
    count = -(-bit_count // (high - low + 1))
    if source.first_of_pages:
        count *= OBJECTS_A_PAGE + 1
    done = subprocess.run(
        [program, *source.pattern, str(count)],
        env={
            **os.environ,
            "STEELYARD_LAYOUT": source.layout,
            "STEELYARD_LAYOUT_INTERVAL": interval,
        },
        capture_output=True,
        check=True,
    )
    addresses = np.frombuffer(done.stdout, dtype=np.uint64)
    if source.first_of_pages:
        pages = addresses >> np.uint64(PAGE_BIT)
        addresses = addresses[1:][pages[1:] != pages[:-1]]
    return index_bits(addresses, low, high)[:bit_count]


def index_bits(addresses: NDArray[np.uint64], low: int, high: int) -> sp800_22.Bits:
    """Bits `high` to `low` of each address, one after the other."""
    places = np.arange(high, low - 1, -1, dtype=np.uint64)
    return ((addresses[:, None] >> places) & np.uint64(1)).astype(np.uint8).ravel()


def judge(p_values: Sequence[sp800_22.PValues]) -> Judged:
    """Whether a test passes over all sequences, and the share of them that passed."""
    columns = np.array(p_values).T
    count = len(p_values)
    failed = max(int((column < ALPHA).sum()) for column in columns)
    enough = bool(stats.binom.sf(failed - 1, count, ALPHA) >= CHANCE)
    even = count < UNIFORM_FROM or all(sp800_22.uniformity(column) >= CHANCE for column in columns)
    return Judged(enough, even, 1 - failed / count)


def judge_source(source: Source, program: str, options: argparse.Namespace) -> dict[str, Judged]:
    """Each test over all sequences of a source."""
    found: dict[str, list[sp800_22.PValues]] = {name: [] for name in TESTS}
    for _ in range(sequence_count(source, options)):
        bits = sequence(source, program, options.bits, options.interval)
        for name, test in TESTS.items():
            found[name].append(test(bits))
    return {name: judge(p_values) for name, p_values in found.items()}


def sequence_count(source: Source, options: argparse.Namespace) -> int:
    """How many sequences a source is judged by."""
    slow = source.pattern[:1] == ("code",) and source.layout != "none"
    return options.code_sequences if slow else options.sequences


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a line a source; the exit status says whether each is as it must be."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--sequences", type=int, default=100)
    parser.add_argument("--code-sequences", type=int, default=20, help="each takes 8,000 layouts")
    parser.add_argument("--bits", type=int, default=100_000, help="of a sequence")
    parser.add_argument("--interval", default="1ms")
    parser.add_argument("--only", default="", help="sources with this in their name")
    options = parser.parse_args(arguments)
    holds = True
    print(f"| addresses | sequences | {' | '.join(TESTS)} | passed |")
    print("|---|---|" + "---|" * (len(TESTS) + 1))
    with tempfile.TemporaryDirectory() as folder:
        program = f"{folder}/addresses"
        subprocess.run([STEELYARD, "cc", "-O2", str(SOURCE), "-o", program], check=True)
        for source in SOURCES:
            if options.only not in source.name:
                continue
            judged = judge_source(source, program, options)
            passed = sum(each.passes for each in judged.values())
            cells = [source.name, str(sequence_count(source, options)), *map(str, judged.values())]
            print(f"| {' | '.join(cells)} | {passed} of {len(TESTS)} |", flush=True)
            holds = holds and source.holds(judged)
    print("holds" if holds else "DOES NOT HOLD")
    return 0 if holds else 1


if __name__ == "__main__":
    sys.exit(main())
