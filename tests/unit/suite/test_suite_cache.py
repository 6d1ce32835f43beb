import errno
import os

import pytest

from steelyard.core.errors import SuiteError
from steelyard.suite.suite_cache import SuiteCache


def test_the_cache_is_where_the_user_says(monkeypatch, tmp_path):
    assert SuiteCache().root == str(tmp_path / "cache/steelyard/suite")
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert SuiteCache().root == str(tmp_path / ".cache/steelyard/suite")
    monkeypatch.setenv("STEELYARD_SUITE_CACHE", str(tmp_path / "own"))
    assert SuiteCache().root == str(tmp_path / "own")


def test_a_directory_is_there_whole_or_not_at_all(tmp_path):
    cache = SuiteCache(str(tmp_path))
    target = cache.path("made")
    with pytest.raises(KeyError), cache.new_directory(target) as directory:
        open(os.path.join(directory, "half"), "w").close()
        raise KeyError
    assert os.listdir(tmp_path) == []
    with cache.new_directory(target) as directory:
        open(os.path.join(directory, "whole"), "w").close()
    assert os.listdir(target) == ["whole"]
    assert os.listdir(tmp_path) == ["made"]


def test_what_a_killed_one_left_is_swept_away(tmp_path):
    cache = SuiteCache(str(tmp_path))
    left = tmp_path / "made.partial"
    (left / "inside").mkdir(parents=True)
    (left / "inside").chmod(0o500)
    with cache.new_directory(cache.path("made")) as directory:
        assert os.listdir(directory) == []


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
def test_a_full_disk_is_named(tmp_path, number):
    cache = SuiteCache(str(tmp_path))
    full = OSError(number, os.strerror(number))
    with (
        pytest.raises(SuiteError, match=r"no room.*STEELYARD_SUITE_CACHE"),
        cache.new_directory(cache.path("made")),
    ):
        raise full
    assert os.listdir(tmp_path) == []
