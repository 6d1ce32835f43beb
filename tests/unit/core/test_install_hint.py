"""The command that installs what is missing, for root, with sudo, and without it."""

from __future__ import annotations

import os

import pytest

from steelyard.core.install_hint import install_command


@pytest.mark.parametrize(
    ("user", "has_sudo", "command"),
    [
        (0, True, "apt-get install a b"),
        (0, False, "apt-get install a b"),
        (1000, True, "sudo apt-get install a b"),
        (1000, False, "apt-get install a b"),
    ],
)
def test_sudo_is_named_only_to_who_needs_it_and_has_it(
    monkeypatch, tmp_path, user, has_sudo, command
):
    if has_sudo:
        (tmp_path / "sudo").touch(mode=0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(os, "geteuid", lambda: user)
    assert install_command("a", "b") == command
