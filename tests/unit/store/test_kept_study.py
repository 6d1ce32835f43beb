"""The last study of each machine is kept, and only of that machine is it told."""

from __future__ import annotations

from pathlib import Path

import pytest

from steelyard.core.errors import StoreError
from steelyard.store.kept_study import keep_study, kept_study

HERE = {"hostname": "here", "cpu_model": "fast", "cpu_count": 2, "kernel": "6.1"}
THERE = {**HERE, "hostname": "there"}


@pytest.fixture
def store(tmp_path: Path) -> str:
    return str(tmp_path / "steelyard.sqlite")


def test_the_last_study_of_a_machine_replaces_the_one_before(store: str) -> None:
    keep_study(store, HERE, {"ranking": ["aslr"]})
    keep_study(store, THERE, {"ranking": ["swap"]})
    keep_study(store, HERE, {"ranking": ["turbo"]})
    assert kept_study(store, HERE) == {"ranking": ["turbo"]}
    assert kept_study(store, THERE) == {"ranking": ["swap"]}


def test_another_kernel_is_another_machine(store: str) -> None:
    keep_study(store, HERE, {"ranking": ["aslr"]})
    assert kept_study(store, {**HERE, "kernel": "6.2"}) is None


@pytest.mark.parametrize("text", ["", "{", "[]", "\udcff"])
def test_a_damaged_file_is_as_none_and_is_replaced(store: str, text: str) -> None:
    path = Path(store).parent / "host-study.json"
    path.write_text(text, errors="surrogateescape")
    assert kept_study(store, HERE) is None
    keep_study(store, HERE, {"ranking": []})
    assert kept_study(store, HERE) == {"ranking": []}


def test_a_place_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="cannot be kept in"):
        keep_study(str(tmp_path / "missing" / "store"), HERE, {})
