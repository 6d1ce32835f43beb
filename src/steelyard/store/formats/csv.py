"""CSV: one row a measurement."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from typing import Any

from steelyard.core.decoding import decoding, regular_opener
from steelyard.core.errors import DataError
from steelyard.core.experiment_results import Caution, Experiment
from steelyard.store.experiment_table import check_columns, experiment_from_rows
from steelyard.store.file_format import FileFormat
from steelyard.store.formula_cells import as_text, without_mark
from steelyard.store.imported_experiments import file_source
from steelyard.store.table_columns import REQUIRED
from steelyard.store.whole_file import file_errors, whole_file
from steelyard.store.written_rows import columns_of, left_out, table_rows


def sniff(head: bytes) -> bool:
    """Whether the first line names the columns that must be there."""
    first = head.split(b"\n", 1)[0]
    names = {name.strip(b'" \r') for name in first.split(b",")}
    return all(name.encode() in names for name in REQUIRED)


def write(experiment: Experiment, path: str) -> Sequence[Caution]:
    """Write the measurements, UTF-8, with numbers that read back as they were."""
    with (
        whole_file(path) as partial,
        open(partial, "w", encoding="utf-8", errors="replace", newline="") as file,
    ):
        names = list(columns_of(experiment))
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(map(as_text, names))
        for row in table_rows(experiment):
            row["warmup"] = "true" if row["warmup"] else "false"
            writer.writerow([as_text(row[name]) for name in names])
    return left_out(experiment)


def read(path: str) -> Experiment:
    """The experiment of a table; see `experiment_from_rows` for the columns."""
    with (
        file_errors(path, "read"),
        open(path, encoding="utf-8-sig", newline="", opener=regular_opener) as file,
    ):
        try:
            reader = csv.DictReader(file, strict=True)
            with decoding(f"{path} is not CSV"):
                names = [without_mark(name) for name in reader.fieldnames or ()]
            reader.fieldnames = names
            check_columns(path, names)
            return experiment_from_rows(_rows(path, reader), file_source(path, "csv"))
        except UnicodeDecodeError:
            raise DataError(f"{path} is not UTF-8 text.", field="file") from None
        except csv.Error as error:
            raise DataError(f"{path} is not CSV: {error}.", field="file") from None


def _rows(path: str, reader: csv.DictReader[str]) -> Iterator[dict[str, Any]]:
    for number, row in enumerate(reader, start=1):
        if None in row or None in row.values():
            more = "more" if None in row else "fewer"
            raise DataError(f"{path}: row {number} has {more} cells than columns.", field="file")
        for name, cell in row.items():
            if cell[:1] == "'":
                row[name] = without_mark(cell)
        yield row


EXTENSION = FileFormat(
    name="csv",
    suffixes=(".csv",),
    description="CSV with one row a measurement. Commands, provenance and settings are left out.",
    sniff=sniff,
    read=read,
    write=write,
)
