"""Causal experiments: every level of a factor, without and with an intervention.

An explanation 'X acts on Y through Z' is put to the test by holding Z and varying X as before.
Both arms are variants of one experiment, so that their trials come in random order in each block.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from steelyard.analysis.methods.cause import WITH, WITHOUT
from steelyard.analysis.tables.analysis_method import Question
from steelyard.app.experiment.cause_table import (
    COMMAND_LINE,
    CauseTable,
    command_instead,
    held_factors,
    varied_factor,
)
from steelyard.app.experiment.design_plan import Plan, experiment_plan
from steelyard.app.experiment.experiment_entries import BenchmarkEntry, ExperimentFile, FactorEntry
from steelyard.core.errors import UsageError
from steelyard.core.experiment_results import Experiment
from steelyard.core.experiment_spec import ExperimentSpec, Variant
from steelyard.core.quantity import parse_ratio
from steelyard.core.rng import fresh_seed
from steelyard.factors.kinds import FACTORS

if TYPE_CHECKING:
    from steelyard.app.results.named_analysis import Analyzed
    from steelyard.app.suite.suite_program import Workshop

INTERVENTION = "intervention"


@dataclass(frozen=True)
class CauseCall:
    """What the command line asks for in place of a file; texts as the user typed them.

    Parameters
    ----------
    command : tuple of str
    settings : mapping
        As the table ``[experiment]``.
    cause : mapping
        As the table ``[cause]``.
    fixed : tuple of (factor, level)
        Of both arms.
    """

    command: tuple[str, ...]
    settings: Mapping[str, Any]
    cause: Mapping[str, Any]
    fixed: tuple[tuple[str, str], ...] = ()


def cause_file(call: CauseCall) -> ExperimentFile:
    """The experiment file that a call without one stands for."""
    return ExperimentFile(
        path=COMMAND_LINE,
        settings=call.settings,
        benchmarks=(BenchmarkEntry(" ".join(call.command), call.command),),
        factors=(),
        nuisance=tuple(
            FactorEntry(factor, factor, (level,), where="--set") for factor, level in call.fixed
        ),
        constraints=(),
        design={},
        analysis={},
        cause=call.cause,
    )


def cause_plan(file: ExperimentFile, workshop: Workshop | None = None) -> Plan:
    """The plan of a causal experiment.

    Raises
    ------
    DataError, UsageError, UnknownNameError
        The table ``[cause]`` lacks a field or has a wrong one; the message names it.
    """
    said = CauseTable(file)
    if file.factors or file.design or file.constraints:
        said.fail("factor", "a causal experiment varies the factor of [cause] alone: no [[factor]]")
    if len(file.benchmarks) > 1:
        said.fail("factor", "a causal experiment takes one [[benchmark]]")
    seed = int(file.settings["seed"]) if "seed" in file.settings else fresh_seed()
    factor = varied_factor(said, seed)
    held = held_factors(said)
    command = command_instead(said)
    if not held and command is None:
        instead = "--instead" if file.path == COMMAND_LINE else "`command`"
        said.fail("intervention", f"it needs factors to hold, or {instead} for a command to run")
    settings = {**file.settings, "seed": seed}
    asked = replace(file, settings=settings, factors=(factor,))
    plan = experiment_plan(asked, workshop)
    _check_metrics(said, plan.spec)
    arms: list[Variant] = []
    for variant in plan.spec.variants:
        arms.append(_in_arm(variant, WITHOUT))
        changed = variant
        if command is not None:
            changed = replace(changed, launch=replace(changed.launch, argv=command))
        for name, level in held:
            changed = FACTORS.get(name).at(changed, level, name, ())
        arms.append(_in_arm(changed, WITH))
    varied = (*plan.spec.varied, (INTERVENTION, (WITHOUT, WITH)))
    spec = replace(plan.spec, variants=tuple(arms), kind="comparison", varied=varied)
    return replace(
        plan,
        spec=spec,
        factors={**plan.factors, INTERVENTION: (WITHOUT, WITH)},
        block_trial_count=2 * plan.block_trial_count,
        estimated_s=None if plan.estimated_s is None else 2 * plan.estimated_s,
        design=None,
    )


def _check_metrics(said: CauseTable, spec: ExperimentSpec) -> None:
    """Refuse, before anything runs, a metric that no trial will have, and shares that are none."""
    known = [metric.name for metric in spec.metrics]
    for name in ("response", "intermediate"):
        if name in said.table and said.text(name) not in known:
            said.fail(
                name, f"there is no metric {said.text(name)!r} here; known: {', '.join(known)}"
            )
    for name in ("tolerance", "margin"):
        if name in said.table:
            parse_ratio(str(said.table[name]), said.field(name))


def is_causal(spec: ExperimentSpec) -> bool:
    """Whether it is a causal experiment."""
    return INTERVENTION in dict(spec.varied)


def cause_question(file: ExperimentFile) -> Question:
    """The question that a file's table ``[cause]`` asks of its experiment."""
    return _question(CauseTable(file), file.settings.get("confidence", "95%"))


def stored_question(spec: ExperimentSpec, cause: Mapping[str, Any]) -> Question:
    """The question to a stored causal experiment.

    Parameters
    ----------
    spec : ExperimentSpec
    cause : mapping
        As the table ``[cause]``; `factor` goes without saying.

    Raises
    ------
    UsageError
        It is none.
    """
    if not is_causal(spec):
        raise UsageError(
            f"{spec.identifier} is no causal experiment: it has no intervention. "
            f"`steelyard experiment analyze {spec.identifier}` analyses it.",
            field="--experiment",
        )
    factor = next(name for name, _ in spec.varied if name != INTERVENTION)
    said = CauseTable(cause_file(CauseCall((), {}, {**cause, "factor": factor})))
    return _question(said, cause.get("confidence", spec.confidence))


def _question(said: CauseTable, confidence: Any) -> Question:
    extra: dict[str, str] = {}
    for name in ("tolerance", "margin"):
        if name in said.table:
            extra[name] = repr(parse_ratio(str(said.table[name]), said.field(name)))
    if "intermediate" in said.table:
        extra["intermediate"] = said.text("intermediate")
    return Question(
        response=said.text("response") if "response" in said.table else None,
        factors=(str(said.table.get("factor", "")), INTERVENTION),
        confidence=parse_ratio(str(confidence), "experiment.confidence"),
        seed=1,
        extra=extra,
    )


def analyze_cause(experiment: Experiment, asked: Question) -> Analyzed:
    """The verdict on a causal experiment.

    Raises
    ------
    TrialsFailedError
        No trial gave a value.
    """
    from steelyard.app.results.named_analysis import analyze_experiment, chosen_method

    response = asked.response or experiment.spec.primary_metric.name
    unit = next((m.unit for m in experiment.spec.metrics if m.name == response), "")
    question = replace(asked, response=response, unit=unit)
    return analyze_experiment(experiment, (None, None), chosen_method("cause", question), question)


def _in_arm(variant: Variant, arm: str) -> Variant:
    parameters = (*variant.parameters, (INTERVENTION, arm))
    name = variant.name.removesuffix(")")
    label = f"{name}, {INTERVENTION}={arm})" if name != variant.name else f"{name} ({arm})"
    return replace(variant, name=label, parameters=parameters)
