"""Are verdicts right on this machine? A/A comparisons, and comparisons with 4 % extra work.

Each comparison begins with a small budget and is resumed until its verdict is decided, up to ten
times: as one who follows the advice of the answer.

A real program (gzip over text) is compared with itself, and with itself on an input that is
4 % longer: copies of one chunk that is longer than gzip's window, so that each copy costs the
same. The same trials are then judged by hyperfine's two usual rules, and so are the same numbers
of runs by hyperfine itself, for every fourth comparison.

    .venv/bin/python -m benchmarks.soundness --comparisons 100
"""

from __future__ import annotations

import argparse
import json
import math
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

CHUNK_BYTES = 192 * 1024  # six times the window of deflate, so copies cannot refer to each other
BASE_COPIES = 25
EXTRA_COPIES = 26  # one copy more of 25 is 4 % extra work
FIRST_BUDGET, LATER_BUDGET, MOST_RESUMES = "24runs", "60runs", 10
HYPERFINE_EVERY = 4  # its runs take as long again
WORDS = (
    *("balance", "beam", "weight", "scale", "load", "counterpoise", "fulcrum", "arm", "notch"),
    *("measure", "error", "bound", "interval", "sample", "mean", "variance", "trial", "block"),
    *("seed", "order", "level", "factor", "host", "kernel", "cache", "page", "branch"),
)


@dataclass(frozen=True)
class Outcome:
    """One comparison: the verdict, the interval of the ratio, the blocks that it took, and how
    often it was gone on with."""

    verdict: str
    low: float
    high: float
    estimate: float
    blocks: int
    spent_s: float
    resumes: int


def make_inputs(directory: Path, seed: int) -> tuple[Path, Path]:
    """The input, and the same with 4 % more of it."""
    generator = np.random.default_rng(seed)
    words = generator.choice(WORDS, size=CHUNK_BYTES // 4)
    numbers = generator.integers(0, 10_000, size=words.size)
    text = " ".join(f"{word} {number}" for word, number in zip(words, numbers, strict=True))
    chunk = text.encode()[:CHUNK_BYTES]
    base, extra = directory / "base.txt", directory / "extra.txt"
    base.write_bytes(chunk * BASE_COPIES)
    extra.write_bytes(chunk * EXTRA_COPIES)
    return base, extra


def command_for(path: Path) -> str:
    """The program under test."""
    return f"gzip -4 -c {path}"


def compare(first: Path, second: Path, seed: int, store: Path) -> Outcome:
    """One comparison, as a user would run it and go on with it."""
    commands = [command_for(first), command_for(second)]
    document = _answer(store, "compare", "--budget", FIRST_BUDGET, "--seed", str(seed), *commands)
    resumes = 0
    while document["comparisons"][0]["verdict"] == "undecided" and resumes < MOST_RESUMES:
        document = _answer(store, "resume", document["experiment"], "--budget", LATER_BUDGET)
        resumes += 1
    comparison = document["comparisons"][0]
    ratio = comparison["ratio"]
    return Outcome(
        comparison["verdict"],
        -math.inf if ratio["low"] is None else ratio["low"],
        math.inf if ratio["high"] is None else ratio["high"],
        ratio["estimate"],
        document["variants"][0]["repetitions"]["execution"],
        sum(variant["spent_s"] for variant in document["variants"]),
        resumes,
    )


def _answer(store: Path, *words: str) -> dict[str, Any]:
    """The document that a command of the tool answers with."""
    steelyard = str(Path(sys.executable).with_name("steelyard"))
    done = subprocess.run(
        [steelyard, *words, "--store", str(store), "--json", "-"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        check=True,
    )
    return json.loads(done.stdout)


def hyperfine(first: Path, second: Path, runs: int, directory: Path) -> list[list[float]]:
    """The times of the same number of runs by hyperfine, in seconds."""
    target = directory / "hyperfine.json"
    subprocess.run(
        [
            "hyperfine",
            "-N",
            "--style",
            "none",
            "--runs",
            str(runs),
            "--export-json",
            str(target),
            command_for(first),
            command_for(second),
        ],
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    return [result["times"] for result in json.loads(target.read_text())["results"]]


def exported_times(home: Path) -> list[list[float]]:
    """The times of the last comparison, through its export to hyperfine's format, in seconds."""
    target = home / "exported.json"
    steelyard = str(Path(sys.executable).with_name("steelyard"))
    options = ["--format", "hyperfine", "-o", str(target), "--store", str(home / "store.sqlite")]
    subprocess.run([steelyard, "export", "latest", *options], check=True, stdout=subprocess.DEVNULL)
    return [result["times"] for result in json.loads(target.read_text())["results"]]


def judge(whose: str, times: Sequence[Sequence[float]], told: dict[str, list[str]]) -> None:
    """Note what each of hyperfine's rules says of these times."""
    for name, rule in (("mean ± sigma overlap", overlap_rule), ("Welch", welch_rule)):
        told.setdefault(f"{whose}, {name} rule", []).append(rule(times))


def overlap_rule(times: Sequence[Sequence[float]]) -> str:
    """The reading of hyperfine's 'mean +- sigma': different where the two do not overlap."""
    (a, b), (da, db) = ([np.mean(t) for t in times], [np.std(t, ddof=1) for t in times])
    if a - da > b + db:
        return "faster"
    return "slower" if b - db > a + da else "undecided"


def welch_rule(times: Sequence[Sequence[float]]) -> str:
    """The rule of hyperfine's scripts/welch_ttest.py: different where p < 0.05."""
    test: Any = stats.ttest_ind(times[0], times[1], equal_var=False)
    if test.pvalue >= 0.05:
        return "undecided"
    return "slower" if np.mean(times[1]) > np.mean(times[0]) else "faster"


def pooled_ratio(outcomes: Sequence[Outcome]) -> float:
    """The truth as all comparisons together tell it: the mean of their logarithms."""
    return math.exp(float(np.mean([math.log(outcome.estimate) for outcome in outcomes])))


def tell(title: str, outcomes: Sequence[Outcome], truth: float) -> None:
    """Print how often each verdict came, and how often the interval held the truth."""
    counts = {v: sum(o.verdict == v for o in outcomes) for v in VERDICTS}
    held = sum(outcome.low <= truth <= outcome.high for outcome in outcomes)
    print(
        f"{title}: {len(outcomes)} comparisons, truth {truth:.4f}, pooled ratio "
        f"{pooled_ratio(outcomes):.4f}"
    )
    print("  " + ", ".join(f"{name} {count}" for name, count in counts.items()))
    print(
        f"  interval holds the truth in {held} of {len(outcomes)}; "
        f"blocks {np.median([o.blocks for o in outcomes]):.0f} (median), "
        f"{max(o.blocks for o in outcomes)} (most); resumed "
        f"{sum(o.resumes for o in outcomes) / len(outcomes):.1f} times (mean); "
        f"{np.median([o.spent_s for o in outcomes]):.1f} s a comparison (median)"
    )


VERDICTS = ("faster", "slower", "equivalent", "undecided")


def study(
    title: str, inputs: tuple[Path, Path], truth: float, count: int, seed: int, home: Path
) -> list[Outcome]:
    """All comparisons of one kind, each followed by the same runs through hyperfine."""
    outcomes: list[Outcome] = []
    told: dict[str, list[str]] = {}
    for index in range(count):
        outcomes.append(compare(*inputs, seed + index, home / "store.sqlite"))
        judge("the same trials", exported_times(home), told)
        if index % HYPERFINE_EVERY == 0 and shutil.which("hyperfine"):
            times = hyperfine(*inputs, outcomes[-1].blocks, home)
            judge("hyperfine's own runs", times, told)
        if sys.stderr.isatty() or (index + 1) % 10 == 0:
            print(f"{title}: {index + 1}/{count}", file=sys.stderr, flush=True)
    tell(title, outcomes, truth)
    for rule, verdicts in told.items():
        counts = ", ".join(f"{v} {verdicts.count(v)}" for v in ("faster", "slower", "undecided"))
        print(f"  {rule}: {counts}")
    return outcomes


def start_up_share(base: Path, directory: Path) -> float:
    """Share of the program's time that does not grow with its input."""
    empty = directory / "empty.txt"
    empty.write_bytes(b"")
    steelyard = str(Path(sys.executable).with_name("steelyard"))
    means = []
    for path in (empty, base):
        done = subprocess.run(
            [
                steelyard,
                "measure",
                "--runs",
                "60",
                "--store",
                str(directory / "store.sqlite"),
                "--json",
                "-",
                "--",
                *command_for(path).split(),
            ],
            stdout=subprocess.PIPE,
            check=True,
        )
        means.append(json.loads(done.stdout)["variants"][0]["metrics"]["wall_time"]["median"])
    print(f"the program takes {means[1] * 1e3:.1f} ms, of which start-up {means[0] * 1e3:.2f} ms")
    return means[0] / means[1]


def main() -> None:
    """Run both studies and say whether they hold what is promised."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--comparisons", type=int, default=100)
    parser.add_argument("--seed", type=int, default=20130620)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="steelyard-soundness-") as name:
        home = Path(name)
        base, extra = make_inputs(home, options.seed)
        truth = 1 + (EXTRA_COPIES / BASE_COPIES - 1) * (1 - start_up_share(base, home))
        count = options.comparisons
        same = study("A/A", (base, base), 1.0, count, options.seed, home)
        more = study("4 % extra work", (base, extra), truth, count, options.seed + count, home)
    wrong = sum(outcome.verdict in ("faster", "slower") for outcome in same)
    right = sum(outcome.verdict == "slower" for outcome in more)
    reverse = sum(outcome.verdict == "faster" for outcome in more)
    held = [
        sum(outcome.low <= value <= outcome.high for outcome in outcomes) / count
        for outcomes, value in ((same, 1.0), (more, truth))
    ]
    holds = wrong <= 0.08 * count and right >= 0.9 * count and not reverse and min(held) >= 0.92
    print(
        f"A/A called different: {wrong} (at most {0.08 * count:.0f}); extra work found: {right} "
        f"(at least {0.9 * count:.0f}), wrong direction {reverse} (0); truth held "
        f"{held[0]:.0%} and {held[1]:.0%} (at least 92%): {'holds' if holds else 'DOES NOT HOLD'}"
    )
    sys.exit(0 if holds else 1)


if __name__ == "__main__":
    main()
