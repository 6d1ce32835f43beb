"""All ways to run the parts of a plan: one file each with an `EXTENSION`, an `Executor`.

tests/contracts runs over everything registered.
"""

from __future__ import annotations

from steelyard.core.registry import Registry
from steelyard.executors.executor import Executor

EXECUTORS: Registry[Executor] = Registry(
    "executor", "steelyard.executors.kinds", "steelyard.executors"
)
