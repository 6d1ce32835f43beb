"""Prints the rows of a Parquet file as CSV, in a process that may not take much memory.

A Parquet file of some kilobytes can hold billions of rows and any amount of text: its pages are
compressed, say themselves how long they become, and refer to one text from each row. What says so
is read by C++ code that trusts it, so it is read in a process of its own.
`formats/parquet.py` starts it.
"""

from __future__ import annotations

import csv
import os
import resource
import sys
from typing import Any

from steelyard.core.repeated_name import repeated_name
from steelyard.store.table_columns import KNOWN_COLUMNS, REQUIRED

# As much as a table of a million rows takes, and four times the file for its pages.
MEMORY_BYTES = 400 * 2**20
MEMORY_FILE_RATIO = 4
PROCESSOR_S = 600
# A row of measurements takes more than this in every file that was written of some.
ROWS_PER_BYTE = 0.25
FEW_ROWS = 10_000
LONGEST_TEXT = 4096
BATCH_ROWS = 4096
_REFUSED_STATUS = 3


class _RefusedError(Exception):
    """The file is none that is read; says why."""


def main() -> int:
    """Limit this process, then print the rows, or why they are not read, on standard error."""
    path = sys.argv[1]
    size_bytes = os.path.getsize(path)
    limit = MEMORY_BYTES + MEMORY_FILE_RATIO * size_bytes
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    resource.setrlimit(resource.RLIMIT_CPU, (PROCESSOR_S, PROCESSOR_S))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        _print_rows(path, size_bytes)
    except _RefusedError as error:
        sys.stderr.write(f"{error}\n")
        return _REFUSED_STATUS
    except MemoryError:
        sys.stderr.write("it becomes too large to be a table of measurements\n")
        return _REFUSED_STATUS
    return 0


def _print_rows(path: str, size_bytes: int) -> None:
    import pyarrow
    import pyarrow.parquet

    pyarrow.set_cpu_count(1)
    pyarrow.set_io_thread_count(1)
    try:
        # Texts stay numbers of a dictionary until they are printed.
        with pyarrow.parquet.ParquetFile(path, memory_map=False, pre_buffer=False) as file:
            names = file.schema_arrow.names
        dictionary = [name for name in names if KNOWN_COLUMNS.get(name) is str]
        with pyarrow.parquet.ParquetFile(
            path, read_dictionary=dictionary, memory_map=False, pre_buffer=False
        ) as file:
            _check_schema(pyarrow, file, size_bytes)
            writer = csv.writer(sys.stdout, lineterminator="\n")
            writer.writerow(names)
            known = [name for name in names if name in KNOWN_COLUMNS]
            places = [known.index(name) if name in KNOWN_COLUMNS else None for name in names]
            for batch in file.iter_batches(BATCH_ROWS, columns=known, use_threads=False):
                columns = [_cells(batch.column(place)) for place in range(len(known))]
                writer.writerows(
                    [row[place] if place is not None else "" for place in places]
                    for row in zip(*columns, strict=True)
                )
    except (pyarrow.ArrowException, OSError, ValueError) as error:
        if isinstance(error, pyarrow.ArrowMemoryError):
            raise MemoryError from None
        raise _RefusedError(" ".join(str(error).splitlines()[:1]).rstrip(".")) from None
    sys.stdout.flush()


def _check_schema(pyarrow: Any, file: Any, size_bytes: int) -> None:
    """Refuse columns of other types and more rows than the file can hold."""
    rows = file.metadata.num_rows
    if rows > FEW_ROWS + ROWS_PER_BYTE * size_bytes:
        raise _RefusedError(
            f"it says to hold {rows:,} rows in {size_bytes:,} bytes, which no measurements are: "
            "write it without compression, or as CSV"
        )
    names = file.schema_arrow.names
    twice = repeated_name(names)
    if twice is not None:
        raise _RefusedError(f"it has the column {twice!r} twice")
    missing = next((name for name in REQUIRED if name not in names), None)
    if missing is not None:
        return
    types = pyarrow.types
    for field in file.schema_arrow:
        kind = KNOWN_COLUMNS.get(field.name)
        found = field.type.value_type if types.is_dictionary(field.type) else field.type
        is_number = types.is_integer(found) or types.is_floating(found)
        is_text = types.is_string(found) or types.is_large_string(found)
        fits = {str: is_text, bool: types.is_boolean(found)}.get(kind, is_number)  # type: ignore[arg-type]
        if kind is not None and not (fits or types.is_null(found)):
            wanted = {str: "texts", bool: "truths"}.get(kind, "numbers")  # type: ignore[arg-type]
            raise _RefusedError(f"the column {field.name!r} must hold {wanted}, not {found}")


def _cells(column: Any) -> list[Any]:
    """The cells of a column as CSV has them."""
    dictionary = getattr(column, "dictionary", None)
    if dictionary is not None:
        texts = dictionary.to_pylist()
        if any(len(text) > LONGEST_TEXT for text in texts if text is not None):
            raise _RefusedError(f"a text has more than {LONGEST_TEXT} characters")
        return ["" if i is None else texts[i] for i in column.indices.to_pylist()]
    return ["" if cell is None else _spelled(cell) for cell in column.to_pylist()]


def _spelled(cell: Any) -> Any:
    return ("false", "true")[cell] if isinstance(cell, bool) else cell
