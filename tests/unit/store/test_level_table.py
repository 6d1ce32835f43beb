import pytest

from steelyard.core.errors import DataError
from steelyard.store import level_table
from steelyard.store.level_table import read_level_table


@pytest.fixture
def table(tmp_path):
    def write(text, times=True):
        path = tmp_path / "times.csv"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return read_level_table(str(path), times)

    return write


@pytest.fixture(params=["fast", "row by row"])
def either(request, table, monkeypatch):
    """Reads with the fast reader, which must then be the one that answers, or without it."""

    def fail(*_):
        raise AssertionError("the fast reader has no answer")

    def write(text, times=True):
        if request.param == "fast":
            monkeypatch.setattr(level_table, "_checked_table", fail)
        else:
            monkeypatch.setattr("steelyard.store.level_table_arrow.read_columns", lambda *_: None)
        return table(text, times)

    return write


def rows(*lines):
    return "\n".join(lines) + "\n"


def test_every_other_column_is_a_level_highest_first(either):
    found = either(rows("machine,build,iteration,value", "a,1,1,5", "a,1,2,6", "b,1,1,7"))
    assert found.data.levels == ("machine", "build", "iteration")
    assert found.data.unit_counts() == (2, 2, 3)
    assert found.data.values.tolist() == [5, 6, 7]


def test_a_label_holds_within_the_unit_above(either):
    found = either(rows("build,execution,value", "1,1,5", "2,1,6", "1,2,7"))
    assert found.data.unit_counts() == (2, 3)
    assert found.data.values.tolist() == [5, 7, 6]


def test_known_levels_alone_may_stand_in_any_order(either):
    found = either(rows("value,iteration,execution", "5,1,1", "6,2,1", "7,1,2"))
    assert found.data.levels == ("execution", "iteration")
    assert found.data.unit_counts() == (2, 3)


def test_known_levels_in_the_wrong_order_around_others_are_refused(table):
    with pytest.raises(DataError, match=r"line 1: .* execution before iteration; found iteration"):
        table(rows("iteration,machine,execution,value", "1,1,1,1"))


def test_costs_are_means_over_units_not_over_rows(either):
    found = either(
        rows(
            "build,execution,iteration,value,cost_build_s,cost_execution_s",
            "1,1,1,5,60,2",
            "1,1,2,5,60,2",
            "1,1,3,5,60,2",
            "2,1,1,5,90,4",
        )
    )
    assert found.costs_s == {"build": 75, "execution": 3}


def test_costs_may_be_said_once_for_each_unit(either):
    found = either(
        rows("execution,iteration,value,cost_execution_s", "1,1,5,2", "1,2,5,", "2,1,5,4", "2,2,5,")
    )
    assert found.costs_s == {"execution": 3}


def test_a_cost_without_any_number_is_not_known(either):
    assert either(rows("execution,value,cost_execution_s", "1,5,", "2,5,")).costs_s == {}


def test_rows_without_a_value_are_left_out_and_counted(either):
    found = either(rows("execution,iteration,value", "1,1,5", "1,2,", "2,1,6"))
    assert found.missing_count == 1
    assert found.data.values.tolist() == [5, 6]


def test_a_mark_of_byte_order_empty_lines_and_windows_ends_are_nothing(either):
    found = either(b"\xef\xbb\xbfexecution,value\r\n1,5\r\n\r\n2,6\r\n")
    assert found.data.values.tolist() == [5, 6]


def test_labels_may_be_quoted_texts(either):
    found = either(rows("machine,execution,value", '"big, old",1,5', '"big, old",2,6', "NA,1,7"))
    assert found.data.unit_counts() == (2, 3)


def test_values_other_than_times_may_be_negative(either):
    assert either(rows("execution,value", "1,-5", "2,6"), times=False).data.values.min() == -5


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("execution,value\n", "has a header and no row"),
        ("a,b\n1,2\n", "line 1: there is no column 'value'"),
        ("value\n1\n", "line 1: there is no column of a repetition level"),
        ("execution,execution,value\n1,1,1\n", "column 2 is named 'execution' as one before"),
        ("execution,,value\n1,1,1\n", "column 2 is without a name"),
        ("execution,value,cost_build_s\n1,1,1\n", "'cost_build_s' is the cost of a level without"),
        ("variant,metric,value\na,b,1\n", "steelyard import .*then `steelyard dimension latest`"),
        ("execution,value\n1,abc\n", "line 2, column 'value': wanted a number, found 'abc'"),
        ("execution,value\n1,1\n2,nan\n", "line 3, column 'value': wanted a finite number"),
        ("execution,value\n1,1\n2,-inf\n", "line 3, column 'value': wanted a finite number"),
        ("execution,value\n1,1\n\n2,-3\n", "line 4, column 'value': wanted a time, which cannot"),
        ("execution,value\n1,1\n2\n", "line 3: 1 cells, but the header has 2 columns"),
        ("execution,value\n1,1\n,2\n", "line 3, column 'execution': wanted a label"),
        ("execution,value\n1,1\n2,1\n1,3\n", "line 4: the same execution as in line 2"),
        ("execution,value\n1,\n2,\n", "holds no value"),
        ("execution,value,cost_execution_s\n1,1,x\n", "line 2, column 'cost_execution_s'"),
        ("execution,value,cost_execution_s\n1,1,-1\n", "'cost_execution_s': wanted a time"),
        (b"execution,value\n1,\xff\n", "not UTF-8"),
        ('{"benchmarks": []}\n', "there is no column 'value'"),
        ('execution,value\n1,"2\n', "not CSV"),
    ],
)
def test_what_is_wrong_is_said_with_line_and_column(table, text, message):
    with pytest.raises(DataError, match=message):
        table(text)


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(DataError, match=r"nowhere\.csv cannot be read"):
        read_level_table(str(tmp_path / "nowhere.csv"), True)


@pytest.mark.parametrize("column", ["value", "cost_execution_s"])
def test_a_number_that_is_not_plausible_is_named(table, column):
    numbers = {"value": "1", "cost_execution_s": "1", column: "1e308"}
    with pytest.raises(DataError, match=f"line 2, column '{column}': wanted at most 1e.150"):
        table(rows("execution,value,cost_execution_s", f"1,{','.join(numbers.values())}"))


def test_columns_of_more_levels_than_any_experiment_has_are_refused(tmp_path):
    path = tmp_path / "levels.csv"
    names = [f"c{place}" for place in range(40)]
    path.write_text(",".join([*names, "value"]) + "\n" + ",".join(["0"] * 40 + ["1.5"]) + "\n")
    with pytest.raises(DataError, match="there are 40 columns of repetition levels"):
        read_level_table(str(path), times=True)
