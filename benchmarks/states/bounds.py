"""Lines of a table that say whether a bound holds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

T = TypeVar("T")
_REDRAWS = 1000
_SEED = 20231121


@dataclass(frozen=True)
class Bound:
    """A number with its 95 % interval, and what it has to be at least or at most."""

    what: str
    found: float
    interval: tuple[float, float]
    least: float | None = None
    most: float | None = None

    @property
    def holds(self) -> bool:
        """Whether the number is within."""
        above = self.least is None or self.found >= self.least
        return above and (self.most is None or self.found <= self.most)

    @property
    def broken(self) -> bool:
        """Whether the whole interval is outside."""
        low, high = self.interval
        below = self.least is not None and high < self.least
        return below or (self.most is not None and low > self.most)

    @property
    def line(self) -> str:
        """A row of a table."""
        sign, limit = ("≥", self.least) if self.least is not None else ("≤", self.most)
        low, high = (f"{100 * end:.1f}" for end in self.interval)
        answer = "holds" if self.holds else "**broken**" if self.broken else "within its error"
        shown = f"{100 * self.found:.1f} % ({low} to {high})"
        return f"| {self.what} | {sign} {100 * (limit or 0):.1f} % | {shown} | {answer} |"


HEADER = "| what | bound | found (95 %) | |\n|---|---|---|---|"


def redrawn(groups: Sequence[T], measure: Callable[[Sequence[T]], float]) -> tuple[float, float]:
    """The interval of a measure over groups, such as benchmarks with all their executions, by
    drawing groups anew: executions of one benchmark are alike."""
    generator = np.random.default_rng(_SEED)
    found: list[float] = []
    for _ in range(_REDRAWS):
        found.append(measure([groups[i] for i in generator.integers(0, len(groups), len(groups))]))
    low, high = np.nanquantile(found, (0.025, 0.975))
    return float(low), float(high)


def share_interval(count: int, total: int) -> tuple[float, float]:
    """Wilson's interval of a share."""
    z, share = 1.96, count / total
    middle = (share + z * z / (2 * total)) / (1 + z * z / total)
    reach = z / (1 + z * z / total) * np.sqrt(share * (1 - share) / total + (z / 2 / total) ** 2)
    return float(max(0.0, middle - reach)), float(min(1.0, middle + reach))


def share_bound(
    what: str, count: int, total: int, least: float | None = None, most: float | None = None
) -> Bound:
    """The bound of a share of independent cases."""
    return Bound(what, count / total, share_interval(count, total), least, most)


def lines(bounds: Sequence[Bound]) -> Iterator[str]:
    """The table of some bounds."""
    yield HEADER
    yield from (bound.line for bound in bounds)
