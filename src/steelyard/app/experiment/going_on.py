"""How an experiment goes on: by its own rule to stop, by the one asked for, or until decided."""

from __future__ import annotations

from dataclasses import dataclass, replace

from steelyard.core.errors import UsageError
from steelyard.core.experiment_results import Experiment
from steelyard.core.stopping_spec import PastLook, StoppingSpec

_UNFINISHED = (None, "interrupted", "budget", "failures")


@dataclass(frozen=True)
class Onward:
    """What a user asks of an experiment that goes on. All None: what its answer promised.

    Parameters
    ----------
    precision_ratio : float or None
    budget_s, budget_runs : float, int or None
        Of this session.
    budget_is_asked : bool
        It is no default: a number of runs ends by it too.
    runs : int or None
        Blocks in all, or, with `further`, after those that are there.
    further : bool
    minimum_blocks : int or None
    """

    precision_ratio: float | None = None
    budget_s: float | None = None
    budget_runs: int | None = None
    runs: int | None = None
    further: bool = False
    minimum_blocks: int | None = None
    budget_is_asked: bool = False


def begun_blocks(experiment: Experiment) -> int:
    """Blocks that have a trial."""
    return len({trial.block for trial in experiment.trials if not trial.warmup})


def onward_stopping(
    experiment: Experiment, asked: Onward | None, *, undecided: bool
) -> StoppingSpec | None:
    """The rule to stop of the session that goes on with an experiment.

    Parameters
    ----------
    experiment : Experiment
        As it is.
    asked : Onward or None
        None: only what its own rule still lacks.
    undecided : bool
        Whether its answer left a verdict undecided.

    Returns
    -------
    StoppingSpec or None
        With the answers so far among its looks. None where nothing is left to do: its rule is
        fulfilled, every verdict decided, and nothing else is asked for.

    Raises
    ------
    UsageError
        As many runs as are asked for are there; or nothing is asked for and no rule would end it.
    """
    stopping = experiment.spec.stopping
    if asked is None:
        return _with_look(experiment, stopping)
    if asked.runs is not None:
        return _fixed(experiment, asked)
    if asked.precision_ratio is not None:
        return _with_look(
            experiment,
            replace(
                _budgeted(stopping, asked),
                precision_ratio=asked.precision_ratio,
                until="precision",
                runs=None,
            ),
        )
    if experiment.stopped in _UNFINISHED:
        return _with_look(experiment, _own(stopping, asked))
    if not undecided:
        return None
    if experiment.spec.order == "sequential":
        raise UsageError(
            "Its variants run one after the other, so that it cannot go on until they are "
            "decided. Say how far: --runs +10, or --precision 0.5%.",
            field="experiment",
        )
    return _with_look(experiment, replace(_budgeted(stopping, asked), until="decided", runs=None))


def _own(stopping: StoppingSpec, asked: Onward) -> StoppingSpec:
    """The rule of an experiment that has not come to its end."""
    if stopping.rule != "runs":
        return _budgeted(stopping, asked)
    if asked.minimum_blocks is not None:
        raise UsageError(
            f"--min-runs: the experiment has a fixed number of runs, {stopping.runs}, and no look "
            "before its end.\nLeave it out, or choose another number by --runs.",
            field="--min-runs",
        )
    return _budgeted(stopping, asked) if asked.budget_is_asked else stopping


def _budgeted(stopping: StoppingSpec, asked: Onward) -> StoppingSpec:
    minimum = asked.minimum_blocks or stopping.minimum_blocks
    return replace(
        stopping,
        minimum_blocks=minimum,
        budget_s=asked.budget_s,
        budget_runs=asked.budget_runs,
    )


def _fixed(experiment: Experiment, asked: Onward) -> StoppingSpec:
    present, runs = begun_blocks(experiment), asked.runs or 0
    if asked.further:
        runs += present
    elif runs < present or (runs == present and experiment.stopped not in _UNFINISHED):
        raise UsageError(
            f"--runs {runs}: the experiment has {present} runs of each command already. "
            f"--runs +{runs} adds {runs}.",
            field="--runs",
        )
    return _with_look(
        experiment,
        replace(
            experiment.spec.stopping,
            runs=runs,
            budget_s=asked.budget_s,
            budget_runs=asked.budget_runs,
        ),
    )


def _with_look(experiment: Experiment, onward: StoppingSpec) -> StoppingSpec:
    """The rule with the answer that has been given so far, if one has.

    A fixed plan that was cut short and is completed as it was planned ends where it was to end
    before the first run, whatever was seen on the way: no look of its own. Nor has a session that a
    crash ended and that goes on to its precision, which no ratio chooses; one that its verdict or
    the new budget ends has.
    """
    stopping = experiment.spec.stopping
    blocks = begun_blocks(experiment)
    completes_plan = onward.runs is not None and onward.runs == stopping.runs
    crashed = experiment.stopped is None and onward.rule == stopping.rule == "precision"
    if crashed or completes_plan or blocks == 0:
        return onward
    return replace(onward, looks=(*stopping.looks, PastLook(blocks, stopping.rule)))
