"""What holds for every test: it has a home and a terminal of its own, and never the user's."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

# The same examples each time, and no clock that decides: how long one takes is the machine's.
settings.load_profile("ci")

# Fonts are looked for once, and what was found is kept in the checkout, not in a home.
os.environ["MPLCONFIGDIR"] = str(Path(__file__).parents[1] / "build" / "matplotlib")


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stores, journals and locks of a test go into its own folder."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("STEELYARD_LOCK", str(tmp_path / "lock"))
    for name in ("STEELYARD_STORE", "STEELYARD_SUITE_CACHE"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(autouse=True)
def own_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a terminal can do is for a test to say, not for the one that it was started from."""
    monkeypatch.setenv("TERM", "xterm")
    for name in ("COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR", "COLORTERM"):
        monkeypatch.delenv(name, raising=False)
