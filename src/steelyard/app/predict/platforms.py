"""The six questions of `steelyard predict platforms`: read a table, check it, ask."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from steelyard.app.predict.platform_table import TableOptions, read_platform_table
from steelyard.core.errors import UsageError

if TYPE_CHECKING:
    from steelyard.predict.platforms.fitted import FittedModels
    from steelyard.predict.platforms.host_choice import HostChoice
    from steelyard.predict.platforms.host_table import PlatformTable
    from steelyard.predict.platforms.model_evaluation import EvaluationDesign, PlatformEvaluation
    from steelyard.predict.platforms.next_measurement import NextMeasurements
    from steelyard.predict.platforms.platform_answers import Asked, PlatformAnswer
    from steelyard.predict.platforms.platform_model import PlatformModel
    from steelyard.predict.platforms.suite_study import SuiteStudy

DEFAULT_MODEL = "stacking"


@dataclass(frozen=True)
class PlatformFile:
    """A table, how it is read, and the model that is asked."""

    path: str
    options: TableOptions
    model: str = DEFAULT_MODEL


def _model(name: str) -> PlatformModel:
    from steelyard.predict.platforms.models import PLATFORM_MODELS

    return PLATFORM_MODELS.get(name)


def ask(file: PlatformFile, asked: Asked, known: Sequence[str] = ()) -> PlatformAnswer:
    """Predict an application on every host, from the hosts `known` or from all others."""
    import numpy as np

    from steelyard.predict.platforms.platform_answers import ask_table
    from steelyard.predict.platforms.table_oddities import check_table

    table = read_platform_table(file.path, file.options)
    places = None
    if known:
        places = np.zeros(len(table.hosts), dtype=bool)
        for host in known:
            places[table.host_place(host, "--known")] = True
    return ask_table(table, _model(file.model), asked, places, check_table(table))


def fit(file: PlatformFile, asked: Asked, models: Sequence[str] = ()) -> FittedModels:
    """Fit models to all hosts where an application is measured."""
    from steelyard.predict.platforms.fitted import fit_models
    from steelyard.predict.platforms.table_oddities import check_table

    table = read_platform_table(file.path, file.options)
    return fit_models(table, asked, chosen_models(models, table), check_table(table))


def evaluate(
    file: PlatformFile, models: Sequence[str], design: EvaluationDesign
) -> PlatformEvaluation:
    """Predict the table's own benchmarks by models."""
    from steelyard.predict.platforms.model_evaluation import evaluate_models
    from steelyard.predict.platforms.table_oddities import check_table

    table = read_platform_table(file.path, file.options)
    for name in design.applications:
        table.place_of(name)
    for count in design.known_counts:
        if not 1 <= count < len(table.hosts):
            raise UsageError(
                f"--known-hosts {count}: the table has {len(table.hosts)} hosts, so from 1 to "
                f"{len(table.hosts) - 1} can be known.",
                field="--known-hosts",
            )
    return evaluate_models(table, chosen_models(models, table), design, check_table(table))


def choose(
    file: PlatformFile, asked: Asked, candidates: Sequence[str], prices: str | None, seed: int
) -> HostChoice:
    """Choose among hosts; `prices` names the table's column of prices."""
    from steelyard.predict.platforms.host_choice import choose_host
    from steelyard.predict.platforms.table_oddities import check_table

    table = read_platform_table(file.path, file.options)
    costs = None if prices is None else _prices(table, prices)
    found = choose_host(table, _model(file.model), asked, candidates, costs, seed)
    return replace(found, answer=replace(found.answer, cautions=check_table(table)))


def _prices(table: PlatformTable, column: str) -> list[float]:
    texts = table.attributes.get(column)
    if texts is None:
        raise UsageError(f"{table.source} has no column {column!r} of prices.", field="--by-price")
    prices: list[float] = []
    for host, text in zip(table.hosts, texts, strict=True):
        try:
            prices.append(float(text))
        except ValueError:
            raise UsageError(
                f"{table.source}: the price of {host} is {text!r}, not a number.",
                field="--by-price",
            ) from None
        if not 0 < prices[-1] < float("inf"):
            raise UsageError(
                f"{table.source}: the price of {host} is {text}, not above 0.", field="--by-price"
            )
    return prices


def suggest_next(file: PlatformFile, application: str) -> NextMeasurements:
    """Rank what to measure next."""
    from steelyard.predict.platforms.next_measurement import next_measurements
    from steelyard.predict.platforms.table_oddities import check_table

    table = read_platform_table(file.path, file.options)
    return replace(next_measurements(table, application), cautions=check_table(table))


def study(file: PlatformFile, clusters: int, tolerance: float, limit: float) -> SuiteStudy:
    """What each benchmark adds to the suite."""
    from steelyard.predict.platforms.suite_study import study_suite
    from steelyard.predict.platforms.table_oddities import check_table

    table = read_platform_table(file.path, file.options)
    found = study_suite(table, _model(file.model), clusters, tolerance, limit)
    return replace(found, cautions=check_table(table))


def chosen_models(names: Sequence[str], table: PlatformTable) -> list[PlatformModel]:
    """The models called so, or all that the table has columns for."""
    from steelyard.predict.platforms.models import PLATFORM_MODELS
    from steelyard.predict.platforms.platform_question import clock_of

    if names:
        return [PLATFORM_MODELS.get(name) for name in dict.fromkeys(names)]
    return [m for m in PLATFORM_MODELS if m.needs != "clock" or clock_of(table) is not None]
