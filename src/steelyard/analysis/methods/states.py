"""From where on the iterations of each execution can be measured."""

from __future__ import annotations

from dataclasses import replace

from steelyard.analysis.states.benchmark_states import StatesResult, states_result
from steelyard.analysis.states.execution import ExecutionState, Rules, execution_state
from steelyard.analysis.states.execution_series import IterationSeries, iteration_series, refusal_of
from steelyard.analysis.tables.analysis_method import Method, Question
from steelyard.analysis.tables.data_columns import Table
from steelyard.core.errors import UsageError
from steelyard.core.experiment_results import Caution
from steelyard.core.experiment_spec import Direction
from steelyard.core.quantity import parse_ratio
from steelyard.core.rng import derive_seed


def analyze(table: Table, question: Question) -> StatesResult:
    """The states of all executions of a table, and which iterations to measure."""
    tolerance = Rules().tolerance
    if "tolerance" in question.extra:
        tolerance = parse_ratio(question.extra["tolerance"], "--option tolerance")
    series = iteration_series(table)
    direction = _direction(question)
    rules = Rules(tolerance, question.confidence, question.seed, len(series), direction)
    executions = [_judged(one, rules) for one in series]
    return states_result(executions, rules, _cautions(series))


def _direction(question: Question) -> Direction:
    wanted = question.extra.get("direction", question.direction)
    if wanted == "lower":
        return "lower"
    if wanted == "higher":
        return "higher"
    raise UsageError(
        f"--option direction wants lower or higher, found {wanted!r}.", field="--option direction"
    )


def _judged(series: IterationSeries, rules: Rules) -> ExecutionState:
    refusal = refusal_of(series.values)
    if refusal is not None:
        return ExecutionState(series.label, series.values, refusal=refusal)
    seeded = replace(rules, seed=derive_seed(rules.seed, "states", series.label))
    return execution_state(series.label, series.values, seeded)


def _cautions(series: tuple[IterationSeries, ...]) -> list[Caution]:
    found: list[Caution] = []
    if len(series) == 1:
        found.append(
            Caution(
                "one-execution",
                "There is one execution only: whether others become steady at the same point, "
                "and how far their means lie apart, cannot be seen.",
            )
        )
    lengths = {len(one.values) for one in series}
    if len(lengths) > 1:
        found.append(
            Caution(
                "unequal-lengths",
                f"Executions have between {min(lengths)} and {max(lengths)} iterations; each is "
                "judged by its own.",
            )
        )
    return found


EXTENSION = Method(
    name="states",
    uses=("seed",),
    description="From where on iterations are initialised and independent, and which to measure.",
    reads="levels",
    analyze=analyze,
    options={
        "tolerance": "Relative difference up to which levels are the same; 5 % unless given.",
        "direction": "`higher` where more is better; of an experiment, its metric says it.",
    },
)
