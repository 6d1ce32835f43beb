"""All dimensionings that the store keeps for later experiments, answered again."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from steelyard.app.dimension.dimension_data import Dimensioned, Question, dimension_experiment
from steelyard.core.errors import UsageError

if TYPE_CHECKING:
    from steelyard.app.results.library import Library


def kept_dimensionings(library: Library, question: Question) -> tuple[Dimensioned, ...]:
    """What ``--dimensioned`` can take, by the name of the benchmark.

    One whose experiment was deleted keeps its counts but cannot be answered again, and is left
    out.

    Raises
    ------
    UsageError
        None is kept.
    """
    found: list[Dimensioned] = []
    for stored in library.store.dimensionings():
        try:
            experiment = library.load(stored.result["experiment"])
        except UsageError:
            continue
        # Costs that a person had given are not in the experiment.
        asked = replace(question, costs_s={**stored.result["costs_s"], **question.costs_s})
        variant = stored.result["variant"]
        found.append(dimension_experiment(experiment, variant, stored.metric, asked))
    if not found:
        raise UsageError(
            "The store keeps no dimensioning yet. `steelyard dimension -- CMD` makes one.",
            field="--kept",
        )
    return tuple(sorted(found, key=lambda item: (item.variant or "", item.metric.name)))
