"""Experiments of a service that ask the same as another, and what they found again of it."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from steelyard.analysis.linear.table_factor import factor_of
from steelyard.analysis.programs.program_effects import changes_of_mean
from steelyard.analysis.programs.reproduction import CellEffect, Reproduction, reproduction
from steelyard.analysis.tables.data_columns import Table
from steelyard.app.results.named_analysis import trial_table
from steelyard.app.service.service import Service
from steelyard.core.errors import AnalysisError, TrialsFailedError, UsageError
from steelyard.core.experiment_results import Experiment
from steelyard.core.masked_experiment import masked_experiment
from steelyard.core.placement_spec import WORKER
from steelyard.factors.randomised_setups import BENCHMARK
from steelyard.service.accounts import Identity
from steelyard.service.submissions import ListedSubmission, Submission, files_of

# What may differ between two runs of one experiment, of its table `experiment`.
_OWN = ("name", "seed", "runs", "precision", "power", "budget", "timeout")
_LOOKED_AT = 200


@dataclass(frozen=True)
class FoundAgain:
    """Two runs of one experiment, and what of the first the second found again."""

    original: Submission
    again: Submission
    response: str
    found: Reproduction


def reproductions_of(service: Service, who: Identity, sent: Submission) -> list[ListedSubmission]:
    """Other experiments that one may see and that ask the same, the newest first."""
    wanted = question_of(sent.file)
    seen = [each for each in service.submissions(who) if each.identifier != sent.identifier]
    with service.database.reading() as connection:
        files = files_of(connection, [each.identifier for each in seen[:_LOOKED_AT]])
    return [each for each in seen if question_of(files.get(each.identifier, "")) == wanted]


@lru_cache(maxsize=1024)
def question_of(text: str) -> str:
    """What an experiment file asks, whoever runs it, where and how often; empty if it is none."""
    try:
        said = tomllib.loads(text)
    except (ValueError, RecursionError):
        return ""
    settings = {k: v for k, v in said.get("experiment", {}).items() if k not in _OWN}
    asked = {name: said.get(name) for name in ("benchmark", "factor", "constraint", "design")}
    for each in asked["benchmark"] or ():
        each.pop("expected_s", None)
    return json.dumps([settings.get("metrics"), settings.get("iterations"), asked], sort_keys=True)


def found_again(service: Service, who: Identity, original: str, again: str) -> FoundAgain:
    """What the second of two experiments found again of the first.

    Raises
    ------
    UsageError
        One may not see one of them, or they ask something else.
        Or one of them has no effects yet.
    """
    first, second = service.submission(who, original), service.submission(who, again)
    if question_of(first.file) != question_of(second.file):
        raise UsageError(
            f"The experiments {first.identifier} and {second.identifier} ask something else: their "
            "benchmarks, factors, designs or metrics differ.",
            field="again",
        )
    sides = [service.trials(each) for each in (first, second)]
    response = sides[0].spec.primary_metric.name
    effects = [_effects(each, response) for each in sides]
    for sent, own in zip((first, second), effects, strict=True):
        if not own:
            raise UsageError(
                f"The experiment {sent.identifier} shows no effect yet: no benchmark has trials at "
                "two levels of a factor, and more of them than levels.",
                field="again",
            )
    found = reproduction(*effects)
    return FoundAgain(first, second, response, found)


def _effects(experiment: Experiment, response: str) -> list[CellEffect]:
    """What there is of them; nothing where trials cannot tell any."""
    try:
        return list(cell_effects(masked_experiment(experiment), response))
    except (AnalysisError, TrialsFailedError):
        return []


def cell_effects(experiment: Experiment, response: str) -> Iterator[CellEffect]:
    """What each factor does to each benchmark on each host.

    A benchmark that lacks the first level of a factor on a host has no effect there that could be
    compared with others.

    Raises
    ------
    TrialsFailedError, AnalysisError
        There are too few trials, or nothing is varied.
    """
    table = trial_table(experiment)
    factors = [factor_of(table, name) for name in table.level_orders if name != BENCHMARK]
    values = np.asarray(table.columns[response], dtype=np.float64)
    only = experiment.spec.variants[0].name.partition(" (")[0]
    cells = list(zip(_texts(table, WORKER, ""), _texts(table, BENCHMARK, only), strict=True))
    for host, benchmark in dict.fromkeys(cells):
        here = np.array([cell == (host, benchmark) for cell in cells]) & np.isfinite(values)
        own = [each.rows(here) for each in factors] if here.any() else []
        whole = [
            each
            for each, all_levels in zip(own, factors, strict=True)
            if len(each.levels) > 1 and each.levels[0] == all_levels.levels[0]
        ]
        if not whole or int(here.sum()) <= sum(len(each.levels) for each in whole):
            continue
        confidence = experiment.spec.confidence
        for effect in changes_of_mean("", whole, response, values[here], confidence):
            yield CellEffect(host, benchmark, effect.term.removeprefix(": "), effect.effect)


def _texts(table: Table, name: str, otherwise: str) -> Sequence[str]:
    """A column of text; the same in all rows where the table has none."""
    column: Any = table.columns.get(name)
    return [otherwise] * table.row_count if column is None else [str(value) for value in column]
