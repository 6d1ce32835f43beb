"""How much does the order in which a plain program is linked change its time?

What moving costs is measured over a plain program as the linker happened to lay it. Here the plain
program is linked with its functions in random orders besides, and all are run in randomised blocks.
A moving program's cost over the mean of these is what layouts cost on the average; over one of them
it may be anything in their range.

    python -m benchmarks.layout_orders --orders 8 --runs 12 FOLDER [PROGRAM...]

FOLDER is that of `benchmarks.layout_cost`; programs are those outside the suite, by its names.
"""

from __future__ import annotations

import argparse
import random
import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import mean

from benchmarks.layout_cost import Run, Tools, make_tools, other_program, spend
from benchmarks.layout_cost_programs import build

ORDER = "-ffunction-sections -fuse-ld=lld -Wno-unused-command-line-argument"


def ordered_program(name: str, folder: Path, seed: int, like: Run) -> Run:
    """The plain program with its sections in the order that lld draws from a seed."""
    shuffle = f"{ORDER} -Wl,--shuffle-sections=*={seed}"
    compilers = {"CC": f"clang-19 {shuffle}", "CXX": f"clang++-19 {shuffle}"}
    program = build(name, folder / "sources", folder / f"order-{seed}", compilers)
    return Run((str(program), *like.argv[1:]), like.stdin, like.directory)


def measured(runs: dict[str, Run], blocks: int, tools: Tools) -> dict[str, float]:
    """The mean time of each in seconds, over randomised blocks."""
    draw = random.Random(blocks)
    times_s: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(blocks):
        for name in draw.sample(list(runs), len(runs)):
            parts = "code,stack,heap" if name == "all" else "none"
            times_s[name].append(spend(tools, runs[name], {"STEELYARD_LAYOUT": parts})[0])
    return {name: mean(values) for name, values in times_s.items()}


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a line a program."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--orders", type=int, default=8)
    parser.add_argument("--runs", type=int, default=12)
    parser.add_argument("programs", nargs="*", default=["fmt"], metavar="PROGRAM")
    options = parser.parse_args(arguments)
    folder = options.folder.resolve()
    print("| program | plain, other orders | their mean | moving, all | over that mean |")
    print("|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as place:
        tools = make_tools(Path(place))
        for name in options.programs:
            plain, moving = other_program(name, folder)
            runs = {"plain": plain, "all": moving}
            for seed in range(1, options.orders + 1):
                runs[str(seed)] = ordered_program(name, folder, seed, plain)
            found = measured(runs, options.runs, tools)
            ratios = [found[str(seed)] / found["plain"] for seed in range(1, options.orders + 1)]
            moved = found["all"] / found["plain"]
            print(
                f"| {name} | {min(ratios):.3f} to {max(ratios):.3f} | {mean(ratios):.3f} "
                f"| {moved:.3f} | {moved / mean(ratios):.3f} |",
                flush=True,
            )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
