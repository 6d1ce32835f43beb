"""Factors that change the machine while a trial runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from steelyard.core.experiment_spec import HostLevel, Variant
from steelyard.factors.factor import Factor


def host_factor(
    name: str,
    description: str,
    normal: Callable[[str], str],
    draw: Callable[[int, Mapping[str, int]], str] | None = None,
    texts: Mapping[str, str] | None = None,
) -> Factor:
    """A factor whose level the setting of the same name in the host room brings about."""

    def apply(variant: Variant, level: str) -> Variant:
        return replace(variant, host=(*variant.host, HostLevel(name, name, level)))

    return Factor(name, description, "host", normal, apply, draw, texts=texts or {})


def draw_of(*levels: str) -> Callable[[int, Mapping[str, int]], str]:
    """Draws one of `levels`."""

    def draw(seed: int, _: Mapping[str, int]) -> str:
        return levels[seed % len(levels)]

    return draw
