"""Parquet: one row a measurement, in columns with types."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from steelyard.core.errors import DataError
from steelyard.core.model import Caution, Experiment
from steelyard.store.file_format import FileFormat
from steelyard.store.imported import file_source
from steelyard.store.table import (
    COLUMNS,
    check_columns,
    experiment_from_rows,
    left_out,
    table_rows,
)
from steelyard.store.whole_file import file_errors, whole_file

MAGIC = b"PAR1"


def sniff(head: bytes) -> bool:
    """Whether a file starts as every Parquet file does."""
    return head.startswith(MAGIC)


def write(experiment: Experiment, path: str) -> Sequence[Caution]:
    """Write the measurements as one table."""
    import pyarrow
    import pyarrow.parquet

    types = {
        str: pyarrow.string(),
        int: pyarrow.int64(),
        bool: pyarrow.bool_(),
        float: pyarrow.float64(),
    }
    columns: dict[str, list[Any]] = {name: [] for name in COLUMNS}
    for row in table_rows(experiment):
        for name, cells in columns.items():
            cells.append(_encodable(row[name]))
    schema = pyarrow.schema([(name, types[kind]) for name, kind in COLUMNS.items()])
    table = pyarrow.table(columns, schema=schema)
    with whole_file(path) as partial:
        pyarrow.parquet.write_table(table, partial)
    return left_out(experiment)


def _encodable(cell: Any) -> Any:
    return cell.encode("utf-8", "replace").decode() if isinstance(cell, str) else cell


def read(path: str) -> Experiment:
    """The experiment of a table; see `experiment_from_rows` for the columns."""
    import pyarrow
    import pyarrow.parquet

    with file_errors(path, "read"):
        try:
            with pyarrow.parquet.ParquetFile(path) as file:
                check_columns(path, file.schema_arrow.names)
                return experiment_from_rows(_rows(file), file_source(path, "parquet"))
        except pyarrow.ArrowInvalid as error:
            reason = str(error).splitlines()[0].rstrip(".")
            raise DataError(f"{path} is not a Parquet file: {reason}.", field="file") from None


def _rows(file: Any) -> Iterator[dict[str, Any]]:
    known = [name for name in file.schema_arrow.names if name in COLUMNS]
    for batch in file.iter_batches(columns=known):
        yield from batch.to_pylist()


EXTENSION = FileFormat(
    name="parquet",
    suffixes=(".parquet",),
    description="Parquet with one row a measurement. Commands, provenance and settings are left "
    "out.",
    sniff=sniff,
    read=read,
    write=write,
)
