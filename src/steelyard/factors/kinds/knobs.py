"""Knobs of the host: what `steelyard host quiet` would set."""

from __future__ import annotations

import re

from steelyard.factors.host_levels import host_factor


def _normal(text: str) -> str:
    names = text.split("+")
    if not all(re.fullmatch(r"[a-z][a-z0-9-]*", name) for name in names):
        raise ValueError("it takes none, or knobs such as aslr+cpu-shield")
    return "+".join(sorted(set(names)))


EXTENSION = host_factor(
    "knobs",
    "none, or knobs of the host with + between them, such as aslr+cpu-shield.",
    _normal,
    texts={
        "cpus": "The CPUs that cpu-shield leaves to the program, such as 1.",
        "services": "The services that the knob services stops, with commas between.",
    },
)
