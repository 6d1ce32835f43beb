"""Times of benchmarks on hosts, as costs: on a scale where lower is better and models work."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from steelyard.core.errors import AnalysisError
from steelyard.core.experiment_results import Caution
from steelyard.predict.arrays import Floats

Scale = Literal["log", "linear"]


@dataclass(frozen=True)
class PlatformTable:
    """What is known of hosts and benchmarks.

    Parameters
    ----------
    source : str
        The file or store it is from, for messages.
    hosts, benchmarks : tuple of str
        Unique names. A host is a machine with whatever else the table varies, such as a compiler.
    costs : array, shape (h, b)
        Logarithms of times, or of throughputs with the sign changed; on the linear scale the
        times themselves, or throughputs with the sign changed. Means over replicates. NaN where
        nothing was measured.
    variances : array, shape (h, b)
        Variance of each mean, from its replicates; NaN where there is one value.
    higher_is_better : tuple of bool
        For each benchmark whether it is a throughput.
    scale : {"log", "linear"}
    attributes : mapping of str to tuple of str
        What else is known of each host, such as its instruction set.
    cautions : tuple of Caution
        What of the source took no part.
    """

    source: str
    hosts: tuple[str, ...]
    benchmarks: tuple[str, ...]
    costs: Floats
    variances: Floats
    higher_is_better: tuple[bool, ...]
    scale: Scale = "log"
    attributes: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, "tuple[str, ...]"])
    cautions: tuple[Caution, ...] = ()

    def place_of(self, benchmark: str) -> int:
        """The column of a benchmark.

        Raises
        ------
        AnalysisError
            The table has none of this name; the message lists those that it has.
        """
        return _place(self.benchmarks, benchmark, "benchmark", self.source, "application")

    def host_place(self, host: str, option: str = "host") -> int:
        """The row of a host; raises as `place_of`."""
        return _place(self.hosts, host, "host", self.source, option)

    def natural(self, benchmark: int, cost: float) -> float:
        """A cost as the benchmark measures it: a time or a throughput."""
        signed = -cost if self.higher_is_better[benchmark] else cost
        return float(np.exp(signed)) if self.scale == "log" else signed

    def without(self, hosts: Sequence[int] = (), benchmarks: Sequence[int] = ()) -> PlatformTable:
        """The table less some hosts and benchmarks."""
        rows = [row for row in range(len(self.hosts)) if row not in set(hosts)]
        columns = [
            column for column in range(len(self.benchmarks)) if column not in set(benchmarks)
        ]
        return replace(
            self,
            hosts=tuple(self.hosts[row] for row in rows),
            benchmarks=tuple(self.benchmarks[column] for column in columns),
            costs=self.costs[np.ix_(rows, columns)],
            variances=self.variances[np.ix_(rows, columns)],
            higher_is_better=tuple(self.higher_is_better[column] for column in columns),
            attributes={
                name: tuple(values[row] for row in rows) for name, values in self.attributes.items()
            },
        )


def _place(names: tuple[str, ...], name: str, word: str, source: str, option: str) -> int:
    try:
        return names.index(name)
    except ValueError:
        shown = ", ".join(names[:12]) + (", ..." if len(names) > 12 else "")
        raise AnalysisError(
            f"{source} has no {word} called {name!r}.\nIt has {len(names)}: {shown}", field=option
        ) from None
