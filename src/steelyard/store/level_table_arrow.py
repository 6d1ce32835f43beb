"""Fast reading of tables in which nothing is unusual."""

from __future__ import annotations

from typing import Any

from steelyard.core.units import LARGEST_VALUE
from steelyard.store.level_columns import Columns, Header

# Tables of up to about a million rows are one block, so that labels need not be unified.
_BLOCK_BYTES = 1 << 26


def read_columns(path: str, header: Header, times: bool) -> Columns | None:
    """The columns of a table; None where a cell is not a number, out of range or such.

    An empty cell of a value or a cost is NaN.

    Notes
    -----
    It never says what is wrong, and never reads a table otherwise than the reader that goes
    row by row: what either could take differently is None.
    """
    import numpy as np
    import pyarrow as pa
    import pyarrow.csv as arrow_csv

    label_type = pa.dictionary(pa.int32(), pa.string())
    types: dict[str, Any] = {str(place): label_type for place in header.level_places}
    for place in (header.value_place, *header.cost_places.values()):
        types[str(place)] = pa.float64()
    try:
        table = arrow_csv.read_csv(
            path,
            read_options=arrow_csv.ReadOptions(
                column_names=[str(place) for place in range(len(header.names))],
                skip_rows=1,
                block_size=_BLOCK_BYTES,
            ),
            convert_options=arrow_csv.ConvertOptions(
                column_types=types, null_values=[""], strings_can_be_null=True
            ),
        ).unify_dictionaries()
    except pa.ArrowInvalid:
        return None
    if not table.num_rows:
        return None
    numbers: dict[int, Any] = {}
    for place in (header.value_place, *header.cost_places.values()):
        column = table.column(str(place))
        found = numbers[place] = column.to_numpy()
        signed = place == header.value_place and not times
        said = found if not column.null_count else found[~np.isnan(found)]
        known = len(said) == len(found) - column.null_count
        if not known or not (np.abs(said) <= LARGEST_VALUE).all():
            return None
        if not signed and said.min(initial=0.0) < 0:
            return None
    labels: list[Any] = []
    for place in header.level_places:
        if table.column(str(place)).null_count:
            return None
        chunks = table.column(str(place)).chunks
        if any(not label.strip() for label in chunks[0].dictionary.to_pylist()):
            return None
        labels.append(np.concatenate([c.indices.to_numpy() for c in chunks]).astype(np.int64))
    costs_s = {level: numbers[place] for level, place in header.cost_places.items()}
    return Columns(labels, numbers[header.value_place], costs_s)
