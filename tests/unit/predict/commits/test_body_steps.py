"""Which instructions of a function differ between two versions, and what leads to new ones."""

import random

from steelyard.predict.commits.basic_blocks import BodySteps
from steelyard.predict.commits.body_steps import AddedRun, Entry, StepEdits
from steelyard.predict.commits.body_steps import step_edits as edits_by
from steelyard.predict.commits.step_alignment import align_steps


def body(
    operations, tokens=None, begin=100, jumps=None, references=None, ends=(), constants=None,
    tables=(),
):  # fmt: skip
    """`jumps` are from one step to another; `references` how many of these come before each;
    behind `ends` control comes by jumps alone; `tables` lead to steps."""
    count = len(operations)
    addresses = [begin + 4 * place for place in range(count)]
    targets = [0] * count
    for place, target in (jumps or {}).items():
        targets[place] = 1 if target == "table" else begin + 4 * target
    return BodySteps(
        addresses, list(operations), list(tokens or operations), targets,
        [int(place in ends) for place in range(count)], constants or [0] * count,
        references or [0] * (count + 1), [begin + 4 * place for place in tables],
    )  # fmt: skip


def step_edits(old, new, same=lambda _one, _other: True):
    return edits_by(old, new, same)


def added_count(found):
    return sum(run.count for run in found.added)


def common_length(one, other):
    """The longest common subsequence, by the textbook's table."""
    table = [[0] * (len(other) + 1) for _ in range(len(one) + 1)]
    for i, left in enumerate(one):
        for j, right in enumerate(other):
            longer = max(table[i][j + 1], table[i + 1][j])
            table[i + 1][j + 1] = table[i][j] + 1 if left == right else longer
    return table[-1][-1]


def test_equal_bodies_have_no_edits():
    assert step_edits(body("abcd"), body("abcd", begin=900)) == StepEdits()


def test_other_operands_are_altered_and_nothing_is_gone_or_new():
    found = step_edits(body("abcd", "abcd"), body("abcd", "abXd"))
    assert found == StepEdits(altered=(108,))


def test_another_constant_is_altered_and_told_apart_from_other_operands():
    found = step_edits(body("abcd", constants=[0, 7, 7, 0]), body("abcd", constants=[0, 7, 8, 0]))
    assert (found.altered, found.constants, found.leads) == ((108,), (108,), ())


def test_new_instructions_are_executed_as_often_as_old_ones_of_their_block():
    found = step_edits(body("abcd"), body("abXXcd"))
    assert found == StepEdits(added=(AddedRun(2, (100, 112)),))


def test_an_instruction_that_is_gone_is_removed_with_its_address():
    assert step_edits(body("abcd"), body("acd")) == StepEdits((104,))


def test_a_function_that_was_rewritten_is_executed_as_often_as_it_began_before():
    assert step_edits(body("ab"), body("XY")).added == (AddedRun(2, (100,)),)


def test_a_body_without_instructions_leads_to_no_new_ones():
    assert added_count(step_edits(body(""), body("ab"))) == 2
    assert step_edits(body(""), body("ab")).added[0].beside == ()
    assert step_edits(body("ab"), body("")).removed == (100, 104)


def test_a_new_block_is_entered_from_what_jumps_there_and_does_not_go_elsewhere():
    # b jumps over the end to a block that was not there, and that does not come back.
    old = body("abcd", ends={3})
    new = body("abcdXYZ", jumps={1: 4}, ends={3, 6})
    run = step_edits(old, new).added[0]
    assert run == AddedRun(3, (), (Entry(104, 108),))


def test_what_a_new_block_leads_to_does_not_say_how_often_it_is_passed_by():
    # b jumps over a new block: both ways go on at c.
    run = step_edits(body("abcd"), body("abXYcd", jumps={1: 4})).added[0]
    assert run == AddedRun(2, (), (Entry(104),))


def test_a_new_block_behind_a_new_block_has_the_entries_of_that():
    new = body("abcdXYZW", jumps={1: 4, 5: 4}, ends={3, 7})
    entries = {run.entries for run in step_edits(body("abcd", ends={3}), new).added}
    assert entries == {(Entry(104, 108),)}


def test_a_new_block_that_nothing_leads_to_but_a_table_is_entered_from_that():
    old = body("abcd", jumps={1: "table"}, ends={1, 3}, tables=(2,))
    new = body("abcdXY", jumps={1: "table"}, ends={1, 3, 5}, tables=(2, 4))
    found = step_edits(old, new)
    assert found.added == (AddedRun(2, (), (Entry(104),)),)
    assert found.leads == (104,)


def test_the_edits_are_as_few_as_the_longest_common_subsequence_allows():
    chance = random.Random(3)
    for _ in range(500):
        old = [chance.randrange(4) for _ in range(chance.randrange(1, 14))]
        new = [chance.randrange(4) for _ in range(chance.randrange(14))]
        found = step_edits(body(old), body(new))
        assert len(found.removed) <= len(old) - common_length(old, new)
        assert added_count(found) == len(new) - (len(old) - len(found.removed))


def test_blocks_that_only_changed_places_are_neither_gone_nor_new():
    # Two blocks behind a jump each change places; the jumps are turned with them.
    old = body("jabcrdefr", jumps={0: 5}, ends={4, 8})
    new = body("jdefrabcr", jumps={0: 5}, ends={4, 8})
    found = step_edits(old, new)
    assert (found.removed, added_count(found)) == ((), 0)
    assert found.leads == (100,)


def test_what_runs_on_into_another_old_block_leads_elsewhere_though_each_is_as_before():
    # Each jump goes where it went; what follows where it is not taken changed places.
    old = body("jabcdefg", jumps={0: 4, 3: 7, 6: 7})
    new = body("jdefabcg", jumps={0: 1, 3: 7, 6: 7})
    found = step_edits(old, new)
    assert (found.removed, found.added) == ((), ())
    assert found.leads == (100, 112, 124)


def test_long_bodies_with_many_edits_are_aligned_by_blocks():
    chance = random.Random(5)
    blocks = [[chance.randrange(10_000) for _ in range(9)] for _ in range(300)]
    others = list(blocks)
    chance.shuffle(others)
    ends = {10 * number + 9 for number in range(300)}
    old, new = (
        body([step for block in order for step in (*block, -1)], ends=ends)
        for order in (blocks, others)
    )
    found = step_edits(old, new)
    assert (len(found.removed), added_count(found)) == (0, 0)


def test_every_instruction_is_kept_gone_or_new_once_whatever_moved():
    chance = random.Random(6)
    for _ in range(300):
        old, new = (
            body(
                [chance.randrange(5) for _ in range(count)],
                jumps={chance.randrange(count): chance.randrange(count) for _ in range(count // 4)},
                ends={chance.randrange(count) for _ in range(count // 5)},
            )
            for count in (chance.randrange(1, 60), chance.randrange(1, 60))
        )
        equal = align_steps(old, new)
        assert len(set(equal.values())) == len(equal)
        assert all(old.operations[one] == new.operations[there] for one, there in equal.items())
        found = step_edits(old, new)
        assert len(found.removed) == len(old.addresses) - len(equal)
        assert added_count(found) == len(new.addresses) - len(equal)
        assert step_edits(old, old) == StepEdits()


def test_a_body_that_was_rewritten_is_removed_and_new_whole():
    chance = random.Random(4)
    old = [chance.randrange(50) for _ in range(6000)]
    new = [chance.randrange(50, 100) for _ in range(6000)]
    found = step_edits(body([1, *old]), body([1, *new]))
    assert len(found.removed) == added_count(found) == 6000


def test_a_jump_to_the_same_instruction_is_the_same_however_far_it_lies():
    old, new = body("abcd", jumps={0: 3}), body("abXcd", jumps={0: 4})
    assert step_edits(old, new).altered == ()


def test_a_jump_to_another_instruction_is_altered():
    assert step_edits(body("abcd", jumps={0: 3}), body("abcd", jumps={0: 2})).altered == (100,)
    assert step_edits(body("abcd", jumps={0: 3}), body("abcd")).altered == (100,)
    assert step_edits(body("abcd", jumps={0: 2}), body("abXd", jumps={0: 2})).altered == (100,)


def test_a_table_is_the_same_if_it_leads_to_the_same_instructions():
    old = body("abcd", jumps={1: "table"}, tables=(2, 3))
    assert step_edits(old, old).altered == ()
    new = body("aXbcd", jumps={2: "table"}, tables=(3, 4))
    assert step_edits(old, new).altered == ()
    turned = body("abcd", jumps={1: "table"}, tables=(3, 2))
    assert step_edits(old, turned).leads == (104,)
    shorter = body("abcd", jumps={1: "table"}, tables=(2,))
    assert step_edits(old, shorter).leads == (104,)


def test_entries_of_tables_that_lead_out_of_a_function_are_its_cold_part():
    old = body("abcd", jumps={1: "table"}, tables=(2, -20))
    new = body("abcd", begin=900, jumps={1: "table"}, tables=(2, -50))
    assert step_edits(old, new).altered == ()


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


def test_a_new_block_that_comes_out_where_control_goes_without_it_rejoins():
    # Behind `a` come `pq` and `r`, both new: `a` leads to `p` or `z`, `q` to `p` or `r`.
    around = step_edits(body("az"), body("apqrz", jumps={0: 4, 2: 1}))
    assert {run.entries for run in around.added} == {(Entry(100, 104, rejoins=True),)}
    # `r` leads out of the function: who comes there does not come to `z`.
    leaves = step_edits(body("az"), body("apqrz", jumps={0: 4, 2: 1}, ends=(3,)))
    assert {run.entries for run in leaves.added} == {(Entry(100, 104),)}


def test_a_seldom_block_behind_others_that_jumps_back_to_them_is_no_loop():
    # Behind `a` come `pqrs` that are new: `p` leads to `q` or `s`, `s` to `q`, and `r` to `z`.
    cold = step_edits(body("az"), body("apqrsz", jumps={1: 4, 3: 5, 4: 2}, ends=(3, 4)))
    assert [(run.count, run.is_loop) for run in cold.added] == [(1, False), (2, False), (1, False)]
    # The same, but `r` leads to `s`.
    loop = step_edits(body("az"), body("apqrsz", jumps={1: 4, 3: 4, 4: 2}, ends=(4,)))
    assert [(run.count, run.is_loop) for run in loop.added] == [(1, False), (2, True), (1, True)]


def test_new_blocks_that_a_jump_back_goes_over_are_a_loop():
    old = body("abz")
    # Behind `a` come `pqr` that are new; `r` jumps back to `q`, or else to itself, or forward.
    looped = step_edits(old, body("apqrbz", jumps={3: 2}))
    assert [(run.count, run.is_loop) for run in looped.added] == [(1, False), (2, True)]
    forward = step_edits(old, body("apqrbz", jumps={1: 3}))
    assert not any(run.is_loop for run in forward.added)
    # A jump back to what was there before makes no new loop.
    around = step_edits(old, body("apqrbz", jumps={3: 0}))
    assert not any(run.is_loop for run in around.added)
