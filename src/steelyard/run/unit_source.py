"""A session's source of trials that need something done before them: builds, commands of levels.

That is done between trials, while the launcher idles, so that nothing of it disturbs what is
measured. What fails is data: the trials that needed it have failed.
"""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple, Protocol

from steelyard.core.build_spec import BuildSpec
from steelyard.core.errors import BuildFailedError, TrialsFailedError, UsageError
from steelyard.core.model import ExperimentSpec, FailureReason, LaunchSpec, Trial, Variant
from steelyard.design.levels import Unit, unit_of
from steelyard.measure.built_variant import built_variant
from steelyard.measure.journal import JournalWriter, trial_from_record
from steelyard.measure.level_costs import LevelCosts, built_line, entered_line
from steelyard.measure.level_step import run_level_command
from steelyard.run.unit_builds import UnitBuilds


class Launching(Protocol):
    """What is needed of the source that runs trials."""

    def queue(
        self, position: int, block: int, variant: int, warmup: bool, build: int = 0
    ) -> None: ...

    def define(self, index: int, variant: Variant) -> None: ...

    def take(self) -> Iterable[Trial]: ...

    def abandon(self) -> list[Trial]: ...


def check_sources(spec: ExperimentSpec, directory: str) -> None:
    """Refuse a source of a build that holds `directory`, where builds are to be made.

    Raises
    ------
    UsageError
        It names the source, and what to do.
    """
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


class _Waiting(NamedTuple):
    """A trial as it was queued."""

    position: int
    block: int
    variant: int
    warmup: bool
    build: int


class _Failure(NamedTuple):
    """Why trials cannot be run: what their records say."""

    reason: FailureReason
    error: str
    about: Mapping[str, Any]


class UnitSource:
    """Runs what is queued, unit after unit.

    Parameters
    ----------
    spec : ExperimentSpec
    launching : Launching
        Runs single trials. Its variants are defined here, once their programs are there.
    journal : JournalWriter
    directory, logs : str
        For builds, and for the logs of those that fail.
    """

    def __init__(
        self,
        spec: ExperimentSpec,
        launching: Launching,
        journal: JournalWriter,
        directory: str,
        logs: str,
    ) -> None:
        self._spec = spec
        self._launching = launching
        self._journal = journal
        self._levels = spec.user_levels
        self._waiting: deque[_Waiting] = deque()
        self._running = 0
        self._unit: Unit | None = None
        self._ready: set[int] = set()
        self._failures: dict[int, _Failure] = {}
        self._level_failure: tuple[tuple[int, ...], _Failure] | None = None
        self._builds = UnitBuilds(spec, os.path.join(directory, "builds"), logs)
        self.costs = LevelCosts(spec)

    def queue(self, position: int, block: int, variant: int, warmup: bool, build: int = 0) -> None:
        """Queue one trial."""
        self._waiting.append(_Waiting(position, block, variant, warmup, build))
        if variant in self._ready:
            self._start_ready()

    def take(self) -> Iterator[Trial]:
        """The trials that have ended or cannot be run; enters the next unit if none is running."""
        if not self._running and self._waiting:
            yield from self._enter(unit_of(self._spec, self._waiting[0].position))
        if self._running:
            yield from map(self._taken, self._launching.take())

    def abandon(self) -> list[Trial]:
        """End the running trial and give those that had ended but were not yet taken."""
        self._waiting.clear()
        return [self._taken(trial) for trial in self._launching.abandon()]

    def close(self) -> None:
        """Remove the builds."""
        self._builds.close()

    def _taken(self, trial: Trial) -> Trial:
        self._running -= 1
        return self.costs.placed(trial)

    def _enter(self, unit: Unit) -> Iterator[Trial]:
        """Prepare `unit` for the variants that wait for it, and start their trials."""
        if unit != self._unit:
            self._builds.leave()
            self._ready.clear()
            self._failures.clear()
            self._enter_levels(unit)
            self._unit = unit
        own = [w for w in self._waiting if unit_of(self._spec, w.position) == unit]
        for variant in dict.fromkeys(waiting.variant for waiting in own):
            if variant not in self._ready and self._failure(variant) is None:
                self._prepare(variant, unit)
        for waiting in own:
            failure = self._failure(waiting.variant)
            if failure is not None:
                self._waiting.remove(waiting)
                yield self._failed(waiting, failure)
        self._start_ready()

    def _start_ready(self) -> None:
        """Hand over the trials at the head of the queue whose programs are ready."""
        while self._waiting:
            head = self._waiting[0]
            if head.variant not in self._ready or unit_of(self._spec, head.position) != self._unit:
                return
            self._waiting.popleft()
            self._running += 1
            self._launching.queue(*head)

    def _failure(self, variant: int) -> _Failure | None:
        if self._level_failure is not None:
            return self._level_failure[1]
        return self._failures.get(variant)

    def _enter_levels(self, unit: Unit) -> None:
        """Run the commands of those user-named levels of which this is a new repetition."""
        before = () if self._unit is None else self._unit.levels
        if self._level_failure is not None:
            failed = self._level_failure[0]
            if unit.levels[: len(failed)] == failed:
                return
            self._level_failure = None
        for depth, level in enumerate(self._levels):
            here = unit.levels[: depth + 1]
            if level.command is None or before[: depth + 1] == here:
                continue
            try:
                cost_s = run_level_command(level, here[-1], self._outside())
            except TrialsFailedError as error:
                self._level_failure = here, _Failure("prepare", error.message, {})
                return
            self._note(entered_line(level.name, here[-1], cost_s))

    def _outside(self) -> LaunchSpec:
        """What commands of levels run in: the caller's directory and environment."""
        return LaunchSpec(argv=())

    def _prepare(self, index: int, unit: Unit) -> None:
        """Build the variant, if it has a build, and tell the launcher of its program."""
        variant = self._variant(index, unit.build)
        if variant.build is None:
            self._launching.define(index, variant)
            self._ready.add(index)
            return
        started_s = time.monotonic()
        try:
            changed = self._built(index, variant, variant.build, unit.build)
            self._launching.define(index, changed)
        except BuildFailedError as error:
            self._failures[index] = self._build_failure(index, unit.build, error.message)
            about = {"cost_s": time.monotonic() - started_s, "error": error.message}
            self._note(built_line(index, unit.build, about))
        else:
            self._ready.add(index)

    def _variant(self, index: int, number: int) -> Variant:
        """The variant, at the levels of nuisance factors that are drawn for its build."""
        variant = self._spec.variants[index]
        if not self._spec.nuisance:
            return variant
        from steelyard.factors.setups import at_setup, drawn_setup

        return at_setup(variant, self._spec, drawn_setup(self._spec, 0, number), "build")

    def _built(self, index: int, variant: Variant, spec: BuildSpec, number: int) -> Variant:
        from steelyard.measure.provenance import program_of

        build = self._builds.made(spec, index, number)
        changed = built_variant(variant, build.directory)
        program = program_of(changed)
        if "missing" in program:
            raise BuildFailedError(
                f"The build succeeded, but {program['missing'][0].lower()}{program['missing'][1:]}"
            )
        self._check_layout(changed)
        about = {"cost_s": build.cost_s, "realised": dict(build.realised)}
        self._note(built_line(index, number, {**about, "program": program}))
        return changed

    def _check_layout(self, variant: Variant) -> None:
        from steelyard.factors.setups import at_setup, drawn_setup
        from steelyard.measure.layout_report import check_layout

        if self._spec.nuisance:
            variant = at_setup(variant, self._spec, drawn_setup(self._spec, 0, 0), "launch")
        try:
            check_layout(variant)
        except UsageError as error:
            raise BuildFailedError(f"The build succeeded, but {error.message}") from None

    def _build_failure(self, index: int, number: int, message: str) -> _Failure:
        """What is told of a build that failed; its log is kept, its directory is not."""
        return _Failure("build", *self._builds.failed(index, number, message))

    def _note(self, line: Mapping[str, Any]) -> None:
        self._journal.append(line)
        self.costs.add(line)

    def _failed(self, waiting: _Waiting, failure: _Failure) -> Trial:
        """The trial that could not be run, committed to the journal as if it had."""
        record = {
            "trial": waiting.position,
            **{name: getattr(waiting, name) for name in ("block", "variant", "build", "warmup")},
            "status": "failed",
            "reason": failure.reason,
            "error": failure.error,
            **failure.about,
            "started_unix_ns": time.time_ns(),
            "spent_ns": 0,
        }
        self._journal.append(record)
        return self.costs.placed(trial_from_record(record, self._spec.metrics, {}))
