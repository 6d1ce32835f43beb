"""Measure what each knob of this machine is worth: a baseline, each knob alone, all together.

Larres (2012), sections 3.3 and 3.4, with the setups in random order within blocks instead of one
series after the other, so that drift of the machine meets all of them alike.
"""

from __future__ import annotations

import shlex
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from steelyard.analysis.tables.analysis_method import Question
from steelyard.app.request.experiment_request import build_experiment, suite_workshop
from steelyard.app.request.request import Request
from steelyard.core.errors import TrialsFailedError, UsageError
from steelyard.core.experiment_results import Experiment
from steelyard.core.experiment_spec import ExperimentSpec, HostLevel, Variant
from steelyard.core.identifier import new_identifier
from steelyard.core.stopping_spec import StoppingSpec
from steelyard.host.knob import Knob
from steelyard.host.knob import Request as KnobRequest
from steelyard.host.quiet import ordered_knobs
from steelyard.host.system import Host

if TYPE_CHECKING:
    from steelyard.app.results.named_analysis import Analyzed

DEFAULT_RUNS = 30
SETUP, BASELINE, ALL = "setup", "baseline", "all"
NOTE = "host study"
PROGRAM = (sys.executable, "-m", "steelyard.host.study_program")
# What these do is no state that a program runs in: the cache fills again, and which services to
# stop only the user knows.
_WHEN_NAMED = ("drop-caches", "services")
_FEWEST = 2
_RAMDISK, _IN_MEMORY = "ramdisk", "ramfs"


@dataclass(frozen=True)
class Study:
    """What will be run.

    Parameters
    ----------
    spec : ExperimentSpec
        A variant for each setup, the baseline first.
    skipped : tuple of (knob, reason)
        Knobs that are no setup here.
    """

    spec: ExperimentSpec
    skipped: tuple[tuple[str, str], ...]

    @property
    def setups(self) -> dict[str, str]:
        """For each setup what is in force, in words."""
        return {
            dict(variant.parameters)[SETUP]: " ".join(
                level.level for level in variant.host if level.level != "none"
            )
            or "nothing"
            for variant in self.spec.variants
        }


@dataclass(frozen=True)
class StudyRequest:
    """What a user asked of a study beside the program.

    Parameters
    ----------
    knobs : tuple of str
        Those to study; empty: all that change something here.
    runs : int
        Of each setup.
    cpus : tuple of int or None
        For the knob ``cpu-shield``.
    services : tuple of str
        For the knob ``services``.
    """

    knobs: tuple[str, ...] = ()
    runs: int = DEFAULT_RUNS
    warmup_count: int = 1
    cpus: tuple[int, ...] | None = None
    services: tuple[str, ...] = ()


def plan_study(
    program: Request,
    asked: StudyRequest,
    host: Host | None = None,
    say: Callable[[str], None] | None = None,
) -> Study:
    """The study of a machine with one program, which `say` is told of where it is built; without
    `say` nothing is built.

    Raises
    ------
    UsageError
        There is more than one program, or no knob changes anything here.
    """
    host = host or Host()
    base = build_experiment(program, suite_workshop(program, say))
    if len(base.variants) != 1:
        raise UsageError("A study takes one program.", field="command")
    knobs, skipped = _knobs(asked, host)
    if not knobs:
        told = "; ".join(f"{name}: {reason}" for name, reason in skipped)
        raise UsageError(f"No knob changes anything here: {told}.", field="--knob")
    setups: dict[str, tuple[HostLevel, ...]] = {BASELINE: _levels((), asked, host)}
    if len(knobs) > 1:
        setups[ALL] = _levels(knobs, asked, host)
    setups.update({name: _levels((name,), asked, host) for name in knobs})
    variants = tuple(_variant(base.variants[0], name, levels) for name, levels in setups.items())
    spec = replace(
        base,
        identifier=new_identifier(time.time_ns() // 1_000_000),
        kind="comparison",
        variants=variants,
        stopping=StoppingSpec(runs=asked.runs),
        warmup_count=asked.warmup_count,
        note=NOTE,
    )
    return Study(spec, tuple(skipped))


def _variant(base: Variant, setup: str, levels: tuple[HostLevel, ...]) -> Variant:
    return replace(base, name=setup, host=levels, parameters=((SETUP, setup),))


def _knobs(asked: StudyRequest, host: Host) -> tuple[list[str], list[tuple[str, str]]]:
    """The names of the knobs to study, and of those that are not, why."""
    request = KnobRequest(cpus=asked.cpus, services=asked.services)
    found: list[str] = []
    skipped: list[tuple[str, str]] = []
    for knob in ordered_knobs(asked.knobs or ("all",)):
        named = knob.name in asked.knobs or (knob.name == "services" and asked.services)
        if knob.name in _WHEN_NAMED and not named:
            skipped.append((knob.name, "it is studied only when it is named"))
            continue
        reason = knob.available(host, request) or _nothing_to_do(knob, host, request)
        if reason is None:
            found.append(knob.name)
        else:
            skipped.append((knob.name, reason))
    return found, skipped


def _nothing_to_do(knob: Knob, host: Host, request: KnobRequest) -> str | None:
    previous = knob.read(host, request)
    if knob.wanted(host, request, previous) == previous:
        return "the machine is so already"
    return None


def _levels(knobs: Sequence[str], asked: StudyRequest, host: Host) -> tuple[HostLevel, ...]:
    """What brings a setup about. As root the RAM disk is one with the program's files in it."""
    texts: list[tuple[str, str]] = []
    if asked.cpus:
        texts.append(("cpus", ",".join(map(str, asked.cpus))))
    if asked.services:
        texts.append(("services", ",".join(asked.services)))
    in_memory = _RAMDISK in knobs and host.is_root
    names = [name for name in knobs if name != _RAMDISK or not in_memory]
    level = HostLevel("knobs", "knobs", "+".join(sorted(names)) or "none", tuple(texts))
    files = HostLevel("filesystem", "filesystem", _IN_MEMORY)
    return (level, files) if in_memory else (level,)


def is_study(spec: ExperimentSpec) -> bool:
    """Whether an experiment is one of `plan_study`."""
    return bool(spec.variants) and all(
        SETUP in dict(variant.parameters) and variant.host for variant in spec.variants
    )


def _skipped(spec: ExperimentSpec) -> tuple[tuple[str, str], ...]:
    """Why this machine's other knobs are no setup of a study."""
    setups = [dict(variant.parameters)[SETUP] for variant in spec.variants]
    left = [name for name in ordered_names() if name not in setups]
    _, skipped = _knobs(StudyRequest(), Host())
    reasons = dict(skipped)
    return tuple((name, reasons.get(name, "it was not asked for")) for name in left)


def ordered_names() -> list[str]:
    """The names of all knobs, in the order in which they are applied."""
    return [knob.name for knob in ordered_knobs(("all",))]


def analyze_study(experiment: Experiment, confidence: float) -> Analyzed:
    """What each setup of a study did to the noise.

    Raises
    ------
    UsageError
        The experiment is no study.
    TrialsFailedError
        Fewer than two setups are left, or not the baseline.
    """
    from steelyard.app.results.named_analysis import analyze_experiment, chosen_method
    from steelyard.core.ending import describe_failure

    spec = experiment.spec
    if not is_study(spec):
        raise UsageError(
            f"The experiment {spec.identifier} is no study of a host.", field="--resume"
        )
    skipped, left = _skipped(spec), [variant.name for variant in spec.variants]
    kept = [trial for trial in experiment.trials if not trial.warmup]
    for index, variant in enumerate(spec.variants):
        own = [trial for trial in kept if trial.variant == index]
        if own and all(trial.status == "failed" for trial in own):
            told = f"all {len(own)} runs failed: {describe_failure(own[-1])}"
            skipped = (*skipped, (variant.name, told))
            left.remove(variant.name)
    if BASELINE not in left or len(left) < _FEWEST:
        name, told = skipped[-1]
        raise TrialsFailedError(f"There is nothing to compare: at {name} {told}.")
    question = Question(
        response=spec.primary_metric.name,
        factors=(SETUP,),
        confidence=confidence,
        unit=spec.primary_metric.unit,
        extra={"baseline": BASELINE, **_cpu_option(spec)},
    )
    method = chosen_method("noise", question)
    found = analyze_experiment(experiment, (None, None), method, question)
    result: Any = found.result
    return replace(found, result=replace(result, skipped=skipped))


def keep(found: Analyzed, experiment: Experiment, store: str | None) -> None:
    """Keep what was found for the status of the machine that it was found on."""
    from steelyard.report.kinds import RENDERINGS
    from steelyard.store.kept_study import keep_study
    from steelyard.store.store_location import store_path

    document = RENDERINGS.get(found.result.kind).document(found.result, found.origin)
    about = {
        "experiment": experiment.spec.identifier,
        "made_unix_s": experiment.created_unix_s,
        "command": shlex.join(experiment.spec.variants[0].launch.argv),
    }
    shown = {name: document[name] for name in ("response", "baseline", "ranking", "setups")}
    keep_study(store_path(store), experiment.provenance["host"], {**about, **shown})


def _cpu_option(spec: ExperimentSpec) -> dict[str, str]:
    wall = spec.primary_metric.name == "wall_time"
    measured = any(metric.name == "cpu_time" for metric in spec.metrics)
    return {"cpu": "cpu_time"} if wall and measured else {}
