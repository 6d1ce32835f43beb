"""The iteration adapters: one file each."""

from __future__ import annotations

from steelyard.core.registry import Registry
from steelyard.harness.adapter import Adapter

ADAPTERS: Registry[Adapter] = Registry(
    "adapter", "steelyard.harness.adapters", "steelyard.adapters"
)
