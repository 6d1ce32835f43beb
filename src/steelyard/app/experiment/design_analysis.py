"""Analyse what an experiment file has run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from steelyard.analysis.tables.analysis_method import Question
from steelyard.core.errors import UsageError
from steelyard.core.experiment_results import Caution, Experiment
from steelyard.core.experiment_spec import ExperimentSpec
from steelyard.core.placement_spec import WORKER
from steelyard.core.quantity import parse_ratio
from steelyard.factors.randomised_setups import BENCHMARK

if TYPE_CHECKING:
    from steelyard.app.results.named_analysis import Analyzed

DEFAULT_METHOD = "anova"


def analysis_question(
    spec: ExperimentSpec, said: Mapping[str, Any], asked: Question
) -> tuple[str, Question]:
    """Which analysis, and the question to it: what the caller asked, else what the file says,
    else the linear model of the first metric by everything that was varied, and by the worker where
    several ran it, and by what hosts were brought to.

    Parameters
    ----------
    spec : ExperimentSpec
    said : mapping
        The file's table ``[analysis]``; empty without a file.
    asked : Question
        Empty fields are not asked for.
    """
    varied = dict.fromkeys(name for v in spec.variants for name, _ in v.parameters)
    if spec.placement is not None:
        varied |= dict.fromkeys(spec.placement.varied)
    response = asked.response or said.get("response") or spec.primary_metric.name
    factors = asked.factors or tuple(said.get("factors", ())) or tuple(varied)
    quantiles = asked.quantiles or tuple(
        parse_ratio(str(item), "analysis.quantiles") for item in said.get("quantiles", ())
    )
    extra = {**{k: str(v) for k, v in said.get("options", {}).items()}, **asked.extra}
    question = replace(asked, response=response, factors=factors, quantiles=quantiles, extra=extra)
    return str(said.get("method", DEFAULT_METHOD)), question


def analyze_run(
    experiment: Experiment, said: Mapping[str, Any], method: str | None, asked: Question
) -> Analyzed:
    """Analyse a finished or unfinished experiment.

    Raises
    ------
    UsageError
        Nothing was varied, so that there is nothing to explain.
    """
    from steelyard.app.results.named_analysis import analyze_experiment, chosen_method

    if method not in (None, said.get("method", DEFAULT_METHOD)):  # Options are a method's own.
        said = {name: value for name, value in said.items() if name != "options"}
    name, question = analysis_question(experiment.spec, said, asked)
    if (method or name) == "bias":
        question = _bias_question(experiment.spec, question)
    if (method or name) == "programs":
        factors = tuple(name for name in question.factors if name not in (BENCHMARK, WORKER))
        extra = {"program": BENCHMARK, **question.extra}
        question = replace(question, factors=factors, extra=extra)
    if (method or name) == "screening" and WORKER in question.factors and not asked.factors:
        question = _within_workers(question)
    if not question.factors:
        raise UsageError(
            "The experiment varies nothing: it has no [[factor]] and one benchmark. "
            "`steelyard report` shows what was measured.",
            field="factor",
        )
    chosen = chosen_method(method or name, question)
    iterations = said.get("rows") == "iterations"
    found = analyze_experiment(experiment, (None, None), chosen, question, iterations=iterations)
    return _with_named_effects(found, experiment)


def _with_named_effects(found: Analyzed, experiment: Experiment) -> Analyzed:
    """An answer about an experiment that ran until an effect was precise, with that effect."""
    from steelyard.analysis.comparison.named_effect import named_effects
    from steelyard.analysis.tables.table_analysis import Analysis, Effect

    result = found.result
    if not experiment.spec.stopping.effect or not isinstance(result, Analysis):
        return found
    effects = tuple(
        Effect(term=" ".join(filter(None, (e.group, e.term))), effect=e.ratio, measure="ratio")
        for e in named_effects(experiment.spec, experiment.trials)
    )
    caution = Caution(
        "stopped-by-effect",
        f"The experiment ran until {experiment.spec.stopping.effect!r} was precise. Its ratio is "
        "corrected for that; other intervals and p values are not.",
    )
    result = replace(
        result, effects=(*effects, *result.effects), cautions=(*result.cautions, caution)
    )
    return replace(found, result=result)


def _within_workers(question: Question) -> Question:
    """A screening of hosts of unlike speed looks at each beside its own mean."""
    factors = tuple(name for name in question.factors if name != WORKER)
    return replace(question, factors=factors, extra={"within": WORKER, **question.extra})


def _bias_question(spec: ExperimentSpec, question: Question) -> Question:
    """What makes up a setup is what was randomised; benchmarks are the programs of a suite."""
    factors = tuple(name for name in question.factors if name not in (BENCHMARK, WORKER))
    drawn = [factor.name for factor in spec.nuisance]
    hosts = [WORKER] if WORKER in question.factors else []
    known = {"setup": ",".join(drawn + hosts) or "block"}
    if spec.order == "blocks":  # Each pass runs every variant, close in time.
        known["order"] = "position"
    if BENCHMARK in question.factors:
        known["program"] = BENCHMARK
    return replace(question, factors=factors, extra={**known, **question.extra})
