"""What every randomisation must do, whoever brings it."""

from __future__ import annotations

from collections import Counter

import pytest

from steelyard.build.code_layout import CodeSection, Layout, Module, Randomization
from steelyard.build.randomizations import RANDOMIZATIONS


def module(label: str, count: int) -> Module:
    sections = (
        CodeSection(f".text.{label}_{index}", (f"{label}_{index}",)) for index in range(count)
    )
    return Module(f"{label}.o", f"/elsewhere/{label}.o", tuple(sections))


LAYOUT = Layout((module("b", 4), module("a", 3), module("d", 5), module("c", 1)))
NAMED_ORDERS = {each.name for each in RANDOMIZATIONS if not each.draws}

every_one = pytest.mark.parametrize(
    "randomization", tuple(RANDOMIZATIONS), ids=lambda each: each.name
)
every_random_one = pytest.mark.parametrize(
    "randomization",
    [each for each in RANDOMIZATIONS if each.name not in NAMED_ORDERS],
    ids=lambda each: each.name,
)


@pytest.mark.parametrize("name", sorted(NAMED_ORDERS))
def test_an_order_with_a_name_does_not_look_at_the_seed(name: str) -> None:
    arrange = RANDOMIZATIONS.get(name).arrange
    assert arrange(LAYOUT, 1) == arrange(LAYOUT, 2)


def test_those_of_the_glossary_are_registered() -> None:
    wanted = {"link-order", "module-order", "function-order", "function-order-within-module"}
    assert wanted | {"section-padding"} <= set(RANDOMIZATIONS.names())


@every_one
def test_it_says_what_it_is(randomization: Randomization) -> None:
    assert randomization.name == randomization.name.lower()
    assert randomization.description.endswith(".")
    assert randomization.orders in ("objects", "sections")


@every_one
def test_nothing_is_lost_and_nothing_comes_twice(randomization: Randomization) -> None:
    arranged = randomization.arrange(LAYOUT, 1)
    assert sorted(arranged.modules, key=str) == sorted(LAYOUT.modules, key=str)
    before = Counter((each.module.label, each.section) for each in LAYOUT.placed())
    after = Counter((each.module.label, each.section) for each in arranged.placed())
    assert after == before
    assert all(each.padding_bytes >= 0 for each in arranged.placed())


@every_one
def test_it_changes_what_it_says_it_does(randomization: Randomization) -> None:
    arranged = randomization.arrange(LAYOUT, 1)
    if randomization.orders == "objects":
        assert arranged.order is None
    else:
        assert arranged.modules == LAYOUT.modules
        assert arranged.order is not None


@every_one
def test_the_same_seed_gives_the_same_layout(randomization: Randomization) -> None:
    assert randomization.arrange(LAYOUT, 7) == randomization.arrange(LAYOUT, 7)


@every_random_one
def test_seeds_give_different_layouts(randomization: Randomization) -> None:
    found = {randomization.arrange(LAYOUT, seed) for seed in range(20)}
    assert len(found) > 10


@every_random_one
def test_where_the_objects_lie_does_not_matter(randomization: Randomization) -> None:
    moved = Layout(
        tuple(Module(each.label, f"/tmp/{each.label}", each.sections) for each in LAYOUT.modules)
    )
    orders = [
        [(each.module.label, each.section.name, each.padding_bytes) for each in layout.placed()]
        for layout in (randomization.arrange(LAYOUT, 3), randomization.arrange(moved, 3))
    ]
    assert orders[0] == orders[1]
