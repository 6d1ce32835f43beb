"""Position-independent executables."""

from __future__ import annotations

from steelyard.core.experiment_spec import Variant
from steelyard.factors.builds import COMPILER_FLAGS, with_flags
from steelyard.factors.factor import Factor, one_of


def _apply(variant: Variant, level: str) -> Variant:
    compiled, linked = ("-fPIE", "-pie") if level == "on" else ("-fno-pie", "-no-pie")
    changed = with_flags(variant, "pie", COMPILER_FLAGS, compiled)
    return with_flags(changed, "pie", ("LDFLAGS",), linked)


EXTENSION = Factor(
    name="pie",
    description="Whether the program is built as a position-independent executable: on or off.",
    part="build",
    normal=one_of("on", "off"),
    apply=_apply,
    draw=lambda seed, _: ("on", "off")[seed % 2],
)
