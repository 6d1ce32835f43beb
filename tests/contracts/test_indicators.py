"""What every indicator must keep."""

import math

import pytest

from steelyard.predict.commits.benchmark_use import BenchmarkUse, reach
from steelyard.predict.commits.body_steps import AddedRun, StepEdits
from steelyard.predict.commits.code_change import compare_programs
from steelyard.predict.commits.indicator import Evidence
from steelyard.predict.commits.indicators import INDICATORS
from steelyard.predict.commits.program_code import DATA
from tests.unit.predict.commits.functions_as_read import as_row, call, program

INDICATORS_ALL = list(INDICATORS)
USE = BenchmarkUse(
    "b", {"main": 10.0, "hot": 90.0}, {"main": 1.0, "hot": 9.0}, {"hot": 5.0},
    at_addresses={100: 10.0, 200: 45.0, 204: 45.0},
)  # fmt: skip
# The first reference of `hot` is to `fresh`, if that is there.
EDITS = StepEdits((200,), (AddedRun(3, (200, 204), (), range(1)),), (204,), (204,), (204,))


def version(hot=2, table=1, extra=True, flags="-O2"):
    references = (DATA, 0, 0) if extra else (*call(2), DATA, 0, 0)
    rows = [("main", 1, call(1)), as_row("hot", hot, references, 10 * hot, loop=hot)]
    rows += [("gone", 7)] if extra else [("fresh", 8)]
    return program(rows, objects=[("table", table)], producers=[f"GNU C17 12 {flags}"])


def evidence(new, use=USE, **more):
    change = compare_programs(version(), new)
    edits = {1: EDITS} if 1 in change.changed else {}
    return Evidence(change, reach(use, change.old), edits=edits, **more)


@pytest.mark.parametrize("indicator", INDICATORS_ALL, ids=lambda i: i.name)
def test_it_says_what_it_is_in_one_sentence(indicator):
    assert indicator.description.endswith(".")
    assert len(indicator.description) < 90


def test_all_nine_of_the_thesis_are_there():
    assert sum(indicator.origin == "table 6.2" for indicator in INDICATORS_ALL) == 9


@pytest.mark.parametrize("indicator", INDICATORS_ALL, ids=lambda i: i.name)
def test_it_is_0_where_nothing_changed(indicator):
    assert indicator.of(evidence(version(), changed_before={"hot": 2.0})) == 0


@pytest.mark.parametrize("indicator", INDICATORS_ALL, ids=lambda i: i.name)
def test_it_is_finite_and_not_negative_and_sees_some_change(indicator):
    changes = [
        version(hot=4), version(table=2), version(extra=False), version(flags="-O3"),
        version(hot=4, extra=False, flags="-O3"),
    ]  # fmt: skip
    found = [indicator.of(evidence(new, changed_before={"hot": 2.0})) for new in changes]
    if indicator.name == "reached-deleted":
        use = BenchmarkUse("b", {"gone": 1.0})
        found = [indicator.of(evidence(new, use)) for new in changes]
    assert all(math.isfinite(value) and value >= 0 for value in found)
    assert max(found) > 0


@pytest.mark.parametrize(
    "indicator", [i for i in INDICATORS_ALL if i.needs != "programs"], ids=lambda i: i.name
)
def test_it_is_unknown_without_what_it_needs(indicator):
    assert math.isnan(indicator.of(evidence(version(hot=4), BenchmarkUse("b", {}))))
