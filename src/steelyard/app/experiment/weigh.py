"""Measure, compare, resume: an experiment is run, then answered."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from steelyard.analysis.comparison.by_benchmark import by_benchmark
from steelyard.app.experiment.going_on import Onward, begun_blocks, onward_stopping
from steelyard.app.request.experiment_request import build_experiment, suite_workshop
from steelyard.app.request.request import Request
from steelyard.core.ending import describe_failure
from steelyard.core.errors import TrialsFailedError, UsageError
from steelyard.core.experiment_results import Experiment
from steelyard.core.experiment_spec import ExperimentSpec, Variant
from steelyard.core.gate_spec import GateSpec
from steelyard.core.masked_experiment import masked_experiment
from steelyard.executors.local.this_machine import present_provenance
from steelyard.run.run_experiment import Place, run_experiment
from steelyard.run.trial_session import Watcher

if TYPE_CHECKING:
    from steelyard.analysis.comparison.comparison_results import Answer

# Words that a shell replaces: variables, patterns of files, home directories, output of commands.
_EXPANDED = re.compile(r"\$[A-Za-z_{(]|[*?`]|^~(/|$)")


@dataclass(frozen=True)
class Weighing:
    """An experiment as it may be shown, with its answer."""

    experiment: Experiment
    answer: Answer


def weigh(request: Request, place: Place, watch: Watcher | None = None) -> Weighing:
    """Run a new experiment and answer it.

    Raises
    ------
    TrialsFailedError
        There is nothing to answer with; what failed is in the store.
    """
    spec = build_experiment(request, suite_workshop(request, place.say))
    _check_gates(spec)
    if request.dimensioned:
        spec = _with_stored_counts(spec, place)
    return weigh_spec(spec, place, watch)


def weigh_spec(spec: ExperimentSpec, place: Place, watch: Watcher | None = None) -> Weighing:
    """Run a new experiment as it is specified, and answer it.

    Raises
    ------
    TrialsFailedError
        There is nothing to answer with; what failed is in the store.
    """
    return _answered(run_experiment(spec, place, watch=watch))


def _check_gates(spec: ExperimentSpec) -> None:
    if spec.gates:
        from steelyard.analysis.comparison.gate_check import check_gates

        check_gates(spec)


def _with_stored_counts(spec: ExperimentSpec, place: Place) -> ExperimentSpec:
    """`spec` with the counts of initial experiments in the store, which is told."""
    from steelyard.app.dimension.stored_dimensioning import dimensioned_spec
    from steelyard.app.results.library import open_library
    from steelyard.report.texts.readable import levels_text

    with open_library(place.store) as library:
        spec = dimensioned_spec(spec, present_provenance(spec), library)
    wanted = None if spec.iterations is None else spec.iterations.count
    below = "" if wanted is None else f", each of {wanted} x iteration"
    origins = ", ".join(dict.fromkeys(by.experiment for by in spec.dimensioned))
    place.say(f"counts of the initial experiment {origins}: {levels_text(spec)}{below}")
    return spec


def weigh_further(
    identifier: str,
    asked: Onward | None,
    place: Place,
    watch: Watcher | None = None,
    gates: tuple[GateSpec, ...] = (),
) -> Weighing:
    """Go on with a stored experiment: by what is asked for, or with None by its own rule alone.

    What was run, and why it ended, is said to whoever listens at `place`. `gates`, where there are
    any, take the place of its own.

    Raises
    ------
    UsageError
        It was imported, so that its commands are not known, or has all the runs asked for.
    """
    from steelyard.app.results.library import open_library

    with open_library(place.store) as library:
        earlier = library.load(identifier)
    if not earlier.spec.has_commands:
        raise UsageError(
            f"The experiment {earlier.spec.identifier} was imported: its commands are not known, "
            "so it cannot be resumed.",
            field="experiment",
        )
    if gates:
        earlier = replace(earlier, spec=replace(earlier.spec, gates=gates))
        _check_gates(earlier.spec)
    stopping = onward_stopping(earlier, asked, undecided=_undecided(earlier))
    if stopping is None:
        place.say(
            "nothing was run: what it was to reach is reached, and every verdict is decided. "
            "--runs +10 or --precision 0.5% goes on"
        )
        return _answered(earlier)
    spec = replace(earlier.spec, stopping=stopping)
    done = run_experiment(spec, place, earlier=earlier, watch=watch)
    _say_what_ran(earlier, done, place)
    return _answered(done)


def _undecided(experiment: Experiment) -> bool:
    """Whether the answer leaves a verdict on the primary metric open; designs have none."""
    if experiment.spec.kind != "comparison" or experiment.spec.varied:
        return False
    from steelyard.analysis.comparison.experiment_answer import answer

    found = answer(by_benchmark(experiment))
    return any(
        comparison.verdict == "undecided"
        for comparison in found.comparisons
        if comparison.metric.name == found.metric.name
    )


def _say_what_ran(earlier: Experiment, done: Experiment, place: Place) -> None:
    ended = {
        "precision": "its precision is reached",
        "decided": "every verdict is decided",
        "budget": "the budget is used up",
        "runs": "all runs are done",
        "interrupted": "it was interrupted",
        "failures": "too many trials failed",
    }
    before, after = begun_blocks(earlier), begun_blocks(done)
    reason = "" if done.stopped is None else f": {ended[done.stopped]}"
    place.say(f"went on from {before} to {after} blocks{reason}")


def _answered(experiment: Experiment) -> Weighing:
    experiment = by_benchmark(masked_experiment(experiment))
    kept = [trial for trial in experiment.trials if not trial.warmup]
    for index, variant in enumerate(experiment.spec.variants):
        own = [trial for trial in kept if trial.variant == index]
        if own and all(trial.status == "failed" for trial in own):
            raise TrialsFailedError(
                f"All {len(own)} trials of {variant.name!r} failed: {describe_failure(own[-1])}. "
                f"They are kept as {experiment.spec.identifier}; "
                f"`steelyard show {experiment.spec.identifier}` lists them."
                f"{_shell_hint(variant)}"
            )
    from steelyard.analysis.comparison.experiment_answer import answer

    return Weighing(experiment, answer(experiment))


def _shell_hint(variant: Variant) -> str:
    """That a shell would have changed a word of a command that none was asked for; or nothing."""
    if variant.launch.argv[:2] == ("/bin/sh", "-c"):
        return ""
    word = next((w for w in variant.launch.argv[1:] if _EXPANDED.search(w)), None)
    if word is None:
        return ""
    return f" The program got {word!r} as it stands; with --shell a shell expands it."
