"""What can be said of an experiment before its first trial."""

from __future__ import annotations

from steelyard.core.model import ExperimentSpec, Variant
from steelyard.measure.layout_report import check_layout
from steelyard.measure.preflight import check_launch


def check_run(spec: ExperimentSpec, outputs: str) -> None:
    """Refuse what cannot be run here.

    Raises
    ------
    UsageError, MissingCapabilityError
        The message names the program, option or factor.
    """
    if asks_of_host(spec):
        from steelyard.app.host_source import check_host

        check_host(spec)
    for variant in spec.variants:
        check_launch(variant.launch, built=variant.build is not None)
        if variant.build is None:
            check_layout(_at_some_setup(variant, spec))
    if any(variant.build is not None for variant in spec.variants):
        from steelyard.app.unit_source import check_sources

        check_sources(spec, outputs)


def asks_of_host(spec: ExperimentSpec) -> bool:
    """Whether some trial asks for the machine to be at a level."""
    if any(variant.host for variant in spec.variants):
        return True
    if not spec.nuisance:
        return False
    from steelyard.factors.setups import draws_host

    return draws_host(spec)


def _at_some_setup(variant: Variant, spec: ExperimentSpec) -> Variant:
    """`variant` as it is launched at one draw of what is randomised."""
    if not spec.nuisance:
        return variant
    from steelyard.factors.setups import at_setup, drawn_setup

    return at_setup(variant, spec, drawn_setup(spec, 0, 0), "launch")
