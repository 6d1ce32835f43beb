"""What can be said of an experiment before its first trial."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from functools import partial

from steelyard.core.errors import MissingCapabilityError, UsageError
from steelyard.core.experiment_spec import ExperimentSpec, LaunchSpec, Variant
from steelyard.measure.layout_report import check_layout
from steelyard.measure.preflight import UNMADE, check_launch


def check_run(spec: ExperimentSpec, outputs: str) -> None:
    """Refuse what cannot be run here.

    Raises
    ------
    UsageError, MissingCapabilityError
        The message names the program, option or factor.
    """
    for refusal in refusals(spec):
        raise refusal
    if any(variant.build is not None for variant in spec.variants):
        _check_sources(spec, outputs)


def planned_refusals(spec: ExperimentSpec) -> list[UsageError | MissingCapabilityError]:
    """What is known of `refusals` before a run begins: the command `setup` may still make the
    program, its directory and its input."""
    known = list(refusals(spec))
    if spec.setup is None and all(variant.setup is None for variant in spec.variants):
        return known
    return [error for error in known if isinstance(error, MissingCapabilityError)]


def refusals(spec: ExperimentSpec) -> Iterator[UsageError | MissingCapabilityError]:
    """Everything about programs and factors for which a run would be refused here, each once."""
    seen: set[str] = set()
    for check in _checks(spec):
        try:
            check()
        except (UsageError, MissingCapabilityError) as error:
            if error.message not in seen:
                seen.add(error.message)
                yield error


def _checks(spec: ExperimentSpec) -> Iterator[Callable[[], None]]:
    if asks_of_host(spec):
        from steelyard.executors.local.host_source import host_checks

        yield from host_checks(spec)
    if spec.order == "parallel":
        from steelyard.executors.local.parallel_source import check_parallel

        yield partial(check_parallel, spec)
    for variant in spec.variants:
        yield partial(check_launch, variant.launch, built=variant.build is not None)
        if variant.build is None and UNMADE not in variant.launch.argv[0]:
            yield partial(check_layout, _at_some_setup(variant, spec))
    for launch in _launches_at_levels(spec):
        yield partial(check_launch, launch, built=spec.variants[0].build is not None)


def _launches_at_levels(spec: ExperimentSpec) -> Iterator[LaunchSpec]:
    """The first variant's launch at each named level of what is randomised of the launch."""
    if not spec.nuisance:
        return
    from steelyard.factors.kinds import FACTORS

    for factor in spec.nuisance:
        kind = FACTORS.get(factor.factor)
        for level in factor.levels if kind.part == "launch" else ():
            yield kind.at(spec.variants[0], level, factor.name, factor.texts).launch


def asks_of_host(spec: ExperimentSpec) -> bool:
    """Whether some trial asks for the machine to be at a level."""
    if any(variant.host for variant in spec.variants):
        return True
    if not spec.nuisance:
        return False
    from steelyard.factors.randomised_setups import draws_host

    return draws_host(spec)


def _at_some_setup(variant: Variant, spec: ExperimentSpec) -> Variant:
    """`variant` as it is launched at one draw of what is randomised."""
    if not spec.nuisance:
        return variant
    from steelyard.factors.randomised_setups import at_setup, drawn_setup

    return at_setup(variant, spec, drawn_setup(spec, 0, 0), "launch")


def _check_sources(spec: ExperimentSpec, directory: str) -> None:
    """Refuse a source of a build that holds `directory`, where builds are to be made."""
    inside = os.path.realpath(directory)
    for variant in spec.variants:
        source = variant.build.source if variant.build is not None else None
        if source is not None and os.path.commonpath([os.path.realpath(source), inside]) == (
            os.path.realpath(source)
        ):
            raise UsageError(
                f"The source {source} holds the store, beside which builds are made, so that each "
                "build would copy those before it. Name a smaller source, or a file elsewhere "
                "with --store.",
                field="--build-source",
            )
