"""The file `env` of a package: variables, and lines that are none."""

from __future__ import annotations

import pytest

from steelyard.core.errors import ArchiveError
from steelyard.service.package.env_file import read_env


def test_lines_become_variables_the_last_of_a_name_counts():
    text = "# words\n\nA=1\nexport B='two words'\nC=\"x # y\"\nD= # empty\n  E=e\nA=2\nF='$HOME'\n"
    assert dict(read_env(text)) == {
        **{"A": "2", "B": "two words", "C": "x # y", "D": "", "E": "e", "F": "$HOME"},
    }


@pytest.mark.parametrize(
    "line", ["A", "A B=1", "1A=2", "A=1 B=2", "A='1", "A=$HOME", "=x", "A-B=1", "unset A"]
)
def test_another_line_is_refused_with_its_number(line):
    with pytest.raises(ArchiveError, match="Line 2 of env"):
        read_env(f"OK=1\n{line}\n")


def test_no_package_sets_what_is_steelyards_own():
    with pytest.raises(ArchiveError, match="STEELYARD_PADDING"):
        read_env("STEELYARD_PADDING=xx")
