"""Any CSV as columns."""

from __future__ import annotations

import math

import numpy as np
import pytest

from steelyard.core.errors import DataError
from steelyard.store.data_table import read_data_table


def written(tmp_path, text, name="data.csv"):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return str(path)


def test_columns_of_numbers_are_arrays_and_others_texts(tmp_path):
    table = read_data_table(written(tmp_path, "a, b ,c\n1,x,2\n\n,y,nan\n1e3,2,inf\n"))
    assert list(table.columns) == ["a", "b", "c"]
    assert table.columns["b"] == ("x", "y", "2")
    assert table.columns["a"].tolist()[::2] == [1.0, 1000.0]
    assert math.isnan(table.columns["a"][1])
    assert math.isnan(table.columns["c"][1])
    assert table.columns["c"][2] == math.inf
    assert table.lines == [2, 4, 5]
    assert table.row_count == 3


def test_missing_cells_make_no_column_of_numbers_one_of_texts(tmp_path):
    table = read_data_table(written(tmp_path, "a,b\n1,x\nNA,NA\n ,\nNaN,nan\n2,-inf\n"))
    assert np.isnan(table.columns["a"][1:4]).all()
    assert table.columns["b"] == ("x", "", "", "", "")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("\n\n", "is empty"),
        ("a,b\n", "header and no row"),
        ("a,b\n1\n", "line 2: 1 cells, but the header has 2"),
        ("a,a\n1,2\n", "column 2 is named 'a' as one before"),
        ("a,\n1,2\n", "column 2 is without a name"),
        ('a,b\n"1,2\n', "not CSV"),
        (b"a,b\n\xff,1\n", "not UTF-8"),
        ('[{"a": 1}]', "is JSON"),
    ],
)
def test_what_is_no_table_is_one_clear_error(tmp_path, text, message):
    with pytest.raises(DataError, match=message) as caught:
        read_data_table(written(tmp_path, text))
    assert "data.csv" in caught.value.message
    assert caught.value.field


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(DataError, match=r"no\.csv cannot be read"):
        read_data_table(str(tmp_path / "no.csv"))


def test_a_revision_that_looks_like_a_number_beyond_all_is_a_text(tmp_path):
    mixed = read_data_table(written(tmp_path, "a\n81441e246223\nc750cbe5c17d\ninf\n"))
    assert mixed.columns["a"] == ("81441e246223", "c750cbe5c17d", "")
    alone = read_data_table(written(tmp_path, "a\n81441e246223\n"))
    assert alone.columns["a"] == ("81441e246223",)
