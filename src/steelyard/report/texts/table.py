"""Tables as headers and rows of text, for every face that shows them."""

from __future__ import annotations

from typing import NamedTuple

from steelyard.core.experiment_spec import MetricSpec

UNAVAILABLE = "not available"


class Table(NamedTuple):
    """Headers and rows of text. `left` holds the indices of left-aligned columns, `spare` those
    that may be left out where there is no room, the first of them first."""

    headers: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    left: frozenset[int] = frozenset({0})
    spare: tuple[int, ...] = ()

    def without(self, column: int) -> Table:
        """The table without one column."""
        keep = [index for index in range(len(self.headers)) if index != column]
        place = {index: new for new, index in enumerate(keep)}
        return Table(
            tuple(self.headers[index] for index in keep),
            tuple(tuple(row[index] for index in keep) for row in self.rows),
            frozenset(place[index] for index in self.left if index in place),
            tuple(place[index] for index in self.spare if index in place),
        )


class Scale(NamedTuple):
    """One unit for all values of a metric that are shown together, with as many decimals as
    their intervals deserve."""

    factor: float
    unit: str
    decimals: int

    def number(self, value: float) -> str:
        """`value` in this unit, without its name."""
        return f"{value / self.factor:.{self.decimals}f}"

    def label(self, metric: MetricSpec) -> str:
        """The metric with its unit, such as ``wall_time [ms]``."""
        return f"{metric.name} [{self.unit}]" if self.unit else metric.name
