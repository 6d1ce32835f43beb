"""Functions that are surely the same, told for all at once, beside what is told one by one."""

import random
from copy import copy
from dataclasses import replace

import pytest

from steelyard.predict.commits.code_change import _changed_data
from steelyard.predict.commits.code_equality import same_code
from steelyard.predict.commits.matching import match_functions
from steelyard.predict.commits.program_code import (
    DATA,
    ELSEWHERE,
    EXTERNAL,
    FUNCTION,
    TEXT,
    NumberRows,
)
from tests.unit.predict.commits.functions_as_read import program

FUNCTIONS, EXTERNALS, OBJECTS = 9, 4, 5


def drawn(chance):
    """A program whose functions refer to few things, so that two often refer to the same."""
    functions = []
    for place in range(FUNCTIONS):
        references = []
        for _ in range(chance.randrange(3)):
            kind, count = chance.choice(
                [(FUNCTION, FUNCTIONS), (EXTERNAL, EXTERNALS), (DATA, OBJECTS), (TEXT, 1)]
            )
            references += [
                kind,
                chance.randrange(count),
                8 * (kind == DATA and chance.random() < 0.2),
            ]
        if chance.random() < 0.1:
            references += [ELSEWHERE, 0, 0]
        name = chance.choice(["", f"f{place}"])
        functions.append((name, chance.choice([place, 100]), references))
    objects = [
        (chance.choice(["", f"table{place}"]), chance.randrange(2)) for place in range(OBJECTS)
    ]
    return program(
        functions, externals=[f"e{place}" for place in range(EXTERNALS)], objects=objects
    )


def changed_little(old, chance):
    """The same program with a few columns drawn anew."""
    other = drawn(chance)
    columns = {}
    for name in ("digests", "references"):
        columns[name] = [
            copy(there if chance.random() < 0.15 else here)
            for here, there in zip(getattr(old, name), getattr(other, name), strict=True)
        ]
    for references in columns["references"]:
        if references and references[0] == DATA and chance.random() < 0.2:
            references[2] += 8
    columns["object_digests"] = [digest + (chance.random() < 0.1) for digest in old.object_digests]
    order = list(range(EXTERNALS))
    chance.shuffle(order)
    return replace(old, externals=[old.externals[place] for place in order], **columns)


def test_what_is_called_the_same_is_the_same_when_looked_at_by_itself():
    chance = random.Random(11)
    same = found = 0
    for _ in range(400):
        old = drawn(chance)
        new = changed_little(old, chance)
        partner = match_functions(old, new)
        alike = same_code(old, new, partner)
        for one, other in enumerate(partner):
            if other < 0 or old.digests[one] != new.digests[other]:
                assert not alike[one]
                continue
            plain = _changed_data(old, new, partner, (one, other))
            assert plain == () or not alike[one]
            same += plain == ()
            found += int(alike[one])
    # Few are left for the slow way.
    assert 0.9 * same < found <= same


def test_a_program_is_the_same_as_itself_as_a_whole():
    code = drawn(random.Random(3))
    assert same_code(code, code, range(len(code))).all()


def test_programs_without_references_or_partners_have_nothing_in_common():
    empty, code = program([]), program([("f", 1)])
    assert not len(same_code(empty, code, []))
    assert not same_code(code, empty, [-1]).any()
    assert same_code(code, code, [0]).all()


def test_rows_of_numbers_are_taken_as_lists_are():
    rows = [[1, 2, 3], [], [4]]
    kept = NumberRows.of(rows)
    assert NumberRows.of(kept) is kept
    assert [list(row) for row in kept] == rows
    assert list(kept[-1]) == [4]
    assert [list(row) for row in kept[1:]] == rows[1:]
    assert kept == NumberRows.of(rows) != NumberRows.of([[1, 2], [3], [4]])
    with pytest.raises(IndexError):
        kept[3]
