"""What a linked program tells of its layout, and what a build is refused for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from steelyard.build.code_layout import CodeSection, Layout, Module, Placed, shuffled
from steelyard.build.elf_functions import ElfFunctions, Function, Section
from steelyard.build.realised_order import disorder, realised_order
from steelyard.build.records import LinkRecord, judge, products
from steelyard.build.section_script import section_script
from steelyard.core.errors import RandomizationError


def elf(**addresses: int) -> ElfFunctions:
    functions = tuple(
        Function(name, 0, address, "", False, True) for name, address in addresses.items()
    )
    return ElfFunctions(2, (Section(".text", 100, True),), functions, "", False)


def module(label: str, *functions: str) -> Module:
    return Module(
        label, f"/{label}", tuple(CodeSection(f".text.{name}", (name,)) for name in functions)
    )


A, B = module("a.o", "one", "two"), module("b.o", "three")


def test_the_order_is_that_of_addresses() -> None:
    order = realised_order(elf(two=3, one=1, three=2))
    assert order.names == ("one", "three", "two")
    assert order.text() == "1 one\n2 three\n3 two\n"
    assert order.summary()["first"] == ["one", "three", "two"]


def test_moved_functions_keep_the_hash_of_the_order_and_change_that_of_the_addresses() -> None:
    one, other = (realised_order(elf(a=1, b=last)).summary() for last in (2, 5))
    assert one["order_sha256"] == other["order_sha256"]
    assert one["addresses_sha256"] != other["addresses_sha256"]


def test_objects_in_another_order_than_asked_are_found() -> None:
    assert disorder(elf(one=1, two=2, three=3), Layout((A, B))) is None
    wrong = disorder(elf(one=1, two=2, three=3), Layout((B, A)))
    assert wrong == "code of a.o lies before that of b.o"


def test_functions_in_another_order_than_asked_are_found() -> None:
    two, one = A.sections[1], A.sections[0]
    layout = Layout((A, B), (Placed(A, two), Placed(B, B.sections[0]), Placed(A, one)))
    assert disorder(elf(two=1, three=2, one=3), layout) is None
    assert disorder(elf(one=1, two=2, three=3), layout) is not None


def test_names_that_two_objects_have_decide_nothing() -> None:
    layout = Layout((module("a.o", "same", "x"), module("b.o", "same")))
    assert disorder(elf(same=1, x=2), layout) is None


def test_functions_that_the_linker_folded_into_one_decide_nothing() -> None:
    layout = Layout((module("a.o", "x", "fold"), module("b.o", "y", "folded")))
    placed = layout.with_order(layout.placed())
    assert disorder(elf(x=1, fold=2, y=3, folded=2), placed) is None


def test_what_the_compiler_set_apart_stays_apart_in_the_script() -> None:
    cold = Module("c.o", "/c.o", (CodeSection(".text.unlikely.c", ("c",)),))
    order = (Placed(A, A.sections[0], 7), Placed(cold, cold.sections[0]))
    lines = [line.strip() for line in section_script(order).splitlines()]
    assert lines.index('"/c.o"(".text.unlikely.c")') < lines.index('"/a.o"(".text.one")')
    assert lines[lines.index('"/a.o"(".text.one")') - 1] == ". = . + 7;"
    assert lines[-1] == "INSERT BEFORE .text;"


def test_every_order_is_equally_likely() -> None:
    counts: dict[tuple[int, ...], int] = {}
    for seed in range(6000):
        order = tuple(shuffled(range(3), seed))
        counts[order] = counts.get(order, 0) + 1
    # Chi-squared of 6 equally likely orders: 5 degrees, 20.5 is exceeded once in a thousand.
    assert sum((count - 1000) ** 2 / 1000 for count in counts.values()) < 20.5
    assert len(counts) == 6


def record(output: str, **fields: Any) -> LinkRecord:
    return LinkRecord(output, "/usr/bin/ld", **{"units": {"link-order": 3}, **fields})


def test_trials_and_what_is_gone_do_not_count(tmp_path: Path) -> None:
    (tmp_path / "prog").touch()
    records = [record("conftest"), record("CMakeFiles/3.25/CompilerIdC/a.out"), record("gone")]
    assert products([*records, record("prog")], str(tmp_path)) == [record("prog")]
    assert products(records, str(tmp_path)) == [record("gone")]


def test_one_program_that_is_refused_refuses_the_build(tmp_path: Path) -> None:
    records = [record("prog"), record("other", refusal="it holds nothing")]
    with pytest.raises(RandomizationError, match=r"other cannot be randomised.*it holds nothing"):
        judge(records, ("link-order",), str(tmp_path))


def test_one_program_with_something_to_order_is_enough(tmp_path: Path) -> None:
    single = record("tool", units={"link-order": 1})
    judge([record("prog"), single], ("link-order",), str(tmp_path))
    with pytest.raises(RandomizationError, match=r"fewer than two.*tool \(1\)"):
        judge([single], ("link-order",), str(tmp_path))
