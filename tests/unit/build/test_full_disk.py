"""A build on a disk that is full, whose log had no room either."""

import os
from types import SimpleNamespace

import pytest

from steelyard.build.run_build import run_build
from steelyard.core.build_spec import BuildSpec
from steelyard.core.errors import BuildFailedError

FAILING = BuildSpec(("/bin/sh", "-c", "exit 1"), None)


def test_a_build_that_fails_on_a_full_disk_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "statvfs", lambda _: SimpleNamespace(f_bavail=12, f_frsize=4096))
    with pytest.raises(BuildFailedError, match="Its disk is as good as full: 48 KiB are left"):
        run_build(FAILING, 1, str(tmp_path / "build"))


def test_one_that_fails_with_room_left_says_nothing_of_it(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "statvfs", lambda _: SimpleNamespace(f_bavail=1 << 20, f_frsize=4096))
    with pytest.raises(BuildFailedError, match="exit code 1") as caught:
        run_build(FAILING, 1, str(tmp_path / "build"))
    assert "full" not in caught.value.message
