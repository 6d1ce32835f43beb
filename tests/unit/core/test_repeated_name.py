from __future__ import annotations

import pytest

from steelyard.core.repeated_name import repeated_name, repeated_place


@pytest.mark.parametrize(
    ("names", "place"), [([], None), (["a"], None), (["a", "b", "b", "a"], 2), (["", "a", ""], 2)]
)
def test_the_first_name_that_was_there_before_is_found(names, place):
    assert repeated_place(names) == place
    assert repeated_name(names) == (None if place is None else names[place])
