"""Causal experiments: every level of a factor, without and with an intervention.

An explanation 'X acts on Y through Z' is put to the test by holding Z and varying X as before.
Both arms are variants of one experiment, so that their trials come in random order in each block.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NoReturn

from steelyard.analysis.methods.cause import WITH, WITHOUT
from steelyard.analysis.tables.analysis_method import Question
from steelyard.app.experiment.design_plan import Plan, experiment_plan
from steelyard.app.experiment.experiment_file import BenchmarkEntry, ExperimentFile, FactorEntry
from steelyard.app.experiment.file_factors import known_factor
from steelyard.app.experiment.toml_lines import field_place
from steelyard.app.request.command_text import split_command
from steelyard.core.errors import DataError, UsageError
from steelyard.core.experiment_results import Experiment
from steelyard.core.experiment_spec import ExperimentSpec, Variant
from steelyard.core.quantity import parse_ratio
from steelyard.core.rng import derive_seed, fresh_seed
from steelyard.factors.kinds import FACTORS

if TYPE_CHECKING:
    from steelyard.app.results.named_analysis import Analyzed
    from steelyard.app.suite.suite_program import Workshop

INTERVENTION = "intervention"
# Levels to draw where a file names none: with fewer a spread is hardly known.
DRAWN_COUNT = 16
_MOST_TRIES = 100


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


_COMMAND_LINE = "the command line"
# What fields of the table [cause] are called as options.
_OPTIONS = {
    "command": "--instead",
    "draw": "--levels",
    "intervention": "--intervene",
    "response": "--metric",
}


def cause_file(call: CauseCall) -> ExperimentFile:
    """The experiment file that a call without one stands for."""
    return ExperimentFile(
        path=_COMMAND_LINE,
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
    said = _Said(file)
    if file.factors or file.design or file.constraints:
        said.fail("factor", "a causal experiment varies the factor of [cause] alone: no [[factor]]")
    if len(file.benchmarks) > 1:
        said.fail("factor", "a causal experiment takes one [[benchmark]]")
    seed = int(file.settings["seed"]) if "seed" in file.settings else fresh_seed()
    factor = _factor(said, seed)
    held = _held(said)
    command = _command(said)
    if not held and command is None:
        instead = "--instead" if file.path == _COMMAND_LINE else "`command`"
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


def _check_metrics(said: _Said, spec: ExperimentSpec) -> None:
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
    return _question(_Said(file), file.settings.get("confidence", "95%"))


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
    said = _Said(cause_file(CauseCall((), {}, {**cause, "factor": factor})))
    return _question(said, cause.get("confidence", spec.confidence))


def _question(said: _Said, confidence: Any) -> Question:
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


class _Said:
    """The table ``[cause]`` with errors that name the line."""

    def __init__(self, file: ExperimentFile) -> None:
        self.path = file.path
        self.table = file.cause

    def text(self, name: str) -> str:
        """A field that is text and must be there."""
        value = self.table.get(name)
        if not isinstance(value, str) or not value.strip():
            self.fail(name, "it is missing" if value is None else f"it takes text, not {value!r}")
        return value

    def fail(self, name: str, message: str) -> NoReturn:
        """Complain of a field."""
        raise DataError(f"{self.place(name)}: {message}.", field=self.field(name))

    def place(self, name: str) -> str:
        """The file, the line and the field; or the option, where the call came by options."""
        if self.path == _COMMAND_LINE:
            return _OPTIONS.get(name, f"--{name}")
        return field_place(self.path, "cause", name)

    def field(self, name: str) -> str:
        """A field or an option by its name."""
        return self.place(name) if self.path == _COMMAND_LINE else f"cause.{name}"


def _factor(said: _Said, seed: int) -> FactorEntry:
    """The factor to vary, at the levels that the file names or that are drawn from the seed."""
    name = said.text("factor")
    kind = known_factor(name, said.place("factor"))
    if "levels" in said.table:
        levels = said.table["levels"]
        if not isinstance(levels, list | tuple) or len(levels) < 2:
            shown = ", ".join(map(repr, levels)) if isinstance(levels, list) else repr(levels)
            said.fail("levels", f"it takes two levels or more, not {shown}")
        found = tuple(kind.level(_level(level), said.place("levels")) for level in levels)
        if len(set(found)) < len(found):
            said.fail("levels", "a level is named twice")
        return FactorEntry(name, name, found, where=said.place("levels"))
    if kind.draw is None:
        said.fail("levels", f"the factor {name} cannot draw levels by itself; name them")
    options = said.table.get("draw", {})
    if not isinstance(options, Mapping) or not all(type(v) is int for v in options.values()):
        said.fail("draw", "it takes whole numbers, such as {count = 16, maximum = 4000}")
    wanted = options.get("count", DRAWN_COUNT)
    unknown = [option for option in options if option not in ("count", *kind.draws)]
    if unknown or wanted < 2:
        known = ", ".join(("count (2 or more)", *kind.draws))
        said.fail("draw", f"the factor {name} takes {known}")
    said_draws = {name: value for name, value in options.items() if name != "count"}
    kind.check_draws(said_draws, said.place("draw"))
    draws = {**kind.draws, **said_draws}
    drawn: dict[str, None] = {}
    for number in range(wanted * _MOST_TRIES):
        drawn[kind.draw(derive_seed(seed, "cause", number), draws)] = None
        if len(drawn) == wanted:
            break
    if len(drawn) < wanted:
        said.fail("draw", f"the factor {name} has not {wanted} levels to draw")
    levels = sorted(drawn, key=lambda level: (len(level), level))
    return FactorEntry(name, name, tuple(levels), where=said.place("draw"))


def _level(value: Any) -> str:
    return ("on" if value else "off") if isinstance(value, bool) else str(value)


def _held(said: _Said) -> list[tuple[str, str]]:
    """The factors that the intervention sets, with their levels."""
    held = said.table.get("intervention", {})
    if not isinstance(held, Mapping):
        said.fail("intervention", "it takes factors with their levels, such as stack-hold = 4000")
    found: list[tuple[str, str]] = []
    for name, level in held.items():
        kind = known_factor(str(name), said.place("intervention"))
        if name == said.table.get("factor"):
            said.fail("intervention", f"it sets {name}, which is what is varied")
        found.append((kind.name, kind.level(_level(level), said.place("intervention"))))
    return found


def _command(said: _Said) -> tuple[str, ...] | None:
    """The command that the intervention runs instead."""
    value = said.table.get("command")
    if value is None:
        return None
    if isinstance(value, list | tuple) and value:
        return tuple(str(word) for word in value)
    return split_command(said.text("command"), said.field("command"))


def _in_arm(variant: Variant, arm: str) -> Variant:
    parameters = (*variant.parameters, (INTERVENTION, arm))
    name = variant.name.removesuffix(")")
    label = f"{name}, {INTERVENTION}={arm})" if name != variant.name else f"{name} ({arm})"
    return replace(variant, name=label, parameters=parameters)
