"""A platform table from measurements: checks what no model could mend."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from steelyard.core.errors import AnalysisError
from steelyard.predict.platforms.host_table import PlatformTable, Scale

SMALLEST_TABLE = 2
# The square of a larger value on the linear scale, summed, is not finite.
LARGEST_LINEAR = 1e100


@dataclass(frozen=True)
class Row:
    """One measurement.

    Parameters
    ----------
    host, benchmark : str
    value : float
        A time or a throughput.
    place : str
        Where it stands, for messages, such as ``"line 7"``.
    replicate : bool
        Whether the file says of which replicate it is.
    """

    host: str
    benchmark: str
    value: float
    place: str
    replicate: bool = False


def make_table(
    source: str,
    rows: Sequence[Row],
    higher_is_better: frozenset[str] = frozenset(),
    scale: Scale = "log",
    attributes: Mapping[str, Mapping[str, str]] | None = None,
) -> PlatformTable:
    """The table of all rows, in the order in which hosts and benchmarks first occur.

    Parameters
    ----------
    source : str
        For messages.
    rows : sequence of Row
    higher_is_better : frozenset of str
        Benchmarks that give throughputs.
    scale : {"log", "linear"}
    attributes : mapping of str to mapping of str to str
        By name, the value for each host.

    Raises
    ------
    AnalysisError
        A value is not above 0 (not finite, on the linear scale); a host has a benchmark twice
        while most hosts have it once; there are fewer than two hosts or benchmarks.
    """
    cells: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in rows:
        _check_value(source, row, scale)
        cells[row.host, row.benchmark].append(row)
    _check_twice(source, cells)
    hosts = tuple(dict.fromkeys(row.host for row in rows))
    benchmarks = tuple(dict.fromkeys(row.benchmark for row in rows))
    if len(hosts) < SMALLEST_TABLE or len(benchmarks) < SMALLEST_TABLE:
        raise AnalysisError(
            f"{source} has {len(hosts)} hosts and {len(benchmarks)} benchmarks: too few to learn "
            f"from.\nA prediction needs times of at least {SMALLEST_TABLE} benchmarks on at least "
            f"{SMALLEST_TABLE} hosts, and is refused below 3 known hosts."
        )
    costs = np.full((len(hosts), len(benchmarks)), np.nan)
    variances = costs.copy()
    host_of = {name: place for place, name in enumerate(hosts)}
    benchmark_of = {name: place for place, name in enumerate(benchmarks)}
    for (host, benchmark), found in cells.items():
        sign = -1.0 if benchmark in higher_is_better else 1.0
        values = np.array([row.value for row in found])
        values = sign * (np.log(values) if scale == "log" else values)
        cell = host_of[host], benchmark_of[benchmark]
        costs[cell] = values.mean()
        if len(values) > 1:
            variances[cell] = values.var(ddof=1) / len(values)
    return PlatformTable(
        source,
        hosts,
        benchmarks,
        costs,
        variances,
        tuple(name in higher_is_better for name in benchmarks),
        scale,
        {name: tuple(of.get(h, "") for h in hosts) for name, of in (attributes or {}).items()},
    )


def _check_value(source: str, row: Row, scale: Scale) -> None:
    if scale == "linear" and abs(row.value) > LARGEST_LINEAR and np.isfinite(row.value):
        raise AnalysisError(
            f"{source}, {row.place}: {row.benchmark} on {row.host} is {row.value:g}, which is too "
            f"large.\nAt most {LARGEST_LINEAR:g} is accepted as it is; leave out --linear to take "
            "logarithms.",
            field="value",
        )
    if np.isfinite(row.value) and (row.value > 0 or scale == "linear"):
        return
    raise AnalysisError(
        f"{source}, {row.place}: {row.benchmark} on {row.host} is {row.value:g}, not above 0.\n"
        "A time or a throughput is above 0. Leave the cell empty where nothing was measured, or "
        "drop the benchmark where 0 is a possible value.",
        field="value",
    )


def _check_twice(source: str, cells: Mapping[tuple[str, str], list[Row]]) -> None:
    """A cell with several rows is replicates only where the file says so or most cells are."""
    several = [found for found in cells.values() if len(found) > 1]
    unmarked = [found for found in several if not all(row.replicate for row in found)]
    same = [found for found in unmarked if len({row.value for row in found}) == 1]
    if not unmarked or (len(several) * 2 >= len(cells) and not same):
        return
    first = (same or unmarked)[0]
    places = " and ".join(row.place for row in first[:2])
    raise AnalysisError(
        f"{source}: {first[0].host} has {first[0].benchmark} twice ({places}).\n"
        "A host has one row for each benchmark, unless a column `replicate` numbers replicates. "
        "Where the two rows are of different set-ups, name the column that tells them apart by "
        "--variant.",
        field="host",
    )
