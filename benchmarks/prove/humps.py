"""Proves the warning of several modes by simulation with a known truth.

    python -m benchmarks.prove.humps [--experiments N] [--no-docs]

A row for each distribution and number of values: how often the warning comes, and how often it
names as many modes as there are. Writes its table into docs/STATISTICS.md. Exit status 1 where
values with one mode are warned of more often than `MOST_ALARMS`, or clear modes less often than
`FEWEST_FOUND`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from numpy.typing import NDArray

from benchmarks.prove.proof_page import Proof, is_above, is_below, prove
from steelyard.analysis.comparison.mode_cautions import level_mode_cautions, mode_cautions
from steelyard.analysis.variance.nested_values import nested_values
from steelyard.core.rng import derive_seed

Array = NDArray[np.float64]
EXPERIMENTS = 10_000
# The test is at 1 % for the distribution with one mode that looks most like two, the uniform one.
MOST_ALARMS = 0.01
FEWEST_FOUND = 0.95
COUNTS = (10, 20, 50, 200)


@dataclass(frozen=True)
class Situation:
    """Values of one kind, and the number of modes of their distribution.

    `promised` says whether several modes are clear enough to be found; `places` are those of
    nested values, by level.
    """

    name: str
    count: int
    draw: Callable[[np.random.Generator, int], Array]
    modes: int = 1
    promised: bool = True
    nested: tuple[int, ...] = ()


def lumps(within: float, shares: Sequence[float] = (0.6, 0.4), apart: float = 0.3):
    """Values near 1.0 s, 1.3 s and so on, by their shares."""

    def draw(generator: np.random.Generator, count: int) -> Array:
        lump = generator.choice(len(shares), count, p=shares)
        return 1.0 + apart * lump + within * generator.standard_normal(count)

    return draw


def remembered(generator: np.random.Generator, count: int) -> Array:
    """Normal values that keep half of the last one's deviation."""
    noise = generator.standard_normal(count + 50)
    for place in range(1, len(noise)):
        noise[place] += 0.5 * noise[place - 1]
    return 1 + 0.05 * noise[50:]


ONE_MODE: dict[str, Callable[[np.random.Generator, int], Array]] = {
    "normal": lambda g, n: 1 + 0.05 * g.standard_normal(n),
    "uniform": lambda g, n: 1 + g.random(n),
    "exponential": lambda g, n: 1 + g.exponential(size=n),
    "lognormal 50 %": lambda g, n: np.exp(0.47 * g.standard_normal(n)),
    "t with 3 degrees": lambda g, n: 1 + 0.05 * g.standard_t(3, n),
    "normal, rounded to a deviation": lambda g, n: np.round(1 + 0.01 * g.standard_normal(n), 2),
    "normal, AR(0.5)": remembered,
}


def level_effects(top: bool):
    """20 builds x 10 executions, of which one level has two humps and the other is normal."""

    def draw(generator: np.random.Generator, _: int) -> Array:
        two, one = lumps(0.03)(generator, 200), 0.1 * generator.standard_normal(200)
        build, execution = (two, 0.3 * one) if top else (one, two)
        return np.repeat(build[:20], 10) + execution

    return draw


def nested_normal(generator: np.random.Generator, _: int) -> Array:
    """20 builds x 10 executions, all normal; builds vary three times as much."""
    return (
        1
        + np.repeat(0.15 * generator.standard_normal(20), 10)
        + (0.05 * generator.standard_normal(200))
    )


def situations() -> Iterator[Situation]:
    """Everything that is simulated."""
    for name, draw in ONE_MODE.items():
        for count in COUNTS:
            yield Situation(name, count, draw)
    for within, first in ((0.01, 50), (0.03, 50), (0.05, 200), (0.07, 1000)):
        for count in (*COUNTS[1:], 1000):
            name = f"60 % at 1.0 s, 40 % at 1.3 s, ± {1000 * within:.0f} ms"
            yield Situation(name, count, lumps(within), 2, count >= first)
    for count in (50, 200):
        three = lumps(0.02, (0.4, 0.3, 0.3))
        yield Situation("40, 30, 30 % at 1.0, 1.3, 1.6 s, ± 20 ms", count, three, 3, count >= 200)
    yield Situation("20 builds x 10, normal", 200, nested_normal, nested=(20, 10))
    yield Situation("20 builds x 10, executions in two humps", 200, level_effects(False), 2,
                    nested=(20, 10))  # fmt: skip
    yield Situation("20 builds x 10, builds in two humps", 200, level_effects(True), 2, False,
                    nested=(20, 10))  # fmt: skip


SITUATIONS = tuple(situations())


@dataclass(frozen=True)
class Outcome:
    """How often one situation was warned of, and with as many modes as there are.

    `place` is that of the situation, which holds functions that no process hands to another.
    """

    place: int
    warned: float
    right: float
    count: int

    @property
    def situation(self) -> Situation:
        """What was simulated."""
        return SITUATIONS[self.place]

    def problems(self) -> Iterator[str]:
        """Promises that were not kept, beyond chance."""
        asked = self.situation
        name = f"{asked.name}, {asked.count} values"
        if asked.modes == 1:
            # A level each may give a false alarm.
            levels = max(1, len(asked.nested))
            if is_above(round(self.warned * self.count), self.count, levels * MOST_ALARMS):
                yield f"{name}: {100 * self.warned:.2f} % false alarms"
        elif asked.promised and is_below(round(self.right * self.count), self.count, FEWEST_FOUND):
            yield f"{name}: {100 * self.right:.1f} % found"


def simulate(place: int, experiments: int) -> Outcome:
    """Many samples of one kind."""
    situation = SITUATIONS[place]
    seed = derive_seed(1, "humps", situation.name, situation.count)
    generator = np.random.default_rng(seed)
    warned = right = 0
    labels = [place.ravel().astype(np.int64) for place in np.indices(situation.nested or (1,))]
    for _ in range(experiments):
        values = situation.draw(generator, situation.count)
        if situation.nested:
            data = nested_values(("build", "execution"), labels, values)
            found = list(level_mode_cautions(data, "time", "s"))
        else:
            found = list(mode_cautions("time", values.tolist(), "s"))
        warned += bool(found)
        right += any(f"lie in {situation.modes} humps" in one.message for one in found)
    return Outcome(place, warned / experiments, right / experiments, experiments)


def report(outcomes: Sequence[Outcome], experiments: int) -> list[str]:
    """The table for the docs."""
    lines = [
        f"### Several modes, {experiments} samples each",
        "",
        "| distribution | values | modes | warned % | with as many modes % | promised |",
        "|---|---|---|---|---|---|",
    ]
    for outcome in outcomes:
        asked = outcome.situation
        several = asked.modes > 1
        promise = (
            f"≤ {100 * MOST_ALARMS:g} % a level" if not several else f"≥ {100 * FEWEST_FOUND:g} %"
        )
        cells = (
            asked.name, str(asked.count), str(asked.modes), f"{100 * outcome.warned:.2f}",
            f"{100 * outcome.right:.1f}" if several else "",
            promise if not several or asked.promised else "–",
        )  # fmt: skip
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def problems(outcome: Outcome) -> list[str]:
    """What is wrong with one outcome, by its name."""
    return list(outcome.problems())


PROOF = Proof(
    "benchmarks.prove.humps",
    __doc__ or "",
    "prove humps",
    EXPERIMENTS,
    range(len(SITUATIONS)),
    simulate,
    report,
    problems,
)

if __name__ == "__main__":
    sys.exit(prove(PROOF))
