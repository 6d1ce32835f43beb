"""What the program of a trial is wrapped in: files and steps that are this trial's own."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from steelyard.core.experiment_spec import ExperimentSpec, Variant
from steelyard.design.blocks import PlannedTrial
from steelyard.measure.layout_report import tells_layout

if TYPE_CHECKING:
    from steelyard.measure.tracing import Tracing

# From a program and a trial of it to the program as that trial starts it.
Wrapping = Callable[[Variant, PlannedTrial], Variant]


def launch_wrappings(
    spec: ExperimentSpec, directory: str, tracing: Tracing | None = None, logs: str = ""
) -> list[Wrapping]:
    """What the programs of `spec` are wrapped in, in the order in which it is done.

    Parameters
    ----------
    directory : str
        For the files of trials; it exists.
    tracing : Tracing, optional
        Where events of a variant are recorded.
    logs : str, optional
        For what is kept; archives of results lie in a folder there.
    """
    found: list[Wrapping] = []
    if spec.nuisance:
        found.append(partial(_at_drawn_setup, spec))
    if any(variant.checks for variant in spec.variants):
        from steelyard.measure.output_checks import checked_variant

        found.append(lambda program, trial: checked_variant(program, directory, trial.position))
    if spec.iterations is not None:
        from steelyard.measure.iterations import IterationFiles

        files = IterationFiles(spec.iterations, directory)
        found.append(lambda program, trial: files.variant_for(program, trial.position))
    if spec.profiles is not None:
        from steelyard.executors.local.profiled_launches import ProfiledLaunches

        found.append(ProfiledLaunches(spec, directory).wrapped)
    if spec.events is not None and tracing is not None:
        found.append(partial(_recorded, spec.events.variant, tracing))
    if any(variant.package for variant in spec.variants):
        from steelyard.executors.local.packaged_launches import PackagedLaunches

        found.append(PackagedLaunches(directory, os.path.join(logs, "results")).wrapped)
    return found


def _at_drawn_setup(spec: ExperimentSpec, program: Variant, trial: PlannedTrial) -> Variant:
    from steelyard.factors.randomised_setups import at_setup, drawn_setup

    return at_setup(program, spec, drawn_setup(spec, trial.position, trial.block), "launch")


def _recorded(variant: int, tracing: Tracing, program: Variant, trial: PlannedTrial) -> Variant:
    return tracing.variant_for(program, trial.position) if trial.variant == variant else program


class LayoutTellers:
    """Which programs are to report their layout; each is looked at once."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[Variant, bool]] = {}

    def tells(self, index: int, program: Variant) -> bool:
        """Whether `program`, now that of the variant `index`, is to report its layout."""
        known = self._known.get(index)
        if known is None or known[0] is not program:
            known = self._known[index] = program, tells_layout(program.launch)
        return known[1]

    def told(self, index: int) -> bool:
        """Whether the program that was last looked at for a variant is to report."""
        known = self._known.get(index)
        return known is not None and known[1]
