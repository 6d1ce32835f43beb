import pytest

from steelyard.app.request.layout_levels import driver_contents, laid_out_variants
from steelyard.core.errors import UsageError
from steelyard.core.experiment_spec import LaunchSpec, Variant

ONE = Variant("a", LaunchSpec(("./a",)))
TWO = Variant("b", LaunchSpec(("./b",)))


def shown(variants):
    return [(variant.name, variant.group) for variant in variants]


def test_one_level_holds_for_all_and_changes_no_name():
    found = laid_out_variants((ONE, TWO), ("all@off",))
    assert shown(found) == [("a", ""), ("b", "")]
    assert {dict(v.launch.environment)["STEELYARD_LAYOUT_INTERVAL"] for v in found} == {"off"}


def test_levels_of_a_single_program_are_compared_with_the_first():
    found = laid_out_variants((ONE,), ("none", "code@5ms"))
    assert shown(found) == [("a (layout=none)", ""), ("a (layout=code@5ms)", "")]
    assert found[1].parameters == (("layout", "code@5ms"),)


def test_programs_are_compared_at_equal_levels():
    found = laid_out_variants((ONE, TWO), ("none", "heap@off"))
    assert [group for _, group in shown(found)] == [
        *("layout=none", "layout=none"),
        *("layout=heap@off", "layout=heap@off"),
    ]


def test_a_level_that_comes_twice_is_refused():
    with pytest.raises(UsageError, match="code,stack,heap@500ms twice"):
        laid_out_variants((ONE,), ("all", "heap,stack,code"))


def test_other_compilers_have_no_contents_of_ours():
    assert driver_contents({"CC": "gcc", "CXX": "/usr/bin/clang++-19"}) == ()
