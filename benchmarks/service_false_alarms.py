"""How often does a gate of 2 % fail where nothing changed, on workers whose times vary by 3 %?

    python -m benchmarks.service_false_alarms [--experiments N]

Experiments of equal programs, made up as a service runs them: workers of which one is up to twice
as slow as another, blocks that stay on one worker, times that vary by 3 % in each trial. The
interval, and the verdict that `--fail-if slower` heeds, come from the functions that answer a real
experiment. Beside it the rule of many hosted gates: fail where the mean is more than 2 % higher.
Exit status 1 where false alarms are more often than 0.1 %, beyond chance.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

import numpy as np

from benchmarks.prove.judging import inference, top_levels
from benchmarks.prove.proof_page import is_above
from steelyard.analysis.comparison.ratio_verdict import decide
from steelyard.core.rng import derive_seed
from steelyard.predict.arrays import Floats

GATE, VARIATION, MOST_FALSE = 0.02, 0.03, 0.001
WORKERS, BLOCKS = (1, 2, 4, 8), (8, 12, 16, 32, 64)
EXPERIMENTS = 10_000


def _normal(generator: np.random.Generator, shape: tuple[int, int]) -> Floats:
    return 1 + VARIATION * generator.standard_normal(shape)


def _skewed(generator: np.random.Generator, shape: tuple[int, int]) -> Floats:
    spread = float(np.sqrt(np.log1p(VARIATION**2)))
    return generator.lognormal(-(spread**2) / 2, spread, shape)


def _disturbed(generator: np.random.Generator, shape: tuple[int, int]) -> Floats:
    """One run in twenty is disturbed, and takes a tenth longer; the variation is 3 % in all."""
    late = 0.1 * (generator.random(shape) < 0.05)
    rest = float(np.sqrt(VARIATION**2 - 0.1**2 * 0.05 * 0.95))
    return (1 + rest * generator.standard_normal(shape) + late) / 1.005


POPULATIONS = {"normal": _normal, "lognormal": _skewed, "disturbed": _disturbed}


def false_alarms(population: str, workers: int, blocks: int, experiments: int) -> tuple[int, int]:
    """Of some experiments with equal programs: how many fail the gate, by verdict and by means."""
    generator = np.random.default_rng(derive_seed(1, "gate", population, workers, blocks))
    tool = inference(2)
    by_verdict = by_means = 0
    for _ in range(experiments):
        slowness = np.exp(generator.uniform(0, np.log(2), workers))
        levels = np.resize(slowness, blocks)
        baseline, candidate = (
            (levels * values).tolist() for values in POPULATIONS[population](generator, (2, blocks))
        )
        (ratio,) = tool.ratios(top_levels((baseline, candidate)))
        by_verdict += decide(ratio.interval, GATE, "lower") == "slower"
        by_means += sum(candidate) > (1 + GATE) * sum(baseline)
    return by_verdict, by_means


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a row for each kind of service."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--experiments", type=int, default=EXPERIMENTS)
    count = parser.parse_args(arguments).experiments
    print("| times | workers | blocks | false alarms | by means alone |")
    print("|---|---|---|---|---|")
    failed = False
    for population in POPULATIONS:
        for workers in WORKERS:
            for blocks in BLOCKS:
                if blocks < 2 * workers:
                    continue
                told, means = false_alarms(population, workers, blocks, count)
                failed = failed or is_above(told, count, MOST_FALSE)
                print(
                    f"| {population} | {workers} | {blocks} | {told} of {count} "
                    f"| {100 * means / count:.2f} % |",
                    flush=True,
                )
    print("DOES NOT HOLD" if failed else "holds")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
