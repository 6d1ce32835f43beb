"""From which numbers does the probability of being not steady come, and what is it worth?

    python -m benchmarks.states.calibration [DATA]

Fits the logistic regression of `analysis/states/steadiness.py` on the executions of DATA
(../shared/data/steady-state unless given), and on all benchmarks but one in turn, so that each is
judged by the others. Prints the weights, and fails if those in the code are others.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.states.judged import percent
from benchmarks.states.published_states import labelled
from steelyard.analysis.states.class_verdict import STEADY_UP_TO, UNSTEADY_FROM, verdict_of
from steelyard.analysis.states.state_rules import Rules
from steelyard.analysis.states.steadiness import LESS_SURE, SURE_FROM, WEIGHTS

Floats = NDArray[np.float64]

DATA = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "steady-state"
# A weight in the code is rounded; redraws with another seed change the third digit.
_AGREE = 0.02
_BANDS = (0.5, 0.7, 0.9, 0.99, 1.0001)
_NAMES = ("intercept", "strength", "knee", "doubt")


def scores_of(folder: Path) -> tuple[Floats, Floats, NDArray[np.int64]]:
    """For each execution that levels decide about: its scores, 1 if it was published as not steady,
    and the number of its benchmark."""
    scores: list[tuple[float, float, float]] = []
    labels: list[float] = []
    groups: list[int] = []
    for group, one in enumerate(labelled(folder)):
        for values, start in zip(one.executions, one.starts, strict=True):
            plain = verdict_of(values, Rules()).unsteadiness
            if plain is not None:
                scores.append(plain.scores)
                labels.append(float(start is None))
                groups.append(group)
    return np.array(scores), np.array(labels), np.array(groups)


def fitted(scores: Floats, labels: Floats) -> Floats:
    """The weights of a logistic regression, the intercept first, by Newton's method."""
    columns = np.column_stack([np.ones(len(scores)), scores])
    weights = np.zeros(columns.shape[1])
    for _ in range(50):
        chances = 1 / (1 + np.exp(-columns @ weights))
        slope = columns.T @ (labels - chances)
        curvature = (columns * (chances * (1 - chances))[:, None]).T @ columns
        step = np.linalg.solve(curvature, slope)
        weights = weights + step
        if float(np.abs(step).max()) < 1e-10:
            break
    return weights


def left_out(scores: Floats, labels: Floats, groups: NDArray[np.int64]) -> Floats:
    """The probability of each execution, by the weights of the other benchmarks."""
    found = np.empty(len(labels))
    for group in np.unique(groups):
        mine = groups == group
        weights = fitted(scores[~mine], labels[~mine])
        found[mine] = 1 / (1 + np.exp(-(weights[0] + scores[mine] @ weights[1:])))
    return found


def tables(probabilities: Floats, labels: Floats) -> Iterator[str]:
    """What the probabilities are worth, as lines of Markdown."""
    not_steady = probabilities > UNSTEADY_FROM
    answered = not_steady | (probabilities <= STEADY_UP_TO)
    right = not_steady == (labels == 1)
    shares = [float(right[answered & (labels == label)].mean()) for label in (0, 1)]
    yield "| of benchmarks left out | |"
    yield "|---|---|"
    yield f"| of the steady, called steady where answered | {percent(shares[0])} |"
    yield f"| of the others, called not steady where answered | {percent(shares[1])} |"
    yield f"| balanced accuracy | {percent(sum(shares) / 2)} |"
    unanswered = percent(1 - float(answered.mean()))
    yield f"| no answer between {STEADY_UP_TO:.0%} and {UNSTEADY_FROM:.0%} | {unanswered} |"
    yield ""
    yield "| stated confidence | executions | stated, mean | as published |"
    yield "|---|---|---|---|"
    sure = np.where(not_steady, probabilities, 1 - probabilities)
    for low, high in pairwise(_BANDS):
        inside = answered & (sure >= low) & (sure < high)
        if inside.any():
            stated, found = float(sure[inside].mean()), float(right[inside].mean())
            name = f"{percent(low)} to {percent(min(1.0, high))}"
            yield f"| {name} | {int(inside.sum())} | {percent(stated)} | {percent(found)} |"


def less_sure_share(probabilities: Floats, labels: Floats) -> float:
    """How many of the answers that are not sure are as published."""
    not_steady = probabilities > UNSTEADY_FROM
    sure = np.where(not_steady, probabilities, 1 - probabilities)
    answered = not_steady | (probabilities <= STEADY_UP_TO)
    return float((not_steady == (labels == 1))[answered & (sure < SURE_FROM)].mean())


def main() -> int:
    """Fit, judge and compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", nargs="?", type=Path, default=DATA)
    options = parser.parse_args()
    scores, labels, groups = scores_of(options.data)
    weights = fitted(scores, labels)
    print(
        f"{len(labels)} executions of {len(np.unique(groups))} benchmarks that levels decide about"
    )
    for name, weight, used in zip(_NAMES, weights, WEIGHTS, strict=True):
        print(f"{name}: {weight:.3f} (in the code {used:.3f})")
    print()
    probabilities = left_out(scores, labels, groups)
    print("\n".join(tables(probabilities, labels)))
    less_sure = less_sure_share(probabilities, labels)
    print(f"\nbelow {SURE_FROM:.0%} as published: {less_sure:.3f} (in the code {LESS_SURE:.3f})")
    apart = [*np.abs(weights - np.array(WEIGHTS)).tolist(), abs(less_sure - LESS_SURE)]
    if max(apart) > _AGREE:
        print("The weights in the code are not those of these executions.", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
