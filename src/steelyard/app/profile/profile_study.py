"""Experiments on profilers: their specification, their runs, and what single trials said."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

from steelyard.app.profile.pilot_runs import METRICS, failed_run
from steelyard.core.errors import TrialsFailedError
from steelyard.core.experiment_results import Experiment, Trial
from steelyard.core.experiment_spec import ExperimentSpec, Variant
from steelyard.core.identifier import new_identifier
from steelyard.core.profiled_spec import ProfileStudySpec
from steelyard.core.stopping_spec import StoppingSpec
from steelyard.run.run_experiment import Place, run_experiment
from steelyard.run.trial_session import Progress, Watcher


@dataclass(frozen=True)
class StudyRuns:
    """How often each variant of a study is run, and under which conditions.

    Parameters
    ----------
    count : int
    seed : int
    confidence : float
    quiet : tuple of str
        The knobs of the machine that are set meanwhile.
    budget_s : float or None
        Time for all runs, which ends them earlier, but not before the `fewest`.
    """

    count: int
    seed: int
    confidence: float = 0.95
    quiet: tuple[str, ...] = ()
    budget_s: float | None = None
    fewest: int = 1


def study_spec(
    variants: Sequence[Variant], study: ProfileStudySpec, runs: StudyRuns
) -> ExperimentSpec:
    """The specification of a new study: every variant once in each block, in random order."""
    return ExperimentSpec(
        identifier=new_identifier(time.time_ns() // 1_000_000),
        kind="measurement",
        variants=tuple(variants),
        metrics=METRICS,
        seed=runs.seed,
        stopping=StoppingSpec(runs=runs.count, budget_s=runs.budget_s, budget_blocks=runs.fewest),
        confidence=runs.confidence,
        quiet=runs.quiet,
        profiles=study,
    )


def run_study(spec: ExperimentSpec, place: Place, watch: Watcher | None = None) -> Experiment:
    """Run a study, and tell what failed of it; `watch` is told of its runs.

    Raises
    ------
    TrialsFailedError
        All trials of a variant failed, or the session ended before each had one.
    """
    place.say(f"kept as {spec.identifier}; `steelyard resume` goes on with it where it ends")
    found = run_experiment(spec, place, watch=None if watch is None else _without_times(watch))
    _refuse_without(found)
    _tell_failures(found, place)
    return found


def _without_times(watch: Watcher) -> Watcher:
    """Who is told of runs, and not of their times: those of profilers are not what is asked."""

    def tell(progress: Progress) -> None:
        watch(replace(progress, intervals=()))

    return tell


def trials_of(experiment: Experiment, index: int) -> list[Trial]:
    """The good trials of one variant, by their blocks."""
    own = (t for t in experiment.trials if t.variant == index and t.status == "ok")
    return sorted((t for t in own if not t.warmup), key=lambda trial: trial.block)


def _refuse_without(experiment: Experiment) -> None:
    """Refuse to answer where a variant has failed trials only, or somebody interrupted."""
    if experiment.stopped == "interrupted":
        raise KeyboardInterrupt
    for index, variant in enumerate(experiment.spec.variants):
        if trials_of(experiment, index):
            continue
        own = [trial for trial in experiment.trials if trial.variant == index]
        if own and all(trial.status == "failed" for trial in own):
            told = failed_run(variant.launch.argv, variant.profiled, own[-1])
            identifier = experiment.spec.identifier
            raise TrialsFailedError(
                f"{told.rstrip('.')}. All {len(own)} runs of it failed; they are kept as "
                f"{identifier}."
            )


def _tell_failures(experiment: Experiment, place: Place) -> None:
    for index, variant in enumerate(experiment.spec.variants):
        own = [trial for trial in experiment.trials if trial.variant == index]
        failed = [trial for trial in own if trial.status == "failed"]
        if failed:
            told = failed_run(variant.launch.argv, variant.profiled, failed[-1])
            place.say(f"caution: {len(failed)} of {len(own)} runs failed and are left out. {told}")
