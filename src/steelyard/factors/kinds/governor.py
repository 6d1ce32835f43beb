"""The frequency governor."""

from __future__ import annotations

from steelyard.factors.host_levels import host_factor


def _normal(text: str) -> str:
    if not text.isidentifier():
        raise ValueError("it takes a governor such as performance or powersave")
    return text


EXTENSION = host_factor(
    "governor", "The frequency governor of all CPUs, such as performance.", _normal
)
