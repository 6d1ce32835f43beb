"""This machine: its lock, its quiet, its launcher."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from steelyard.core.experiment_results import Trial
from steelyard.core.experiment_spec import ExperimentSpec
from steelyard.design.blocks import PlannedTrial
from steelyard.executors.executor import Workplace
from steelyard.executors.local.check_run import asks_of_host, check_run
from steelyard.executors.local.open_source import Directories, OpenSource, open_source
from steelyard.executors.local.setup_commands import run_setup_commands
from steelyard.executors.local.this_machine import present_provenance
from steelyard.host.lock import machine_lock
from steelyard.measure.trial_journal import JournalWriter

if TYPE_CHECKING:
    from steelyard.host.host_journal import HostJournal
    from steelyard.host.quiet import QuietState


class _OpenLocal:
    """Hands trials to the first of the sources that stand before the launcher."""

    def __init__(self, spec: ExperimentSpec, opened: OpenSource) -> None:
        self._spec = spec
        self._source, self._builds = opened

    @property
    def builds(self) -> Sequence[Mapping[str, Any]]:
        return self._builds

    def submit(self, part: Sequence[PlannedTrial]) -> None:
        for trial in part:
            self._source.queue(trial, self._spec.variants[trial.variant])

    def take(self) -> Sequence[Trial]:
        return list(self._source.take())

    def abandon(self) -> list[Trial]:
        return self._source.abandon()


@dataclass(frozen=True)
class _ReadyLocal:
    """The experiment as it is launched here, and the machine's journal where trials change it."""

    spec: ExperimentSpec
    directories: Directories
    provenance: dict[str, Any]
    host: HostJournal | None

    @contextlib.contextmanager
    def open(self, journal: JournalWriter) -> Iterator[_OpenLocal]:
        os.makedirs(self.directories.outputs, exist_ok=True)
        with open_source(self.spec, journal, self.directories, self.host) as opened:
            yield _OpenLocal(self.spec, opened)


class Local:
    """Runs trials by the launcher on this machine, which nobody else measures on meanwhile."""

    name = "local"
    description = "This machine, one trial after the other."

    @contextlib.contextmanager
    def ready(self, spec: ExperimentSpec, place: Workplace) -> Iterator[_ReadyLocal]:
        """Lock the machine, run the commands `setup`, see that all is there, make it quiet."""
        with contextlib.ExitStack() as stack:
            purpose = f"experiment {spec.identifier}"
            stack.enter_context(machine_lock(purpose, wait=place.wait, on_wait=place.say))
            spec = _with_packages(spec)
            run_setup_commands(spec)
            # Before the host is quiet, which moves this process off the measured CPUs.
            check_run(spec, place.outputs)
            provenance = present_provenance(spec)
            state: QuietState | None = None
            of_host = asks_of_host(spec)
            if spec.quiet or of_host:
                state = _quieted(spec, stack, place)
                provenance["quiet"] = {"applied": state.applied, "refused": state.refused}
                spec = _launched_quietly(spec, state)
            kept = state.journal if state is not None and of_host else None
            directories = Directories(place.outputs, place.logs)
            yield _ReadyLocal(spec, directories, provenance, kept)


def _with_packages(spec: ExperimentSpec) -> ExperimentSpec:
    if all(variant.package is None for variant in spec.variants):
        return spec
    from steelyard.executors.local.packaged_launches import packaged_builds

    return packaged_builds(spec)


def _quieted(spec: ExperimentSpec, stack: contextlib.ExitStack, place: Workplace) -> QuietState:
    from steelyard.host.knob import Request
    from steelyard.host.quiet import quiet

    state = stack.enter_context(quiet(spec.quiet, Request(cpus=spec.variants[0].launch.cpus)))
    place.tell_quiet(state)
    return state


def _launched_quietly(spec: ExperimentSpec, state: QuietState) -> ExperimentSpec:
    """`spec` with what the quiet session changes of each launch."""
    variants = tuple(
        replace(variant, launch=replace(variant.launch, **state.launch_changes))
        for variant in spec.variants
    )
    return replace(spec, variants=variants)


EXTENSION = Local()
