"""Factorial designs: balance, aliases, and constraints."""

from itertools import combinations

import numpy as np
import pytest

from steelyard.core.errors import UsageError
from steelyard.design.constraints import Constraint
from steelyard.design.design import DesignFactor
from steelyard.design.fractional_factorial import fractional_factorial
from steelyard.design.full_factorial import full_factorial
from steelyard.design.hadamard import hadamard_matrix
from steelyard.design.latin_square import latin_square
from steelyard.design.plackett_burman import plackett_burman


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


@pytest.mark.parametrize("runs", range(4, 65, 4))
def test_plackett_burman_designs_of_every_multiple_of_4_are_balanced_and_orthogonal(runs):
    """Every pair of columns of 4, 8, 12 ... 64 runs, which are all that so many factors take."""
    design = plackett_burman(two(*(f"x{k}" for k in range(runs - 1))))
    matrix = np.array([signs(design, place) for place in range(runs - 1)])
    assert len(design.points) == runs
    assert (matrix.sum(axis=1) == 0).all()
    assert (matrix @ matrix.T == runs * np.eye(runs - 1)).all()


@pytest.mark.parametrize("count", [12, 24, 27, 36, 39, 47, 50, 59])
def test_plackett_burman_takes_no_more_runs_than_the_next_multiple_of_4(count):
    design = plackett_burman(two(*(f"x{k}" for k in range(count))))
    assert len(design.points) == 4 * (count // 4 + 1)
    columns = [signs(design, place) for place in range(count)]
    for a, b in combinations(columns, 2):
        assert sum(x * y for x, y in zip(a, b, strict=True)) == 0


@pytest.mark.parametrize("order", [1, 2, *range(4, 65, 4), 68, 72, 76, 80, 84, 88])
def test_hadamard_matrices_are_orthogonal_with_a_first_column_of_ones(order):
    matrix = np.array(hadamard_matrix(order))
    assert set(matrix.ravel().tolist()) <= {1, -1}
    assert (matrix[:, 0] == 1).all()
    assert (matrix @ matrix.T == order * np.eye(order)).all()


@pytest.mark.parametrize("order", [3, 6, 10, 92])
def test_orders_without_a_construction_are_refused(order):
    with pytest.raises(ValueError, match=f"order {order}|order {order // 2}"):
        hadamard_matrix(order)


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


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: full_factorial([FLAG, FLAG]), "there twice"),
        (lambda: full_factorial([]), "at least one factor"),
        (lambda: DesignFactor("a", ("x", "x")), "levels that differ"),
        (
            lambda: full_factorial(
                [DesignFactor(f"f{k}", tuple(map(str, range(100)))) for k in range(4)]
            ),
            "10000000 is the most",
        ),
    ],
)
def test_what_makes_no_design_is_refused(make, message):
    with pytest.raises(UsageError, match=message):
        make()
