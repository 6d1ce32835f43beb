"""How often the verdict of a causal analysis is wrong, and how often it is given at all.

``python -m benchmarks.causes [EXPERIMENTS]``: simulated experiments with a known truth, a row for
each size of the factor's effect without and with the intervention. Nothing is timed.
"""

from __future__ import annotations

import sys
from collections import Counter

import numpy as np

from steelyard.analysis.cause.causal_analysis import Names, Terms, causal_analysis
from steelyard.core.estimate import Estimate

EXPERIMENTS = 1000
LEVELS, BLOCKS, NOISE = 8, 10, 0.03
# Spread of the levels without and with the intervention, as shares of the mean.
TRUTHS = ((0.0, 0.0), (0.05, 0.0), (0.05, 0.0125), (0.05, 0.025), (0.05, 0.05), (0.0, 0.05))
NAMES = Names("x", "hold", "time", "s", tuple("abcdefgh"), ("without", "with"))
VERDICTS = ("supported", "not-supported", "nothing-to-explain", "cannot-tell")


def experiment(without: float, held: float, generator: np.random.Generator) -> np.ndarray:
    """Values around 1 with drift from block to block; the effects have just these spreads."""
    shape = generator.normal(size=LEVELS)
    shape = (shape - shape.mean()) / shape.std(ddof=1)
    effects = np.stack([without * shape, held * shape], axis=-1)
    drift = generator.normal(0, 0.05, (BLOCKS, 1, 1))
    return 1 + drift + effects + generator.normal(0, NOISE, (BLOCKS, LEVELS, 2))


def main(count: int) -> None:
    """Print a row for each truth: shares of verdicts, and how often intervals hold the truth."""
    print(f"{LEVELS} levels, {BLOCKS} blocks, noise {NOISE:.0%}, {count} experiments each")
    print("without  with   " + "  ".join(VERDICTS) + "  spread held  share left held")
    for without, held in TRUTHS:
        generator = np.random.default_rng(1)
        verdicts: Counter[str] = Counter()
        spread = left = bounded = 0
        for number in range(count):
            found = causal_analysis(NAMES, experiment(without, held, generator), Terms(seed=number))
            verdicts[found.verdict] += 1
            assert found.without is not None
            spread += found.without.spread.low <= without <= found.without.spread.high
            if without > 0 and isinstance(found.left, Estimate):
                bounded += 1
                left += found.left.low <= (held / without) ** 2 <= found.left.high
        shares = "  ".join(f"{verdicts[v] / count:{len(v)}.3f}" for v in VERDICTS)
        of_left = f"{left / bounded:.3f}" if bounded else "-"
        print(f"{without:7.3f}  {held:.4f} {shares}  {spread / count:11.3f}  {of_left:>15}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else EXPERIMENTS)
