"""Does moving take away a difference that is one of layout alone?

`set_conflict.c` is compiled once by clang and once by `steelyard cc`, and each is linked twice,
with its functions in two orders: side by side, or so that all functions that run share one set of
the instruction cache. The two links of each are compared in randomised blocks: by clang, by
`steelyard cc` with its layout left alone, and with its layout drawn once or drawn anew.

    python -m benchmarks.layout_bias --runs 30
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks.layout_trials import DRIVER, STEELYARD, call

SOURCE = Path(__file__).with_name("set_conflict.c")
PLAIN = "clang-19 -ffunction-sections -fuse-ld=lld"
NUMBERS = [f"{tens}{ones}" for tens in range(10, 14) for ones in range(8)]
ORDERS = {
    "side-by-side": [*(f"small{n}" for n in NUMBERS), *(f"large{n}" for n in NUMBERS)],
    "in-turn": [f"{size}{n}" for n in NUMBERS for size in ("small", "large")],
}
LEAST_NATIVE_RATIO = 1.05
MOST_MOVING_RATIO = 1.02


def build(folder: str) -> dict[str, list[str]]:
    """The programs of each compiler, one an order, from one object."""
    programs: dict[str, list[str]] = {}
    for name, compiler in {"plain": PLAIN, "moving": DRIVER}.items():
        words = [*compiler.split(), "-O2"]
        subprocess.run(
            [
                *words,
                "-c",
                "-Wno-unused-command-line-argument",
                str(SOURCE),
                "-o",
                f"{folder}/{name}.o",
            ],
            check=True,
        )
        programs[name] = [f"{folder}/{name}-{order}" for order in ORDERS]
        for program, functions in zip(programs[name], ORDERS.values(), strict=True):
            order = Path(f"{program}.order")
            order.write_text("\n".join(functions) + "\n")
            link = [f"-Wl,--symbol-ordering-file={order}", f"{folder}/{name}.o", "-o", program]
            subprocess.run([*words, *link], check=True)
    return programs


def ratio(programs: Sequence[str], layout: str | None, options: argparse.Namespace) -> list[float]:
    """The second program's time over the first's: estimate, low and high."""
    with tempfile.TemporaryDirectory() as folder:
        words = ["--metric", "cpu_time", "--runs", str(options.runs), "--wait", "--json", "-"]
        words += [] if layout is None else ["--layout", layout]
        commands = [f"{program} {options.count}" for program in programs]
        store = ["--store", f"{folder}/store", "--warmup", "1"]
        document = json.loads(call(STEELYARD, "compare", *words, *store, *commands))
    found = document["comparisons"][0]["ratio"]
    return [found["estimate"], found["low"], found["high"]]


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the ratios, and say whether the difference is there natively and gone when moving."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--runs", type=int, default=30)
    parser.add_argument("--interval", default="10ms")
    parser.add_argument("--count", type=int, default=6000, help="how long the programs run")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        programs = build(folder)
        treatments = {
            "clang": ("plain", None, True),
            "steelyard cc, none": ("moving", "none", True),
            "steelyard cc, all@off": ("moving", "all@off", None),
            f"steelyard cc, all@{options.interval}": ("moving", f"all@{options.interval}", False),
        }
        print(f"| built by | {' / '.join(reversed(ORDERS))} |\n|---|---|")
        holds = True
        for name, (kind, layout, differs) in treatments.items():
            estimate, low, high = ratio(programs[kind], layout, options)
            print(f"| {name} | {estimate:.3f} [{low:.3f}, {high:.3f}] |", flush=True)
            if differs:
                holds = holds and low >= LEAST_NATIVE_RATIO
            elif differs is False:
                holds = holds and low >= 1 / MOST_MOVING_RATIO and high <= MOST_MOVING_RATIO
    print("holds" if holds else "DOES NOT HOLD")
    return 0 if holds else 1


if __name__ == "__main__":
    sys.exit(main())
