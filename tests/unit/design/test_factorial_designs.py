"""Factorial designs: balance, aliases, constraints, and plans drawn from a seed."""

from collections import Counter
from itertools import combinations

import pytest

from steelyard.core.errors import UsageError
from steelyard.design.constraints import Constraint
from steelyard.design.design import DesignFactor
from steelyard.design.fractional_factorial import fractional_factorial
from steelyard.design.full_factorial import full_factorial
from steelyard.design.latin_square import latin_square
from steelyard.design.plackett_burman import plackett_burman
from steelyard.design.plan import Plan
from steelyard.design.random_setups import random_setups


def two(*names):
    return [DesignFactor(name, ("low", "high")) for name in names]


def signs(design, place):
    return [1 if point[place] else -1 for point in design.points]


def product_of(design, names):
    order = [factor.name for factor in design.factors]
    columns = [signs(design, order.index(name)) for name in names.split(":")]
    found = [1] * len(design.points)
    for column in columns:
        found = [a * b for a, b in zip(found, column, strict=True)]
    return found


FLAG = DesignFactor("flag", ("-O0", "-O2", "-O3"))
COMPILER = DesignFactor("compiler", ("gcc", "clang", "tcc"))


def test_a_full_factorial_has_every_combination_once():
    design = full_factorial([COMPILER, FLAG])
    assert len(set(design.points)) == 9
    assert design.levels_of(5) == {"compiler": "clang", "flag": "-O3"}


def test_constraints_take_out_what_cannot_be_run():
    rules = [
        Constraint({"compiler": ("tcc",)}, {"flag": ("-O0",)}),
        Constraint({"compiler": ("gcc",), "flag": ("-O3",)}, {}),
    ]
    design = full_factorial([COMPILER, FLAG], rules)
    found = {tuple(design.levels_of(k).values()) for k in range(len(design.points))}
    assert ("tcc", "-O0") in found
    assert ("tcc", "-O2") not in found
    assert ("gcc", "-O3") not in found
    assert len(found) == 6


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        (Constraint({"os": ("x",)}, {}), "names the factor 'os'"),
        (Constraint({"flag": ("-O9",)}, {}), "names the level '-O9'"),
        (Constraint({}, {"flag": ("-O0",)}), "without a condition"),
        (Constraint({"compiler": ("gcc", "clang", "tcc")}, {}), "leave no combination"),
    ],
)
def test_a_wrong_constraint_is_refused(rule, message):
    with pytest.raises(UsageError, match=message):
        full_factorial([COMPILER, FLAG], [rule])


# Box, Hunter and Hunter, Statistics for Experimenters (2nd ed.), table 6.22: the resolution of
# the best fraction, by factors and generators.
RESOLUTIONS = {
    (3, 1): 3, (4, 1): 4, (5, 1): 5, (5, 2): 3, (6, 1): 6, (6, 2): 4, (6, 3): 3, (7, 1): 7,
    (7, 2): 4, (7, 3): 4, (7, 4): 3, (8, 2): 5, (8, 3): 4, (8, 4): 4, (9, 2): 6, (9, 3): 4,
    (9, 4): 4, (9, 5): 3, (10, 3): 5, (10, 4): 4, (10, 5): 4, (10, 6): 3, (11, 4): 5, (11, 5): 4,
    (11, 6): 4, (11, 7): 3,
}  # fmt: skip


@pytest.mark.parametrize(("factors", "generators"), RESOLUTIONS)
def test_fractions_have_the_resolution_of_the_published_tables(factors, generators):
    design = fractional_factorial(two(*(f"x{k}" for k in range(factors))), generators)
    assert design.resolution == RESOLUTIONS[factors, generators]
    assert len(set(design.points)) == 2 ** (factors - generators)


def test_every_alias_that_is_printed_is_one_and_no_other_is_there():
    design = fractional_factorial(two(*"abcdef"), 2)
    effects = [*"abcdef", *(":".join(pair) for pair in combinations("abcdef", 2))]
    columns = {effect: product_of(design, effect) for effect in effects}
    expected = {
        frozenset((a, b))
        for a, b in combinations(effects, 2)
        if columns[a] in (columns[b], [-x for x in columns[b]])
    }
    printed = set()
    for alias in design.aliases:
        group = [alias.effect, *alias.others]
        printed |= {frozenset(pair) for pair in combinations(group, 2)}
        for other, weight in zip(alias.others, alias.weights, strict=True):
            assert columns[alias.effect] == [weight * x for x in columns[other]]
    assert printed == expected


def test_named_generators_may_turn_a_sign():
    design = fractional_factorial(two(*"abcd"), 1, {"d": ("-a", "b", "c")})
    assert product_of(design, "d") == [-x for x in product_of(design, "a:b:c")]
    assert design.generators == ("d = -a:b:c",)


@pytest.mark.parametrize(
    ("count", "generators", "message"),
    [
        (1, {"d": ("a", "q")}, "names no factor 'q'"),
        (1, {"q": ("a", "b")}, "names no factor 'q'"),
        (1, {"d": ("a",)}, "two or more factors"),
        (2, {"d": ("a", "b"), "c": ("a", "d")}, "not generated themselves"),
        (2, {"d": ("a", "b"), "c": ("a", "b")}, "the same product"),
        (2, {"d": ("a", "b")}, "not of one in 4"),
        (3, None, "does not keep their main effects apart"),
    ],
)
def test_generators_that_make_no_fraction_are_refused(count, generators, message):
    with pytest.raises(UsageError, match=message):
        fractional_factorial(two(*"abcd"), count, generators)


@pytest.mark.parametrize("count", [3, 7, 11, 12, 19, 20, 23, 31, 35, 43, 63])
def test_plackett_burman_columns_are_balanced_and_orthogonal(count):
    design = plackett_burman(two(*(f"x{k}" for k in range(count))))
    columns = [signs(design, place) for place in range(count)]
    assert all(sum(column) == 0 for column in columns)
    for a, b in combinations(columns[:12], 2):
        assert sum(x * y for x, y in zip(a, b, strict=True)) == 0


def test_plackett_burman_says_how_much_of_each_interaction_is_in_a_main_effect():
    design = plackett_burman(two(*(f"x{k}" for k in range(11))))
    assert design.resolution == 3
    assert {abs(round(weight, 6)) for a in design.aliases for weight in a.weights} == {0.333333}
    alias = design.aliases[0]
    share = sum(
        x * y for x, y in zip(product_of(design, "x0"), product_of(design, alias.others[0]),
                              strict=True)
    ) / 12  # fmt: skip
    assert share == pytest.approx(alias.weights[0])


def test_folding_frees_main_effects_from_interactions_of_two():
    design = plackett_burman(two(*(f"x{k}" for k in range(11))), folded=True)
    assert len(design.points) == 24
    assert design.aliases == ()
    assert design.resolution == 4


def test_two_level_designs_refuse_other_factors():
    for make in (plackett_burman, lambda factors: fractional_factorial(factors, 1)):
        with pytest.raises(UsageError, match="'flag' has 3"):
            make([FLAG, *two("a", "b")])
    with pytest.raises(UsageError, match="up to 63"):
        plackett_burman(two(*(f"x{k}" for k in range(64))))


def test_a_latin_square_has_each_treatment_once_in_each_row_and_column():
    size = ("1", "2", "3", "4", "5")
    factors = [DesignFactor(name, size) for name in ("day", "machine", "flag")]
    design = latin_square(*factors, seed=7)
    assert len(set(design.points)) == 25
    assert len({(row, letter) for row, _, letter in design.points}) == 25
    assert len({(column, letter) for _, column, letter in design.points}) == 25
    assert latin_square(*factors, seed=7).points == design.points
    assert latin_square(*factors, seed=8).points != design.points
    with pytest.raises(UsageError, match="one number of levels"):
        latin_square(factors[0], factors[1], FLAG, 1)


def test_random_setups_run_every_variant_and_do_not_depend_on_their_number():
    variants = DesignFactor("level", ("-O2", "-O3"))
    nuisances = [DesignFactor("link", tuple(map(str, range(20)))),
                 DesignFactor("env", tuple(map(str, range(64))))]  # fmt: skip
    few = random_setups(variants, nuisances, 10, seed=3)
    many = random_setups(variants, nuisances, 2000, seed=3)
    assert many.points[:20] == few.points
    assert [point[0] for point in few.points] == [0, 1] * 10
    assert all(few.points[k][1:] == few.points[k + 1][1:] for k in range(0, 20, 2))
    drawn = Counter(point[1] for point in many.points)
    assert len(drawn) == 20
    assert max(drawn.values()) < 2 * min(drawn.values())


def test_random_setups_keep_constraints_or_say_that_they_cannot():
    variants, nuisances = two("v")[0], two("a", "b")
    rule = Constraint({"a": ("high",)}, {"b": ("low",)})
    design = random_setups(variants, nuisances, 50, 1, [rule])
    assert all(not (point[1] and point[2]) for point in design.points)
    with pytest.raises(UsageError, match="keeps the constraints"):
        random_setups(variants, nuisances, 1, 1, [Constraint({"v": ("low", "high")}, {})])


def test_a_plan_in_blocks_runs_every_point_once_in_each():
    plan = Plan(full_factorial([COMPILER, FLAG]), replicates=4, seed=5)
    assert len(plan) == 36
    blocks = [[trial.point for trial in plan if trial.block == block] for block in range(4)]
    assert all(sorted(block) == list(range(9)) for block in blocks)
    assert blocks[0] != blocks[1]
    more = Plan(full_factorial([COMPILER, FLAG]), replicates=8, seed=5)
    assert list(more)[:36] == list(plan)
    assert [t.position for t in plan] == list(range(36))


def test_a_random_plan_mixes_replicates_and_a_sequential_one_does_not():
    design = full_factorial([FLAG])
    mixed = Plan(design, 40, 1, "random")
    assert Counter(trial.point for trial in mixed) == {0: 40, 1: 40, 2: 40}
    assert len({(trial.point, trial.replicate) for trial in mixed}) == 120
    assert [trial.point for trial in mixed] != sorted(trial.point for trial in mixed)
    ordered = Plan(design, 2, 1, "sequential")
    assert [(t.point, t.replicate) for t in ordered] == [
        (0, 0), (0, 1), (1, 0), (1, 1), (2, 0), (2, 1)
    ]  # fmt: skip


def test_nested_repetitions_follow_each_other():
    plan = Plan(full_factorial(two("a")), 2, 1, nested=(3, 2))
    assert len(plan) == 24
    first = plan[:6]
    assert {(t.point, t.replicate) for t in first} == {(first[0].point, first[0].replicate)}
    assert [t.units for t in first] == [(0, 0), (0, 1), (1, 0), (1, 1), (2, 0), (2, 1)]
    assert plan[-1] == list(plan)[-1]
    with pytest.raises(IndexError):
        plan[24]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Plan(full_factorial([FLAG]), 0, 1), "at least once"),
        (lambda: Plan(full_factorial([FLAG]), 10**9, 1), "is the most"),
        (lambda: full_factorial([FLAG, FLAG]), "there twice"),
        (lambda: full_factorial([]), "at least one factor"),
        (lambda: DesignFactor("a", ("x", "x")), "levels that differ"),
        (
            lambda: full_factorial(
                [DesignFactor(f"f{k}", tuple(map(str, range(100)))) for k in range(4)]
            ),
            "10000000 is the most",
        ),
        (lambda: random_setups(FLAG, [], 0, 1), "At least one setup"),
    ],
)
def test_what_makes_no_plan_is_refused(make, message):
    with pytest.raises(UsageError, match=message):
        make()
