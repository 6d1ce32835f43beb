"""The measurements of an experiment as an Arrow table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from steelyard.store.written_rows import columns_of, table_rows

if TYPE_CHECKING:
    import pyarrow

    from steelyard.core.experiment_results import Experiment


def arrow_table(experiment: Experiment) -> pyarrow.Table:
    """One row a measurement, in the columns and with the types of `columns_of`."""
    import pyarrow

    types = {
        str: pyarrow.string(),
        int: pyarrow.int64(),
        bool: pyarrow.bool_(),
        float: pyarrow.float64(),
    }
    kinds = columns_of(experiment)
    columns: dict[str, list[Any]] = {name: [] for name in kinds}
    for row in table_rows(experiment):
        for name, cells in columns.items():
            cells.append(_encodable(row[name]))
    schema = pyarrow.schema([(name, types[kind]) for name, kind in kinds.items()])
    return pyarrow.table(columns, schema=schema)


def _encodable(cell: Any) -> Any:
    return cell.encode("utf-8", "replace").decode() if isinstance(cell, str) else cell
