"""Which instructions of a function differ between two versions."""

import random

from steelyard.predict.commits.body_steps import BodySteps, StepEdits
from steelyard.predict.commits.body_steps import step_edits as edits_by


def body(operations, tokens=None, begin=100, jumps=None, references=None):
    """`jumps` are from one step to another; `references` how many of these come before each."""
    count = len(operations)
    addresses = [begin + 4 * place for place in range(count)]
    targets = [0] * count
    for place, target in (jumps or {}).items():
        targets[place] = 1 if target == "table" else begin + 4 * target
    return BodySteps(
        addresses, list(operations), list(tokens or operations), targets,
        references or [0] * (count + 1),
    )  # fmt: skip


def step_edits(old, new, same=lambda _one, _other: True):
    return edits_by(old, new, same)


def common_length(one, other):
    """The longest common subsequence, by the textbook's table."""
    table = [[0] * (len(other) + 1) for _ in range(len(one) + 1)]
    for i, left in enumerate(one):
        for j, right in enumerate(other):
            longer = max(table[i][j + 1], table[i + 1][j])
            table[i + 1][j + 1] = table[i][j] + 1 if left == right else longer
    return table[-1][-1]


def test_equal_bodies_have_no_edits():
    assert step_edits(body("abcd"), body("abcd", begin=900)) == StepEdits((), {}, ())


def test_other_operands_are_altered_and_nothing_is_gone_or_new():
    found = step_edits(body("abcd", "abcd"), body("abcd", "abXd"))
    assert found == StepEdits((), {}, (108,))


def test_an_instruction_that_is_new_lies_between_its_old_neighbours():
    assert step_edits(body("abcd"), body("abXXcd")) == StepEdits((), {(104, 108): 2}, ())


def test_an_instruction_that_is_gone_is_removed_with_its_address():
    assert step_edits(body("abcd"), body("acd")) == StepEdits((104,), {}, ())


def test_what_replaces_an_instruction_is_reached_as_often_as_it_was():
    found = step_edits(body("abcd"), body("aXYcd"))
    assert found.removed == (104,)
    assert found.added == {(104, 104): 2}


def test_new_instructions_at_either_end_count_with_their_only_neighbour():
    assert step_edits(body("ab"), body("Xab")).added == {(100, 100): 1}
    assert step_edits(body("ab"), body("abX")).added == {(104, 104): 1}


def test_a_body_without_instructions_has_no_place_for_new_ones():
    assert step_edits(body(""), body("ab")) == StepEdits((), {}, ())
    assert step_edits(body("ab"), body("")).removed == (100, 104)


def test_the_edits_are_as_few_as_the_longest_common_subsequence_allows():
    chance = random.Random(3)
    for _ in range(500):
        old = [chance.randrange(4) for _ in range(chance.randrange(1, 14))]
        new = [chance.randrange(4) for _ in range(chance.randrange(14))]
        found = step_edits(body(old), body(new))
        assert len(found.removed) == len(old) - common_length(old, new)
        assert sum(found.added.values()) == len(new) - common_length(old, new)


def test_a_body_that_was_rewritten_is_removed_and_new_whole():
    chance = random.Random(4)
    old = [chance.randrange(50) for _ in range(6000)]
    new = [chance.randrange(50) for _ in range(6000)]
    found = step_edits(body([1, *old]), body([1, *new]))
    assert len(found.removed) == sum(found.added.values()) == 6000


def test_a_jump_to_the_same_instruction_is_the_same_however_far_it_lies():
    old, new = body("abcd", jumps={0: 3}), body("abXcd", jumps={0: 4})
    assert step_edits(old, new).altered == ()


def test_a_jump_to_another_instruction_is_altered():
    assert step_edits(body("abcd", jumps={0: 3}), body("abcd", jumps={0: 2})).altered == (100,)
    assert step_edits(body("abcd", jumps={0: 3}), body("abcd")).altered == (100,)
    assert step_edits(body("abcd", jumps={0: 2}), body("abXd", jumps={0: 2})).altered == (100,)


def test_where_a_table_leads_is_unknown():
    old = body("abcd", jumps={1: "table"})
    assert step_edits(old, old).altered == (104,)


def test_an_instruction_that_refers_to_something_else_is_altered():
    old, new = body("abc", references=[0, 0, 1, 2]), body("abXc", references=[0, 0, 1, 2, 3])
    asked = []

    def same(one, other):
        asked.append((one, other))
        return one == 0

    assert step_edits(old, new, same).altered == (108,)
    assert asked == [(0, 0), (1, 2)]


def test_another_number_of_references_is_another_thing():
    assert step_edits(body("a", references=[0, 1]), body("a", references=[0, 2])).altered == (100,)
