"""Do functions have their right names, and their right shares?

    python -m benchmarks.names [--part known|reference|large] [--programs 20] [--binary FILE ...]

`known` generates programs in six languages whose functions take known shares, records each by
Steelyard and by perf, and counts intervals that cover and names that are wrong. `reference` looks
addresses of programs up by Steelyard and by llvm-symbolizer, and gives the time of both. `large`
compiles a C++ program of 100 MB for that, which takes some minutes, and looks 10⁵ addresses up.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

from scipy.stats import binom

from benchmarks.names.known import Outcome, by_perf, by_steelyard, generate
from benchmarks.names.languages import LANGUAGES
from benchmarks.names.large import build_large
from benchmarks.names.symbolizer_speed import compare

_CONFIDENCE, _UNLIKELY = 0.95, 0.001
_MANY_ADDRESSES = 100_000


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--part", action="append", choices=("known", "reference", "large"))
    parser.add_argument("--seed", type=int, default=1)
    group = parser.add_argument_group("known")
    group.add_argument("--programs", type=int, default=20, help="of each language")
    group.add_argument("--language", action="append", choices=LANGUAGES)
    group.add_argument("--run-ms", type=int, default=1000)
    group.add_argument("--period-us", type=float, default=500)
    group.add_argument("--no-perf", action="store_true")
    group = parser.add_argument_group("reference")
    group.add_argument("--binary", action="append", default=[], help="with debugging information")
    group.add_argument("--addresses", type=int, default=10_000)
    group.add_argument("--other", default="llvm-symbolizer")
    group = parser.add_argument_group("large")
    group.add_argument("--folder", default="build/large", help="what is compiled there is kept")
    group.add_argument("--megabytes", type=float, default=100)
    return parser.parse_args(arguments)


def known(options: argparse.Namespace) -> bool:
    """The part of that name."""
    print(
        "| language | profiler | programs | intervals | cover | functions missing | names wrong |"
    )
    print("|---|---|---|---|---|---|---|")
    holds, intervals, covering = True, 0, 0
    for language in options.language or LANGUAGES:
        outcomes: dict[str, list[Outcome]] = {"steelyard": [], "perf": []}
        for number in range(options.programs):
            with tempfile.TemporaryDirectory() as folder:
                _one(options, language, number, Path(folder), outcomes)
        for profiler, found in outcomes.items():
            _print_row(language, profiler, found)
        own = outcomes["steelyard"]
        intervals += sum(outcome.intervals for outcome in own)
        covering += sum(outcome.covering for outcome in own)
        holds &= not any(outcome.wrong or outcome.missing for outcome in own)
    covers = bool(binom.cdf(covering, intervals, _CONFIDENCE) > _UNLIKELY)
    print(f"\nintervals of 95 % that cover: {covering} of {intervals}")
    return holds and covers


def _one(
    options: argparse.Namespace,
    language: str,
    number: int,
    folder: Path,
    outcomes: dict[str, list[Outcome]],
) -> None:
    program = generate(language, number, options.seed, options.run_ms, folder / "program")
    own = by_steelyard(program, folder, options.period_us * 1e3, options.seed + number)
    outcomes["steelyard"].append(own)
    if own.wrong or own.missing:
        print(f"  {language} {number}: wrong {own.wrong}, missing {own.missing}", file=sys.stderr)
    if not options.no_perf:
        other = by_perf(program, folder, round(1e6 / options.period_us))
        if other is not None:
            outcomes["perf"].append(other)


def _print_row(language: str, profiler: str, found: Sequence[Outcome]) -> None:
    def total(values: Iterable[int]) -> int:
        return sum(values)

    if found:
        print(
            f"| {language} | {profiler} | {len(found)} | {total(o.intervals for o in found)} | "
            f"{total(o.covering for o in found)} | {total(len(o.missing) for o in found)} | "
            f"{total(len(o.wrong) for o in found)} |",
            flush=True,
        )


def reference(options: argparse.Namespace) -> bool:
    """The part of that name."""
    return _compared(options, options.binary, options.addresses)


def large(options: argparse.Namespace) -> bool:
    """The part of that name."""
    program = build_large(Path(options.folder), options.megabytes)
    return _compared(options, [str(program)], _MANY_ADDRESSES)


def _compared(options: argparse.Namespace, paths: Sequence[str], addresses: int) -> bool:
    print("| file | MB | addresses | described | same | not the same | s | CPU s | other, CPU s |")
    print("|---|---|---|---|---|---|---|---|---|")
    rows = [compare(path, addresses, options.seed, options.other) for path in paths]
    return all(rows)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the parts that were asked for; 1 where one does not hold."""
    options = _options(arguments)
    parts = options.part or ["known", *(["reference"] if options.binary else [])]
    run = {"known": known, "reference": reference, "large": large}
    outcomes = [run[part](options) for part in parts]
    return 0 if all(outcomes) else 1


if __name__ == "__main__":
    sys.exit(main())
