"""Which function is which in a new version, and what of it changed."""

import pytest

from steelyard.core.errors import AnalysisError
from steelyard.predict.commits.code_change import compare_programs
from steelyard.predict.commits.matching import match_functions
from steelyard.predict.commits.program_code import DATA, EXTERNAL, plain_name
from tests.unit.predict.commits.functions_as_read import as_row, call, program


def names(change, places, new=False):
    code = change.new if new else change.old
    return {code.names[place] for place in places}


def test_functions_in_another_order_have_not_changed():
    old = program([("main", 1, call(1)), ("hot", 2), ("cold", 3)])
    new = program([("cold", 3), ("hot", 2), ("main", 1, call(1))])
    change = compare_programs(old, new)
    assert (change.changed, change.added, change.deleted) == (frozenset(),) * 3
    assert change.partner == [2, 1, 0]


def test_a_renamed_function_is_found_by_its_body_and_its_callers_have_not_changed():
    old = program([("main", 1, call(1)), ("hot", 2)])
    new = program([("main", 1, call(1)), ("faster_hot", 2)])
    change = compare_programs(old, new)
    assert not change.changed
    assert not change.added


def test_a_function_that_calls_another_one_has_changed_though_its_instructions_are_the_same():
    old = program([("main", 1, call(1)), ("hot", 2), ("other", 3)])
    new = program([("main", 1, call(2)), ("hot", 2), ("other", 3)])
    assert names(compare_programs(old, new), compare_programs(old, new).changed) == {"main"}


def test_a_renamed_function_with_a_few_changes_is_matched_by_likeness():
    sketch = list(range(8))
    old = program([as_row("hot", 2, sketch=sketch), as_row("x", 9)])
    new = program([as_row("warm", 4, sketch=[*sketch[:5], 91, 92, 93]), as_row("x", 9)])
    change = compare_programs(old, new)
    assert names(change, change.changed) == {"hot"}
    assert not change.deleted


def test_unlike_functions_are_not_matched():
    old, new = program([("hot", 2), ("x", 9)]), program([("warm", 4), ("x", 9)])
    change = compare_programs(old, new)
    assert names(change, change.deleted) == {"hot"}
    assert names(change, change.added, new=True) == {"warm"}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("hot", "hot.constprop.0"),
        ("hot.part.0", "hot"),
        ("hot.isra.0.cold", "hot.cold"),
        ("_ZN3app3hot17h0123456789abcdefE", "_ZN3app3hot17hfedcba9876543210E"),
    ],
)
def test_what_compilers_append_to_a_name_does_not_hide_the_function(one, other):
    assert plain_name(one) == plain_name(other)
    assert match_functions(program([(one, 2)]), program([(other, 5)])) == [0]


def test_a_part_called_cold_is_not_the_function_itself():
    assert plain_name("hot.cold") != plain_name("hot")


def test_static_functions_of_one_name_are_held_apart_by_their_bodies():
    old = program([("init", 1), ("init", 2), ("init", 3)])
    new = program([("init", 3), ("init", 1), ("init", 7)])
    assert match_functions(old, new) == [1, 2, 0]


def test_a_stripped_program_is_matched_by_bodies_and_order():
    old = program([("a", 1), as_row("b", 2, sketch=[1] * 8), ("c", 3)])
    new = program([("", 1), as_row("", 5, sketch=[1] * 4 + [2] * 4), ("", 3)])
    assert match_functions(old, new) == [0, 1, 2]


def test_data_with_other_contents_is_named_beside_the_functions_that_read_it():
    read = (DATA, 0, 0)
    old = program([("hot", 2, read), ("cold", 3)], objects=[("table", 70)])
    new = program([("hot", 2, read), ("cold", 3)], objects=[("table", 71)])
    change = compare_programs(old, new)
    assert dict(change.data) == {0: ("table",)}
    assert not change.changed


def test_another_function_of_a_library_is_another_body():
    old = program([("hot", 2, (EXTERNAL, 0, 0))], externals=["malloc"])
    new = program([("hot", 2, (EXTERNAL, 0, 0))], externals=["calloc"])
    assert compare_programs(old, new).changed == {0}


def test_parameters_of_the_compiler_count_unless_they_only_ask_for_debugging_information():
    old = program([("a", 1)], producers=["GCC: (Debian) 12", "GNU C17 12 -O2 -g"])
    same = program([("a", 1)], producers=["GCC: (Debian) 12", "GNU C17 12 -O2 -g3"])
    other = program([("a", 1)], producers=["GCC: (Debian) 12", "GNU C17 12 -O3 -g"])
    stripped = program([("a", 1)], producers=["GCC: (Debian) 12"])
    assert compare_programs(old, same).flags == ()
    assert compare_programs(old, stripped).flags == ()
    assert len(compare_programs(old, other).flags) == 2


def test_programs_for_two_machines_are_refused():
    with pytest.raises(AnalysisError, match="aarch64"):
        compare_programs(program([("a", 1)]), program([("a", 1)], machine="aarch64"))


def test_a_hundred_thousand_functions_are_matched_though_all_were_renamed():
    count = 100_000
    old = program([(f"f{place}", place) for place in range(1, count)])
    new = program([(f"g{place}", place) for place in range(count - 1, 0, -1)])
    change = compare_programs(old, new)
    assert not change.changed
    assert not change.deleted
