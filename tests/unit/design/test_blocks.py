from collections import Counter

from steelyard.design.blocks import block_order, plan_block, plan_warmups


def test_each_block_holds_every_variant_once():
    for block in range(50):
        assert sorted(block_order(7, block, 5)) == [0, 1, 2, 3, 4]


def test_the_same_seed_gives_the_same_order():
    assert [block_order(3, b, 4) for b in range(20)] == [block_order(3, b, 4) for b in range(20)]


def test_another_seed_gives_another_order():
    assert [block_order(3, b, 4) for b in range(20)] != [block_order(4, b, 4) for b in range(20)]


def test_every_permutation_is_drawn_about_equally_often():
    draws = 6000
    counts = Counter(tuple(block_order(11, block, 3)) for block in range(draws))
    expected = draws / 6
    chi_square = sum((count - expected) ** 2 / expected for count in counts.values())
    assert len(counts) == 6
    assert chi_square < 20.5  # 99.9 % quantile of chi-square with 5 degrees of freedom


def test_positions_of_a_plan_are_unique_and_count_up():
    planned = [trial for block in range(4) for trial in plan_block(1, block, 3)]
    assert [trial.position for trial in planned] == list(range(12))


def test_warmups_of_two_sessions_share_no_position():
    first = {trial.position for trial in plan_warmups(1, 0, 2, 3)}
    second = {trial.position for trial in plan_warmups(1, 1, 2, 3)}
    assert len(first) == len(second) == 6
    assert not first & second
    assert all(position < 0 for position in first | second)


def test_warmups_run_each_variant_as_often_as_asked():
    counts = Counter(trial.variant for trial in plan_warmups(1, 0, 3, 4))
    assert counts == {0: 4, 1: 4, 2: 4}
