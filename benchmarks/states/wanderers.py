"""Values that remember: short memories are one level, long ones have none."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.states.bounds import Bound, share_bound
from benchmarks.states.judged import percent
from steelyard.analysis.states.execution import Rules, execution_state

Floats = NDArray[np.float64]
_BURN_IN = 1000
# Of walks under noise: those that levels explain as well are answered.
_HIDDEN_REFUSED = 0.6
_SEED = 19790612
COLUMNS = (
    "flat",
    "warm-up or slow-down",
    "cyclic",
    "drift",
    "no-steady-state",
    "wandering",
    "other",
)


@dataclass(frozen=True)
class Remembering:
    """Iterations around 1 of which each remembers the share `memory` of the last deviation; 1 is a
    random walk. `spread` is the standard deviation of the values, of a walk that of its steps.
    `level` says whether a level holds: the truth is then `flat`. `noise` is what each value has of
    its own beside it, as a standard deviation."""

    count: int
    memory: float
    spread: float
    level: bool
    noise: float = 0.0

    @property
    def name(self) -> str:
        """What it remembers, in the table."""
        name = "random walk" if self.memory == 1 else f"{self.memory:g}"
        return f"{name}, noise {percent(self.noise)}" if self.noise else name

    def made(self, generator: np.random.Generator) -> Floats:
        """One execution."""
        walks = self.memory == 1
        steps = generator.standard_normal(self.count + (0 if walks else _BURN_IN))
        if not walks:
            steps *= np.sqrt(1 - self.memory**2)
        found = np.empty(len(steps))
        last = 0.0
        for index, step in enumerate(steps.tolist()):
            last = self.memory * last + step
            found[index] = last
        values = 1 + self.spread * found[-self.count :]
        if self.noise:
            values += self.noise * generator.standard_normal(self.count)
        return np.maximum(values, 0.05)


KINDS = (
    *(Remembering(n, m, 0.02, True) for n in (100, 300, 3000) for m in (0.0, 0.5, 0.8)),
    *(Remembering(n, 0.99, s, False) for n, s in ((100, 0.1), (300, 0.05), (3000, 0.03))),
    *(Remembering(n, 1.0, s, False) for n, s in ((100, 0.02), (300, 0.01), (3000, 0.003))),
    *(Remembering(n, 1.0, s, False, 0.05) for n, s in ((500, 0.01), (1000, 0.005), (3000, 0.003))),
)


def answers(kind: Remembering, each: int, generator: np.random.Generator) -> Counter[str]:
    """How often each column of the table is the answer."""
    found: Counter[str] = Counter()
    for _ in range(each):
        one = execution_state("", kind.made(generator), Rules())
        code = one.refusal.code if one.refusal is not None else ""
        told = one.state or ("wandering" if code == "wandering" else "other")
        found[next(column for column in COLUMNS if told in column.split(" or "))] += 1
    return found


def wanderer_tables(each: int) -> tuple[list[str], list[Bound]]:
    """The table, as lines of Markdown, and what has to hold."""
    generator = np.random.default_rng(_SEED)
    lines = [
        f"Values that remember the last one, {each} executions a row; `other` are other refusals:",
        "",
        f"| iterations | memory | spread | {' | '.join(COLUMNS)} |",
        "|---" * (3 + len(COLUMNS)) + "|",
    ]
    bounds: list[Bound] = []
    for kind in KINDS:
        found = answers(kind, each, generator)
        shown = " | ".join(percent(found[column] / each) for column in COLUMNS)
        lines.append(f"| {kind.count} | {kind.name} | {percent(kind.spread)} | {shown} |")
        refused = found["wandering"] + found["other"]
        what = f"{kind.count} iterations, memory {kind.name}, spread {percent(kind.spread)}"
        if kind.level:
            wrong = each - found["flat"] - refused
            bounds.append(share_bound(f"{what}: neither flat nor refused", wrong, each, most=0.02))
        else:
            least = _HIDDEN_REFUSED if kind.noise else 0.9
            bounds.append(share_bound(f"{what}: refused", refused, each, least=least))
    return lines, bounds
