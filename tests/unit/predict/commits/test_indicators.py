"""What each indicator says, by hand-made programs."""

import numpy as np
import pytest

from steelyard.core.errors import AnalysisError
from steelyard.predict.commits.benchmark_use import BenchmarkUse, reach
from steelyard.predict.commits.code_change import compare_programs
from steelyard.predict.commits.pair_rows import PairNames, compare_pair
from steelyard.predict.commits.program_code import DATA
from tests.unit.predict.commits.functions_as_read import as_row, call, program

READ = (DATA, 0, 0)
USE = BenchmarkUse(
    "b",
    {"main": 10, "hot": 60, "reader": 20, "warm": 5, "gone": 5},
    {"main": 1, "hot": 100, "reader": 50, "warm": 400},
    {"hot": 3, "warm": 9},
)


def functions(hot=2, loop=7, warm=5, length=20):
    return [
        ("main", 1, call(1)),
        as_row("hot", hot, loop=loop, instructions=length),
        ("reader", 3, READ),
        ("warm", warm),
        ("cold", 6),
    ]


def old_program():
    return program([*functions(), ("gone", 77)], objects=[("table", 1)])


def values(new, uses=USE, **more):
    pair = compare_pair(compare_programs(old_program(), new), [uses], PairNames(), **more)
    return dict(zip(pair.table.indicators, pair.table.values[0], strict=True)), pair.reasons[0]


def test_the_same_program_has_every_indicator_at_0_and_says_so():
    found, reasons = values(old_program())
    assert all(value == 0 or np.isnan(value) for value in found.values())
    assert reasons == ("No function and no data changed.",)


def test_a_changed_hot_function_is_ranked_among_all_that_are_reached():
    new = program([*functions(hot=4, loop=8, length=30), ("gone", 77)], objects=[("table", 1)])
    found, reasons = values(new)
    assert found["top-by-instructions"] == 100
    assert found["top-by-calls"] == 75
    assert found["top-resized-by-calls"] == 75
    assert found["top-by-events"] == 50
    assert found["length-change"] == found["reached-length-change"] == 50
    assert found["changed-share"] == found["hot-loop-changed"] == pytest.approx(60)
    assert found["calls-changed"] == 60  # main is third of five by instructions
    assert reasons[0] == (
        "Function hot, 60 % of the instructions of b, has another body, and a loop in it changed."
    )


def test_a_function_whose_length_hardly_changed_has_no_rank_among_the_resized():
    new = program([*functions(hot=4, length=21), ("gone", 77)], objects=[("table", 1)])
    assert values(new)[0]["top-resized-by-calls"] == 0


def test_data_that_a_reached_function_reads_counts_by_its_share():
    found, reasons = values(program([*functions(), ("gone", 77)], objects=[("table", 2)]))
    assert found["data-changed"] == pytest.approx(20)
    assert found["top-by-instructions"] == 0
    assert "reader, 20 %" in reasons[0]
    assert "other contents: table" in reasons[0]


def test_functions_that_come_and_go_are_counted():
    found, reasons = values(program([*functions(), ("fresh", 99)], objects=[("table", 1)]))
    assert (found["new-functions"], found["deleted-functions"]) == (1, 1)
    assert found["reached-deleted"] == 1
    assert reasons == ("Function gone, 5 % of the instructions of b, is gone.",)


def test_what_nobody_counted_is_unknown_and_not_0():
    found, _ = values(old_program(), BenchmarkUse("b", {"hot": 1}))
    unknown = {name for name, value in found.items() if np.isnan(value)}
    assert unknown == {
        *("top-by-calls", "top-resized-by-calls", "top-by-events", "changed-before"),
        *("executed-edits", "net-edits", "altered-operands", "altered-leads"),
        *("altered-constants", "entered-functions"),
    }


def test_functions_that_changed_times_before_are_remembered():
    new = program([*functions(warm=50), ("gone", 77)], objects=[("table", 1)])
    found, _ = values(new, changed_before={"warm": 4, "hot": 9})
    assert found["changed-before"] == 4


def test_a_change_elsewhere_is_said_to_be_elsewhere():
    new = program([*functions()[:4], ("cold", 60), ("gone", 77)], objects=[("table", 1)])
    found, reasons = values(new)
    assert found["top-by-instructions"] == found["changed-share"] == 0
    assert reasons[0].startswith("Nothing that b reaches changed: 1 changed")


def test_a_benchmark_of_another_program_is_refused():
    with pytest.raises(AnalysisError, match="executes no function"):
        values(old_program(), BenchmarkUse("b", {"elsewhere": 5}))


def test_instructions_in_functions_that_the_program_has_not_are_said():
    use = BenchmarkUse("b", {"hot": 60, "elsewhere": 40})
    assert reach(use, old_program()).unknown_ratio == pytest.approx(0.4)
    pair = compare_pair(compare_programs(old_program(), old_program()), [use], PairNames())
    assert [caution.code for caution in pair.cautions] == ["unknown-functions"]
