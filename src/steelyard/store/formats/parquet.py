"""Parquet: one row a measurement, in columns with types."""

from __future__ import annotations

import csv
import io
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence

from steelyard.core.decoding import open_regular
from steelyard.core.errors import DataError
from steelyard.core.experiment_results import Caution, Experiment
from steelyard.store.arrow_table import arrow_table
from steelyard.store.experiment_table import check_columns, experiment_from_rows
from steelyard.store.file_format import FileFormat
from steelyard.store.imported_experiments import file_source
from steelyard.store.whole_file import file_errors, whole_file
from steelyard.store.written_rows import left_out

MAGIC = b"PAR1"
_PROGRAM = "from steelyard.store.parquet_rows import main; raise SystemExit(main())"


def sniff(head: bytes) -> bool:
    """Whether a file starts as every Parquet file does."""
    return head.startswith(MAGIC)


def write(experiment: Experiment, path: str) -> Sequence[Caution]:
    """Write the measurements as one table."""
    import pyarrow.parquet

    table = arrow_table(experiment)
    with whole_file(path) as partial:
        pyarrow.parquet.write_table(table, partial)
    return left_out(experiment)


def read(path: str) -> Experiment:
    """The experiment of a table; see `experiment_from_rows` for the columns.

    It is read by a process of its own that may not take much memory: `parquet_rows`.
    """
    with file_errors(path, "read"):
        os.close(open_regular(path))
    command = [sys.executable, "-c", _PROGRAM, path]
    with tempfile.TemporaryFile() as errors:
        child = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors
        )
        assert child.stdout is not None
        try:
            with io.TextIOWrapper(child.stdout, encoding="utf-8", newline="") as rows:
                experiment = _experiment(path, rows)
        finally:
            child.kill()
            status = child.wait()
            errors.seek(0)
            told = errors.read(1000).decode("utf-8", "replace").strip().split("\n")[-1]
        if experiment is None or status != 0:
            reason = told or f"its reader was ended by signal {-status}"
            raise DataError(f"{path} is not read: {reason}.", field="file") from None
        return experiment


def _experiment(path: str, rows: io.TextIOWrapper) -> Experiment | None:
    """The experiment of the rows that the other process prints; None where there are none."""
    reader = csv.DictReader(rows, strict=True)
    names = reader.fieldnames
    if names is None:
        return None
    check_columns(path, names)
    return experiment_from_rows(reader, file_source(path, "parquet"))


EXTENSION = FileFormat(
    name="parquet",
    suffixes=(".parquet",),
    description="Parquet with one row a measurement. Commands, provenance and settings are left "
    "out.",
    sniff=sniff,
    read=read,
    write=write,
)
