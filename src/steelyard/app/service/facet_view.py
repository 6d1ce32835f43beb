"""Facets of a service's experiment: by which columns it can be split, and the split itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from steelyard.app.results.named_analysis import analyze_experiment, chosen_method
from steelyard.core.placement_spec import WORKER

if TYPE_CHECKING:
    from steelyard.analysis.tables.table_analysis import Analysis
    from steelyard.core.experiment_results import Experiment

METHOD = "facets"
# What stands for the factor of each place in an address: along the axis, beside and below each
# other, and a line for each level.
PLACES = ("x", "columns", "rows", "lines")


@dataclass(frozen=True)
class FacetQuestion:
    """What is asked for.

    Parameters
    ----------
    response : str
        A metric of the experiment.
    places : mapping of str to str
        The factor of each of `PLACES`; empty for none.
    show : str
        ``boxes`` or ``means``.
    """

    response: str
    places: Mapping[str, str]
    show: str = "boxes"

    @property
    def command(self) -> str:
        """The options of `steelyard analyze` that ask the same."""
        factors = ",".join(filter(None, (self.places.get(place) for place in PLACES[:3])))
        lines = self.places.get("lines")
        told = f"--method {METHOD} --response {self.response} --factors {factors}"
        told += f" --option lines={lines}" if lines else ""
        return told + (f" --option show={self.show}" if self.show != "boxes" else "")


def facet_factors(experiment: Experiment) -> list[str]:
    """The columns by which an experiment can be split: what was varied, then the hosts'."""
    spec = experiment.spec
    found = [name for name, _ in spec.varied] or ["variant"]
    for variant in spec.variants:
        found += [name for name, _ in variant.parameters]
    found += list(spec.placement.factors) if spec.placement is not None else []
    return list(dict.fromkeys(found))


def first_question(experiment: Experiment, factors: Sequence[str]) -> FacetQuestion:
    """What is shown before anyone asks: the first two factors, a row for each worker."""
    varied = [name for name, _ in experiment.spec.varied] or ["variant"]
    own = [name for name in varied if name in factors]
    below = WORKER if WORKER in factors else ""
    places = {"x": own[0], "columns": own[1] if len(own) > 1 else "", "rows": below}
    return FacetQuestion(experiment.spec.metrics[0].name, places)


def facets_of(experiment: Experiment, asked: FacetQuestion) -> Analysis:
    """The split, by the method that `steelyard analyze --method facets` calls.

    Raises
    ------
    UsageError, AnalysisError
        A factor is none, or there are too many panels.
    TrialsFailedError
        No trial gave a value.
    """
    from steelyard.analysis.tables.analysis_method import Question

    chosen = tuple(filter(None, (asked.places.get(place, "") for place in PLACES[:3])))
    lines = asked.places.get("lines", "")
    extra = {"show": asked.show, **({"lines": lines} if lines else {})}
    question = Question(asked.response, chosen, confidence=experiment.spec.confidence, extra=extra)
    method = chosen_method(METHOD, question)
    result = analyze_experiment(experiment, (None, None), method, question).result
    return cast("Analysis", result)
