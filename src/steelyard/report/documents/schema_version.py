"""The version that every document carries."""

from __future__ import annotations

SCHEMA = "steelyard/1"
