"""Nothing that a test does reaches the home of whoever runs it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

PLACES = ("XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME")


@pytest.fixture(scope="module")
def places_of_a_module() -> dict[str, str | None]:
    return {name: os.environ.get(name) for name in PLACES}


@pytest.mark.parametrize("name", PLACES)
def test_what_is_made_for_several_tests_has_a_home_too(
    places_of_a_module: dict[str, str | None],
    tmp_path_factory: pytest.TempPathFactory,
    name: str,
) -> None:
    place = places_of_a_module[name]
    assert place is not None
    assert Path(place).is_relative_to(tmp_path_factory.getbasetemp())


def test_a_test_has_a_home_of_its_own(tmp_path: Path) -> None:
    assert all(Path(os.environ[name]).parent == tmp_path for name in PLACES)
