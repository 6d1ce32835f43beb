"""One trial from its specification, as executors run it."""

from __future__ import annotations

from steelyard.measure.trial import run_trial

__all__ = ["run_trial"]
