"""The programs of a unit's variants: built where they have a build, and looked at once they are."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from steelyard.core.build_spec import BuildSpec
from steelyard.core.errors import BuildFailedError, UsageError
from steelyard.core.experiment_spec import ExperimentSpec, Variant
from steelyard.executors.local.trial_source import Failure
from steelyard.executors.local.unit_builds import UnitBuilds
from steelyard.measure.built_variant import built_variant
from steelyard.measure.level_costs import built_line

if TYPE_CHECKING:
    from steelyard.factors.factor import Part


class BuiltPrograms:
    """Makes the program of each variant ready, or says why it cannot be.

    Parameters
    ----------
    spec : ExperimentSpec
    builds : UnitBuilds
    note : callable
        Takes the journal's line on each build.
    """

    def __init__(
        self,
        spec: ExperimentSpec,
        builds: UnitBuilds,
        note: Callable[[Mapping[str, Any]], None],
    ) -> None:
        self._spec = spec
        self._builds = builds
        self._note = note

    def ready(self, index: int, number: int, program: Variant) -> Variant | Failure:
        """`program`, the variant `index`, with its build `number` where it is built."""
        program = self._at_setup(program, number, "build")
        if program.build is None:
            return program
        started_s = time.monotonic()
        try:
            return self._built(index, program, program.build, number)
        except BuildFailedError as error:
            message = error.message
            if program.package is not None:
                from steelyard.executors.local.packaged_launches import package_words

                message = package_words(message)
            told = self._builds.failed(index, number, message)
            about = {"cost_s": time.monotonic() - started_s, "error": message}
            self._note(built_line(index, number, about))
            return Failure("build", told.message, told.about)

    def _built(self, index: int, program: Variant, spec: BuildSpec, number: int) -> Variant:
        from steelyard.measure.provenance import program_of

        build = self._builds.made(spec, index, number)
        changed = built_variant(program, build.directory)
        found = program_of(changed)
        if "missing" in found:
            missing = found["missing"]
            raise BuildFailedError(f"The build succeeded, but {missing[0].lower()}{missing[1:]}")
        self._check_layout(changed)
        about = {"cost_s": build.cost_s, "realised": dict(build.realised)}
        self._note(built_line(index, number, {**about, "program": found}))
        return changed

    def _check_layout(self, program: Variant) -> None:
        from steelyard.measure.layout_report import check_layout

        try:
            check_layout(self._at_setup(program, 0, "launch"))
        except UsageError as error:
            raise BuildFailedError(f"The build succeeded, but {error.message}") from None

    def _at_setup(self, program: Variant, number: int, part: Part) -> Variant:
        """`program` at the levels of nuisance factors that are drawn for its build."""
        if not self._spec.nuisance:
            return program
        from steelyard.factors.randomised_setups import at_setup, drawn_setup

        return at_setup(program, self._spec, drawn_setup(self._spec, 0, number), part)
