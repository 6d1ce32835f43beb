"""Readers of files that hold values along revisions: one file each."""

from __future__ import annotations

from steelyard.core.registry import Registry
from steelyard.harness.track_reader import TrackReader

TRACK_READERS: Registry[TrackReader] = Registry(
    "track reader", "steelyard.harness.track_readers", "steelyard.track_readers"
)
