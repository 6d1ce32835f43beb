"""The highest clock frequency."""

from __future__ import annotations

from steelyard.factors.factor import whole_number
from steelyard.factors.host_levels import host_factor

_LIMIT_MHZ = 100_000

EXTENSION = host_factor(
    "frequency-limit", "The highest frequency of all CPUs in MHz.", whole_number(1, _LIMIT_MHZ)
)
