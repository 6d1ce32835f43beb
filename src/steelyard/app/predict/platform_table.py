"""Times of benchmarks on hosts, read from a CSV file in one of two layouts, or from a store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from math import isnan
from typing import TYPE_CHECKING

from steelyard.core.errors import DataError, UsageError
from steelyard.store.store_location import is_store

if TYPE_CHECKING:
    from steelyard.analysis.tables.data_columns import Table
    from steelyard.predict.platforms.host_table import PlatformTable
    from steelyard.predict.platforms.rows import Row

_VALUES = ("value", "seconds", "time", "time_s", "wall_time", "milliseconds", "ms", "mean")
_VARIANTS = ("variant", "compiler")
_REPLICATES = ("replicate", "replication", "run", "iteration", "trial", "repetition", "vm")
_ATTRIBUTES = (
    "isa", "instruction_set", "architecture", "arch", "clock", "clock_mhz", "clock_ghz", "mhz",
    "ghz", "price", "unit", "campaign",
)  # fmt: skip
# The kernel models of up to 64 stand-ins are computed together, each with the square of the hosts;
# correlations with the square of the benchmarks.
MOST_HOSTS = 500
MOST_BENCHMARKS = 2000
_HIGHER = ("higher", "higher-is-better", "larger")


@dataclass(frozen=True)
class TableOptions:
    """How a file is read.

    Parameters
    ----------
    host, benchmark : str
        Columns. A file without the column `benchmark` has a column for each benchmark.
    value : str or None
        The column of values beside `benchmark`; None: the first of the usual names.
    variants : tuple of str
        Columns that make another host of a machine; empty: ``variant`` or ``compiler``.
    higher : tuple of str
        Patterns of benchmarks that are throughputs.
    drop : tuple of str
        Patterns of benchmarks that take no part.
    linear : bool
        Take values as they are instead of their logarithms.
    metric : str or None
        Of a store's experiments; None: the first of each.
    """

    host: str = "host"
    benchmark: str = "benchmark"
    value: str | None = None
    variants: tuple[str, ...] = ()
    higher: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    linear: bool = False
    metric: str | None = None

    @property
    def of_columns(self) -> tuple[str, ...]:
        """The options given that say how columns of a CSV file are read."""
        given = {
            "--host-column": self.host != "host",
            "--value-column": self.value is not None,
            "--variant": bool(self.variants),
        }
        return tuple(name for name, is_given in given.items() if is_given)


def read_platform_table(path: str, options: TableOptions) -> PlatformTable:
    """The hosts, benchmarks and values of a CSV file, or of a store's experiments.

    Raises
    ------
    DataError, AnalysisError, UsageError
        The file is no table, lacks a column, or has values that no model can take.
    """
    if is_store(path):
        return _of_store(path, options)
    if options.metric is not None:
        raise UsageError(
            f"--metric {options.metric} goes with a store of experiments, and {path} is none.",
            field="--metric",
        )
    return _of_file(path, options)


def _of_store(path: str, options: TableOptions) -> PlatformTable:
    from steelyard.app.predict.stored_platform_table import read_stored_times

    if options.of_columns:
        raise UsageError(
            f"{options.of_columns[0]} goes with a CSV file, and {path} is a store of experiments.",
            field=options.of_columns[0],
        )
    times = read_stored_times(path, options.metric)
    table = _table(path, times.rows, times.higher, options, times.attributes)
    return replace(table, cautions=times.cautions)


def _of_file(path: str, options: TableOptions) -> PlatformTable:
    from steelyard.store.data_table import read_data_table

    table = read_data_table(path)
    if options.host not in table.columns:
        named = ", ".join(map(repr, list(table.columns)[:8]))
        raise DataError(
            f"{path} has no column {options.host!r} that names hosts.\nIt has: {named}. "
            "--host-column names another.",
            field="host",
        )
    hosts = _hosts(table, options)
    long = options.benchmark in table.columns
    rows, higher = (_long if long else _wide)(table, hosts, options)
    return _table(path, rows, frozenset(higher), options, _attributes(table, hosts))


def _table(
    path: str,
    rows: Sequence[Row],
    higher: frozenset[str],
    options: TableOptions,
    attributes: Mapping[str, Mapping[str, str]],
) -> PlatformTable:
    from steelyard.predict.platforms.rows import make_table

    _check_patterns(rows, options.higher, "--higher")
    _check_patterns(rows, options.drop, "--drop")
    rows = [row for row in rows if not _matches(row.benchmark, options.drop)]
    if not rows:
        raise DataError(f"{path} has no value for any benchmark.", field="benchmark")
    _check_size(path, rows)
    named = higher | {row.benchmark for row in rows if _matches(row.benchmark, options.higher)}
    return make_table(path, rows, named, "linear" if options.linear else "log", attributes)


def _check_size(path: str, rows: Sequence[Row]) -> None:
    """Refuse a table whose models would fill the memory."""
    hosts = len({row.host for row in rows})
    benchmarks = len({row.benchmark for row in rows})
    if hosts > MOST_HOSTS or benchmarks > MOST_BENCHMARKS:
        raise DataError(
            f"{path} has {hosts} hosts and {benchmarks} benchmarks, which is too many.\n"
            f"Accepted: {MOST_HOSTS} hosts and {MOST_BENCHMARKS:,} benchmarks. --drop leaves "
            "benchmarks out.",
            field="file",
        )


def _check_patterns(rows: Sequence[Row], patterns: Sequence[str], option: str) -> None:
    names = {row.benchmark for row in rows}
    for pattern in patterns:
        if not any(fnmatchcase(name, pattern) for name in names):
            raise UsageError(f"{option} {pattern}: no benchmark is called so.", field=option)


def _matches(name: str, patterns: Sequence[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def _texts(table: Table, name: str) -> list[str]:
    """A column as text, numbers as they would be typed."""
    column = table.columns[name]
    if isinstance(column, tuple):
        return list(column)
    return ["" if isnan(number) else f"{number:.12g}" for number in column.tolist()]


def _hosts(table: Table, options: TableOptions) -> list[str]:
    """For each row the host with its variants."""
    for name in options.variants:
        table.column(name, "--variant")
    variants = options.variants or tuple(name for name in _VARIANTS if name in table.columns)
    columns = [_texts(table, name) for name in (options.host, *variants)]
    found: list[str] = []
    for line, parts in zip(table.lines, zip(*columns, strict=True), strict=True):
        if not parts[0]:
            raise DataError(f"{table.source}, line {line}: no host is named.", field="host")
        found.append("/".join(part for part in parts if part))
    return found


def _long(table: Table, hosts: Sequence[str], options: TableOptions) -> tuple[list[Row], set[str]]:
    """Rows of a file with one row a measurement."""
    from steelyard.predict.platforms.rows import Row

    value = options.value or next((name for name in _VALUES if name in table.columns), None)
    if value is None:
        raise DataError(
            f"{table.source} has no column 'value'.\nA file with a column 'benchmark' has its "
            "times in 'value'; --value-column names another.",
            field="value",
        )
    numbers = table.numbers(value, "--value-column").tolist()
    names = _texts(table, options.benchmark)
    directions = _texts(table, "direction") if "direction" in table.columns else []
    marked = any(name in table.columns for name in _REPLICATES)
    rows = [
        Row(host, name, number, f"line {line}", marked)
        for host, name, number, line in zip(hosts, names, numbers, table.lines, strict=True)
        if not isnan(number)
    ]
    higher = {name for name, way in zip(names, directions, strict=False) if way in _HIGHER}
    return rows, higher


def _wide(table: Table, hosts: Sequence[str], options: TableOptions) -> tuple[list[Row], set[str]]:
    """Rows of a file with one row a host, or a replicate of one, and a column a benchmark."""
    from steelyard.predict.platforms.rows import Row

    if options.value is not None:
        raise UsageError(
            f"--value-column {options.value}: {table.source} has no column 'benchmark' beside it.",
            field="--value-column",
        )
    marked = any(name in table.columns for name in _REPLICATES)
    passed = {options.host, *options.variants, *_VARIANTS, *_REPLICATES, *_ATTRIBUTES}
    rows: list[Row] = []
    for name, column in table.columns.items():
        if name in passed:
            continue
        if isinstance(column, tuple):
            if not _matches(name, options.drop):
                _refuse_text(table, name, column)
            continue
        for host, number, line in zip(hosts, column.tolist(), table.lines, strict=True):
            if not isnan(number):
                rows.append(Row(host, name, number, f"line {line}", marked))
    return rows, set()


def _refuse_text(table: Table, name: str, column: tuple[str, ...]) -> None:
    """A column with more numbers than texts is a benchmark with a cell that is none."""
    odd = [
        (line, cell) for line, cell in zip(table.lines, column, strict=True) if not _number(cell)
    ]
    filled = sum(1 for cell in column if cell)
    if len(odd) * 2 < filled:
        line, cell = odd[0]
        raise DataError(
            f"{table.source}, line {line}, column {name!r}: {cell!r} is no number.\nA cell is a "
            "number, or empty where nothing was measured.",
            field=name,
        )


def _number(cell: str) -> bool:
    try:
        float(cell or "0")
    except ValueError:
        return False
    return True


def _attributes(table: Table, hosts: Sequence[str]) -> dict[str, dict[str, str]]:
    """Known columns about hosts: the first value that each host has."""
    found: dict[str, dict[str, str]] = {}
    for name in _ATTRIBUTES:
        if name in table.columns:
            values: dict[str, str] = {}
            for host, text in zip(hosts, _texts(table, name), strict=True):
                if text:
                    values.setdefault(host, text)
            found[name] = values
    return found
