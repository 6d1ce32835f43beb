"""The analysis that a stored experiment was made for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steelyard.app.experiment.asked_analysis import asked_table
from steelyard.core.experiment_results import Experiment

if TYPE_CHECKING:
    from steelyard.app.results.named_analysis import Analyzed


def own_analysis(experiment: Experiment, response: str | None = None) -> Analyzed | None:
    """The analysis that an experiment was made for; None for a measurement or a comparison.

    Parameters
    ----------
    experiment : Experiment
    response : str, optional
        The metric to analyse in place of the one that was asked for.

    Raises
    ------
    AnalysisError, TrialsFailedError
        What was measured is too little for it.
    """
    spec = experiment.spec
    named = {} if response is None else {"response": response}
    if spec.events is not None:
        from steelyard.app.experiment.event_study import analyze_events

        return analyze_events(experiment, {**asked_table(spec, "events"), **named})
    from steelyard.app.experiment.causal_experiment import (
        analyze_cause,
        is_causal,
        stored_question,
    )

    if is_causal(spec):
        cause = {**asked_table(spec, "cause"), **named}
        return analyze_cause(experiment, stored_question(spec, cause))
    from steelyard.app.experiment.knob_study import analyze_study, is_study

    if is_study(spec):
        return analyze_study(experiment, spec.confidence)
    if not spec.varied:
        return None
    from steelyard.analysis.tables.analysis_method import Question
    from steelyard.app.experiment.design_analysis import analyze_run

    said = asked_table(spec, "analysis")
    question = Question(response=response, confidence=spec.confidence, seed=1)
    return analyze_run(experiment, said, None, question)
