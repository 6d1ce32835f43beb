"""How often a benchmark executes what differs between two versions."""

import pytest

from steelyard.predict.commits.benchmark_use import BenchmarkUse
from steelyard.predict.commits.body_steps import AddedRun, Entry, StepEdits
from steelyard.predict.commits.code_change import compare_programs
from steelyard.predict.commits.edit_executions import executions, weight
from steelyard.predict.commits.indicator import WrittenIn
from steelyard.predict.commits.pair_rows import PairNames, compare_pair
from tests.unit.predict.commits.functions_as_read import as_row, call, program

# `hot` has a loop at 200 and a branch at 300 that is never taken.
USE = BenchmarkUse(
    "b", {"main": 10, "hot": 90}, {"main": 1, "hot": 1},
    at_addresses={100: 10, 200: 40, 204: 40, 208: 10},
)  # fmt: skip
OLD = program([("main", 1, call(1)), ("hot", 2)])


def asked(edits, new=None, use=USE):
    new = new or program([("main", 1, call(1)), ("hot", 3)])
    change = compare_programs(OLD, new)
    pair = compare_pair(change, [use], PairNames(), edits={1: edits})
    return dict(zip(pair.table.indicators, pair.table.values[0], strict=True)), pair.reasons[0]


def test_edits_count_by_how_often_their_places_are_executed():
    found, _ = asked(StepEdits((204,), (AddedRun(2, (204, 208)),), (200,), (200,)))
    assert found["executed-edits"] == 100  # 120, and no more than all
    assert found["net-edits"] == pytest.approx(40)
    assert found["altered-operands"] == found["altered-leads"] == pytest.approx(40)


def test_as_many_new_instructions_as_gone_ones_cancel():
    found, _ = asked(StepEdits((208,), (AddedRun(1, (208,)),)))
    assert found["executed-edits"] == pytest.approx(20)
    assert found["net-edits"] == 0


def test_a_new_block_is_executed_as_often_as_its_entries_do_not_lead_elsewhere():
    # 204 was executed 40 times, and went on at 208 in 10 of them.
    assert asked(StepEdits(added=(AddedRun(1, (), (Entry(204, 208),)),)))[0]["net-edits"] == 30
    assert asked(StepEdits(added=(AddedRun(1, (), (Entry(204),)),)))[0]["net-edits"] == 40
    both = AddedRun(1, (), (Entry(204, 208), Entry(208)))
    assert asked(StepEdits(added=(both,)))[0]["net-edits"] == 40


def test_a_new_block_that_can_be_entered_is_executed_once_at_least():
    found, _ = asked(StepEdits(added=(AddedRun(3, (), (Entry(200, 204),)),)))
    assert found["executed-edits"] == pytest.approx(3)
    found, _ = asked(StepEdits(added=(AddedRun(3, (), (Entry(300),)),)))
    assert found["executed-edits"] == 0


def test_constants_count_by_how_many_are_executed_however_seldom():
    found, _ = asked(StepEdits(altered=(200, 208, 300), constants=(200, 208, 300)))
    assert found["altered-constants"] == 2


def test_an_edit_that_no_run_comes_to_is_none_and_the_reason_says_so():
    found, reasons = asked(StepEdits((300,), (AddedRun(5, (300, 304)),), (308,)))
    assert found["executed-edits"] == found["net-edits"] == found["altered-operands"] == 0
    assert found["changed-share"] == pytest.approx(90)
    assert reasons[0] == (
        "Function hot, 90 % of the instructions of b, has another body, but not where b goes."
    )


def is_quiet(edits, use=USE, new=None):
    change = compare_programs(OLD, new or program([("main", 1, call(1)), ("hot", 3)]))
    return bool(compare_pair(change, [use], PairNames(), edits={1: edits}).table.quiet[0])


def test_a_pair_is_quiet_where_no_run_comes_to_an_edit():
    assert is_quiet(StepEdits((300,), (AddedRun(5, (300, 304)),), (308,)))
    assert not is_quiet(StepEdits((208,)))
    assert not is_quiet(StepEdits(added=(AddedRun(1, (208, 300)),)))
    assert not is_quiet(StepEdits(altered=(208,)))


def test_a_pair_without_counts_of_instructions_is_quiet_only_without_changed_functions():
    use = BenchmarkUse("b", {"main": 10, "hot": 90}, {"main": 1, "hot": 1})
    assert not is_quiet(StepEdits((300,)), use)


def test_other_parameters_of_the_compiler_are_never_quiet():
    new = program([("main", 1, call(1)), ("hot", 3)], libraries=["libc.so.6", "libm.so.6"])
    assert not is_quiet(StepEdits((300,)), new=new)


def test_a_new_function_is_executed_whole_as_often_as_what_calls_it():
    new = program(
        [("main", 1, call(1)), ("hot", 3, call(2)), as_row("fresh", 9, call(3), 3),
         as_row("deeper", 11, (), 2)]
    )  # fmt: skip
    found, _ = asked(StepEdits(added=(AddedRun(1, (208,), (), range(1)),)), new)
    assert found["net-edits"] == pytest.approx(10 * (1 + 3 + 2))
    assert found["entered-functions"] == 2
    found, _ = asked(StepEdits(altered=(204,), altered_references={0: 204}), new)
    assert found["net-edits"] == 100
    found, _ = asked(StepEdits(added=(AddedRun(1, (300,), (), range(1)),)), new)
    assert found["entered-functions"] == found["net-edits"] == 0


def test_a_function_that_is_gone_is_removed_with_all_its_instructions():
    old_use = BenchmarkUse("b", {"main": 10, "hot": 90}, at_addresses={100: 10, 200: 90})
    new = program([("main", 5)])
    change = compare_programs(OLD, new)
    edits = {0: StepEdits(altered=(100,))}
    pair = compare_pair(change, [old_use], PairNames(), edits=edits)
    found = dict(zip(pair.table.indicators, pair.table.values[0], strict=True))
    assert found["executed-edits"] == found["net-edits"] == pytest.approx(90)


def test_without_counts_of_instructions_the_edits_are_unknown():
    use = BenchmarkUse("b", {"main": 10, "hot": 90})
    found, reasons = asked(StepEdits((200,)), use=use)
    assert found["executed-edits"] != found["executed-edits"]
    assert "not where" not in reasons[0]


def test_the_function_with_most_executed_edits_is_named_first():
    new = program([("main", 4, call(1)), ("hot", 3)])
    change = compare_programs(OLD, new)
    edits = {0: StepEdits((100,)), 1: StepEdits((300,))}
    pair = compare_pair(change, [USE], PairNames(), edits=edits)
    assert pair.reasons[0][0].startswith("Function main,")


def reason_of(edits, old, new):
    change = compare_programs(OLD, program([("main", 1, call(1)), ("hot", 3)]))
    written = WrittenIn(old, new)
    return compare_pair(change, [USE], PairNames(), None, {1: edits}, written).reasons[0][0]


def test_the_function_that_was_inlined_where_most_edits_are_executed_is_named():
    edits = StepEdits((208, 300), (AddedRun(2, (204,), addresses=(904, 908)),))
    told = reason_of(edits, {208: "seldom", 300: "never"}, {904: "often", 908: "often"})
    assert told == (
        "Function hot, 90 % of the instructions of b, has another body, where often is inlined."
    )


def test_another_symbol_of_the_function_itself_is_no_inlined_function():
    change = compare_programs(OLD, program([("main", 1, call(1)), ("hot", 3)]))
    written = WrittenIn({208: "_hot"}, {}, lambda name: name.lstrip("_"))
    pair = compare_pair(change, [USE], PairNames(), None, {1: StepEdits((208,))}, written)
    assert "inlined" not in pair.reasons[0][0]


def test_other_registers_name_no_inlined_function_where_something_else_changed():
    edits = StepEdits((208,), altered=(200, 204))
    assert "inlined" not in reason_of(edits, {200: "renamed", 204: "renamed"}, {})
    only = StepEdits(altered=(200, 204))
    assert "where renamed is inlined" in reason_of(only, {200: "renamed", 204: "renamed"}, {})


def test_a_function_of_its_own_is_not_said_to_be_inlined():
    assert "inlined" not in reason_of(StepEdits((208,)), {208: "hot"}, {})


def test_a_new_loop_weighs_more_than_what_is_executed_once_in_a_reason():
    """Ten instructions that are executed as often, and a loop of two."""
    loop = AddedRun(2, (), (Entry(208),), addresses=(904, 908), is_loop=True)
    straight = AddedRun(10, (208,), addresses=tuple(range(920, 960, 4)))
    places = dict.fromkeys((904, 908), "looping") | dict.fromkeys(range(920, 960, 4), "straight")
    told = reason_of(StepEdits(added=(loop, straight)), {}, places)
    assert told.endswith("where looping is inlined.")
    once = AddedRun(2, (), (Entry(208),), addresses=(904, 908))
    told = reason_of(StepEdits(added=(once, straight)), {}, places)
    assert told.endswith("where straight is inlined.")
    # What indicators count has no guess in it.
    counted = [asked(StepEdits(added=(one,)))[0]["executed-edits"] for one in (loop, once)]
    assert counted[0] == counted[1] > 0


def test_what_several_entries_lead_to_otherwise_is_taken_from_all_of_them_once():
    """The head of a loop: control comes from before it and from its end, and goes on behind it."""
    counts = {200: 50.0, 204: 1000.0, 208: 50.0}
    head = AddedRun(3, (), (Entry(200, 208), Entry(204, 208)))
    assert weight(head, counts) == 1000
    assert executions(head, counts) == 950
    even = AddedRun(3, (), (Entry(200, 208), Entry(208, 204)))
    assert weight(even, counts) == executions(even, counts) == 1


def test_what_is_executed_where_a_new_block_comes_out_says_nothing_of_it():
    """A new loop behind a test: both ways go on at one place."""
    counts = {200: 1000.0, 204: 1000.0}
    beside, through = Entry(200, 204), Entry(200, 204, rejoins=True)
    assert weight(AddedRun(3, (), (beside,)), counts) == 1
    assert weight(AddedRun(3, (), (through,)), counts) == 1000
    # Indicators count as they did when predictions were judged.
    assert executions(AddedRun(3, (), (through,)), counts) == 1


def test_a_changed_function_that_was_inlined_before_is_named_by_what_it_executes():
    old = program([("main", 1, call(1)), ("hot", 2), ("grown", 7)])
    new = program([("main", 1, call(1)), ("hot", 3, call(2)), as_row("grown", 8, instructions=90)])
    change = compare_programs(old, new)

    def reasons(run, use=USE):
        edits = {1: StepEdits(added=(run,))}
        return compare_pair(change, [use], PairNames(), edits=edits).reasons[0]

    often = AddedRun(1, (204,), references=range(1))
    assert reasons(often)[0] == "Function grown, which b did not call before, has another body."
    never = AddedRun(1, (300,), references=range(1))
    assert not any("grown" in reason for reason in reasons(never))
    counts = {"main": 10, "hot": 90, "grown": 1}
    called = BenchmarkUse("b", counts, {"main": 1, "hot": 1}, at_addresses=USE.at_addresses)
    assert not any("did not call" in reason for reason in reasons(often, called))


def test_what_is_inlined_in_a_newly_called_function_is_named_and_its_new_loops_weigh_more():
    rows = [("main", 1, call(1)), ("hot", 3, call(2)), as_row("grown", 8, instructions=30)]
    old = program([("main", 1, call(1)), ("hot", 2), ("grown", 7)])
    change = compare_programs(old, program(rows))
    calls = AddedRun(40, (204,), references=range(1), addresses=(804,))
    loop = AddedRun(20, (996,), addresses=(900,), is_loop=True)
    written = WrittenIn({}, {804: "hot", 900: "planted", 904: "other"})

    def first(*runs):
        edits = {1: StepEdits(added=(calls,)), 2: StepEdits(added=runs)}
        return compare_pair(change, [USE], PairNames(), None, edits, written).reasons[0][0]

    other = AddedRun(20, (996,), addresses=(904,))
    assert first(loop, other) == (
        "Function grown, which b did not call before, has another body, where planted is inlined."
    )
    # Without rounds 40 new instructions of `hot` weigh more than 30 of `grown`.
    assert first(other).startswith("Function hot,")


def test_a_new_function_that_is_called_is_a_reason():
    new = program([("main", 1, call(1)), ("hot", 3, call(2)), as_row("fresh", 9, instructions=80)])
    run = AddedRun(1, (208,), references=range(1))
    assert asked(StepEdits(added=(run,)), new)[1][0] == (
        "Function fresh, which b did not call before, is new."
    )
