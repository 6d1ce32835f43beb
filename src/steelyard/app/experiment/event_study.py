"""Event studies: the same program with and without its events recorded, in random order."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from steelyard.analysis.comparison.unit_values import analysed_trials
from steelyard.analysis.intervals.corrections import CORRECTIONS
from steelyard.app.experiment.design_plan import Plan, experiment_plan
from steelyard.app.experiment.experiment_entries import BenchmarkEntry, ExperimentFile
from steelyard.app.results.named_analysis import Analyzed
from steelyard.core.errors import TrialsFailedError, UsageError
from steelyard.core.events_spec import EventsSpec
from steelyard.core.experiment_results import Experiment, Trial
from steelyard.core.experiment_spec import MetricSpec, Variant
from steelyard.executors.local.event_stacks import stack_programs
from steelyard.measure.recordable_events import check_tracing
from steelyard.report.documents.rendering import Origin

if TYPE_CHECKING:
    from steelyard.analysis.events.internal_variance import EventsQuestion
    from steelyard.app.suite.suite_program import Workshop

EVENTS = "events"
# What is cheap to record and tells of scheduling, waiting and memory.
DEFAULT_GROUPS = ("sched", "threads", "syscalls", "faults")


@dataclass(frozen=True)
class EventsCall:
    """What the command line asks for in place of a file: the tables `[experiment]` and
    `[events]`."""

    command: tuple[str, ...]
    settings: Mapping[str, Any]
    events: Mapping[str, Any]


def events_file(call: EventsCall) -> ExperimentFile:
    """The experiment file that a call without one stands for."""
    return ExperimentFile(
        path="the command line",
        settings=call.settings,
        benchmarks=(BenchmarkEntry(" ".join(call.command), call.command),),
        factors=(),
        nuisance=(),
        constraints=(),
        design={},
        analysis={},
        events=call.events,
    )


def events_plan(file: ExperimentFile, workshop: Workshop | None = None) -> Plan:
    """The plan of an event study; refuses what cannot be recorded here before anything runs.

    Raises
    ------
    UsageError
        The file varies something, or names an unknown function.
    MissingCapabilityError
        This user or this kernel cannot record what is asked for.
    """
    if file.factors or len(file.benchmarks) > 1:
        raise UsageError(
            f"{file.path}: an event study runs one [[benchmark]] as it is, without any [[factor]].",
            field="events",
        )
    plan = experiment_plan(replace(file, events={}), workshop)
    if len(plan.spec.variants) != 1:
        raise UsageError(f"{file.path}: an event study takes one program.", field="events")
    plain = plan.spec.variants[0]
    events = _events(file, plain)
    check_tracing(events)
    stack_programs(events)
    variants = tuple(_named(plain, told) for told in ("off", "on"))
    varied = (*plan.spec.varied, (EVENTS, ("off", "on")))
    spec = replace(plan.spec, variants=variants, kind="comparison", events=events, varied=varied)
    return replace(
        plan,
        spec=spec,
        factors={EVENTS: ("off", "on")},
        block_trial_count=2 * plan.block_trial_count,
        estimated_s=None if plan.estimated_s is None else 2 * plan.estimated_s,
    )


def analyze_events(experiment: Experiment, said: Mapping[str, Any], seed: int = 1) -> Analyzed:
    """What is known of the events of a study's trials.

    Raises
    ------
    UsageError
        No events were recorded in this experiment.
    TrialsFailedError
        No recorded trial has a value.
    """
    from steelyard.analysis.events.internal_variance import (
        EventsQuestion,
        internal_variance,
        run_from,
    )

    spec = experiment.spec
    if spec.events is None:
        raise UsageError(
            f"No events were recorded in {spec.identifier}: `steelyard experiment events` does.",
            field="experiment",
        )
    metric = _metric(experiment, said.get("response"))
    correction = said.get("correction", "holm")
    if correction not in CORRECTIONS:
        known = ", ".join(CORRECTIONS)
        raise UsageError(
            f"There is no correction {correction!r}. Known: {known}.", field="--correction"
        )
    asked: EventsQuestion = EventsQuestion(
        metric.name, metric.unit, spec.confidence, correction, seed
    )
    recorded = spec.events.variant
    trials = sorted(analysed_trials(experiment.trials, recorded), key=lambda t: t.position)
    runs = [
        run_from(trial.position, value, trial.details["events"])
        for trial in trials
        if (value := _mean(trial, metric.name)) is not None and trial.details.get("events")
    ]
    if not runs:
        raise TrialsFailedError(
            f"No trial of {spec.identifier} has events and a value of {metric.name}. "
            "`steelyard show` tells why.",
            field="experiment",
        )
    plain = [
        value
        for trial in analysed_trials(experiment.trials, 1 - recorded)
        if (value := _mean(trial, metric.name)) is not None
    ]
    found = internal_variance(runs, asked, plain, _overhead(experiment, metric.name))
    return Analyzed(found, Origin(EVENTS, metric, experiment=spec.identifier))


def _overhead(experiment: Experiment, metric: str) -> Any:
    """Recorded / plain, from the blocks that have both."""
    from steelyard.analysis.intervals.fieller import paired_fieller

    recorded = 1 if experiment.spec.events is None else experiment.spec.events.variant
    blocks: dict[int, dict[int, float]] = {}
    for variant in (1 - recorded, recorded):
        for trial in analysed_trials(experiment.trials, variant):
            value = _mean(trial, metric)
            if value is not None:
                blocks.setdefault(trial.block, {})[variant] = value
    pairs = [pair for pair in blocks.values() if len(pair) == 2]
    if not pairs:
        return None
    return paired_fieller(
        [pair[1 - recorded] for pair in pairs],
        [pair[recorded] for pair in pairs],
        experiment.spec.confidence,
    )


def _mean(trial: Trial, metric: str) -> float | None:
    values = trial.measurements.get(metric, ())
    return sum(values) / len(values) if len(values) else None


def _metric(experiment: Experiment, name: str | None) -> MetricSpec:
    metrics = {metric.name: metric for metric in experiment.spec.metrics}
    if name is not None and name not in metrics:
        raise UsageError(
            f"The experiment has no metric {name!r}. It has: {', '.join(metrics)}.",
            field="--response",
        )
    return metrics[name] if name is not None else experiment.spec.primary_metric


def _named(variant: Variant, told: str) -> Variant:
    parameters = (*variant.parameters, (EVENTS, told))
    return replace(variant, name=f"{variant.name} (events={told})", parameters=parameters)


def _events(file: ExperimentFile, variant: Variant) -> EventsSpec:
    """The table ``[events]`` as a specification."""
    said = file.events
    log, pattern = None, None
    if "log" in said:
        log, equals, pattern = str(said["log"]).partition("=")
        if not equals or not log or not pattern:
            raise UsageError(
                f"{file.path}: a log is FILE=REGEX or FILE=json:PATH, with - for the output of the "
                f"program; it got {said['log']!r}.",
                field="--log",
            )
    functions = [str(text) for text in said.get("functions", ())]
    probes = [str(text) for text in said.get("probes", ())]
    alone = log is not None or functions or probes
    groups = tuple(str(name) for name in said.get("record", () if alone else DEFAULT_GROUPS))
    if log is not None and (groups or functions or probes):
        raise UsageError(
            f"{file.path}: a log is studied by itself: record either it or the kernel's events.",
            field="--log",
        )
    found = [_function(text, variant) for text in functions]
    found += [_static_probe(text, variant) for text in probes]
    most = said.get("most", EventsSpec.most)
    if isinstance(most, bool) or not isinstance(most, int) or most < 1:
        raise UsageError(
            f"{file.path}: events.most takes a whole number from 1 on, not {most!r}.",
            field="events.most",
        )
    stacks = said.get("stacks", False)
    if not isinstance(stacks, bool):
        raise UsageError(
            f"{file.path}: events.stacks takes true or false, not {stacks!r}.",
            field="events.stacks",
        )
    path_map = _path_map(file, variant)
    if stacks and path_map is not None:
        raise UsageError(
            f"{file.path}: call paths come from copies of stacks or from a map: say either stacks "
            "or paths.",
            field="events.paths",
        )
    return EventsSpec(groups, tuple(found), log, pattern, most, stacks=stacks, path_map=path_map)


def _path_map(file: ExperimentFile, variant: Variant) -> str | None:
    """The map that call paths are looked up in, which is of the program."""
    said = file.events.get("paths")
    if said is None:
        return None
    if not isinstance(said, str):
        raise UsageError(
            f"{file.path}: events.paths takes a file, not {said!r}.", field="events.paths"
        )
    from steelyard.profile.paths.matching_map import matching_map

    beside = os.path.join(os.path.dirname(file.path), said)
    path = os.path.abspath(beside if os.path.exists(beside) else said)
    matching_map(path, _program(variant) or "")
    return path


def _program(variant: Variant) -> str | None:
    """The file of the program; None where it is not there yet."""
    argv = variant.launch.argv
    found = shutil.which(argv[0]) if argv else None
    return os.path.realpath(found) if found else None


def _function(text: str, variant: Variant) -> tuple[str, str, int, int]:
    from steelyard.profile.symbols.function_lookup import find_function, split_place

    place = find_function(text, _program(variant), dict(variant.launch.environment))
    return (f"function {split_place(text)[1]}", place.path, place.offset, 0)


def _static_probe(text: str, variant: Variant) -> tuple[str, str, int, int]:
    from steelyard.profile.symbols.function_lookup import file_of
    from steelyard.profile.symbols.static_probes import static_probes

    # provider:name, or FILE:provider:name for one in a library.
    parts = text.split(":")
    if len(parts) not in (2, 3):
        raise UsageError(
            f"A probe is PROVIDER:NAME or FILE:PROVIDER:NAME; it got {text!r}.", field="--probe"
        )
    name = ":".join(parts[-2:])
    path = _program(variant) if len(parts) == 2 else file_of(parts[0], text, _program(variant))
    if path is None:
        raise UsageError(
            f"The program of {text!r} is not there yet: name its file, as FILE:{text}.",
            field="--probe",
        )
    for probe in static_probes(path):
        if probe.name == name:
            return (f"probe {name}", path, probe.offset, probe.semaphore_offset)
    known = ", ".join(dict.fromkeys(probe.name for probe in static_probes(path))) or "none"
    raise UsageError(f"{path} has no probe {name!r}. It has: {known}.", field="--probe")
