"""The sources that the trials of an experiment need, one before the other, the launcher last."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from steelyard.core.experiment_spec import ExperimentSpec
from steelyard.executors.local.launch_wrappings import launch_wrappings
from steelyard.executors.local.launcher_source import LauncherSource
from steelyard.executors.local.trial_source import TrialSource
from steelyard.measure.counters import counters_for
from steelyard.measure.launcher import Launcher
from steelyard.measure.trial_artifacts import takes_output
from steelyard.measure.trial_journal import JournalWriter

if TYPE_CHECKING:
    from steelyard.host.host_journal import HostJournal
    from steelyard.measure.tracing import Tracing


class Directories(NamedTuple):
    """For outputs and builds while it runs, and for logs that are kept."""

    outputs: str
    logs: str


class OpenSource(NamedTuple):
    """A source of trials, and the list that the lines on its builds are added to."""

    source: TrialSource
    builds: list[dict[str, Any]]


@contextlib.contextmanager
def open_source(
    spec: ExperimentSpec,
    journal: JournalWriter,
    directories: Directories,
    host: HostJournal | None = None,
) -> Iterator[OpenSource]:
    """What runs the trials of `spec` on this machine. Leaving it ends what runs.

    Parameters
    ----------
    host : HostJournal, optional
        Of the quiet session that is under way, where trials ask for levels of the machine.

    Raises
    ------
    UsageError, MissingCapabilityError
        A program or the launcher is not there, or events cannot be recorded.
    """
    outputs = directories.outputs
    if spec.order == "parallel":
        with _parallel(spec, journal, outputs) as source:
            yield OpenSource(source, [])
        return
    # Programs that are built are defined when they are there.
    in_units = bool(spec.levels) or any(variant.build for variant in spec.variants)
    defined = () if in_units else spec.variants
    counters = counters_for(spec.metrics)
    with (
        Launcher(journal, outputs, defined, counters, keep_output=takes_output(spec)) as launcher,
        contextlib.ExitStack() as stack,
    ):
        wrappings = launch_wrappings(
            spec, outputs, _tracing(spec, outputs, stack), directories.logs
        )
        source: TrialSource = LauncherSource(spec, launcher, journal, outputs, wrappings, defined)
        if host is not None:
            from steelyard.executors.local.host_source import HostSource
            from steelyard.host.machine_levels import HostLevels

            source = HostSource(spec, source, HostLevels(host, (launcher.pid,)), journal)
        if not in_units:
            yield OpenSource(source, [])
            return
        from steelyard.executors.local.unit_builds import UnitBuilds
        from steelyard.executors.local.unit_source import UnitSource

        builds = UnitBuilds(spec, os.path.join(outputs, "builds"), directories.logs)
        stack.callback(builds.close)
        units = UnitSource(spec, source, journal, builds)
        yield OpenSource(units, units.costs.builds)


@contextlib.contextmanager
def _parallel(spec: ExperimentSpec, journal: JournalWriter, outputs: str) -> Iterator[TrialSource]:
    """A launcher for each variant, on CPUs of its own."""
    from steelyard.executors.local.parallel_source import (
        Lane,
        OnCpus,
        ParallelSource,
        lane_cpus,
        usable_cpus,
    )

    counters, keeps = counters_for(spec.metrics), takes_output(spec)
    lanes: list[Lane] = []
    with contextlib.ExitStack() as stack:
        for cpus in lane_cpus(usable_cpus(spec), len(spec.variants)):
            launcher = stack.enter_context(
                Launcher(journal, outputs, (), counters, keep_output=keeps)
            )
            wrappings = [*launch_wrappings(spec, outputs), OnCpus(cpus)]
            lanes.append(
                Lane(launcher, LauncherSource(spec, launcher, journal, outputs, wrappings))
            )
        yield ParallelSource(lanes)


def _tracing(spec: ExperimentSpec, outputs: str, stack: contextlib.ExitStack) -> Tracing | None:
    if spec.events is None:
        return None
    from steelyard.executors.local.event_stacks import stack_programs
    from steelyard.measure.tracing import Tracing

    return stack.enter_context(Tracing(spec.events, outputs, stack_programs(spec.events)))
