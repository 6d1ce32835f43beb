"""What an analysis by name is: from a table and a question to a frozen result."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Protocol

from steelyard.analysis.tables.data_columns import Table
from steelyard.core.experiment_results import Caution
from steelyard.core.experiment_spec import Direction


@dataclass(frozen=True)
class Question:
    """What is asked of a table. A method takes what it needs and says which those are.

    Parameters
    ----------
    response : str or None
        The column to explain.
    factors : tuple of str
        The columns to explain it by.
    quantiles : tuple of float
        Above 0 and below 1.
    confidence : float
        Of intervals and of statements.
    seed : int
        Whatever is drawn at random derives from it.
    unit : str
        Of the values.
    direction : str
        ``"higher"`` where more of the values is better.
    extra : mapping of str to str
        The method's own options as the user typed them, by names that `Method.options` has.
    """

    response: str | None = None
    factors: tuple[str, ...] = ()
    quantiles: tuple[float, ...] = ()
    confidence: float = 0.95
    seed: int = 1
    unit: str = "s"
    direction: Direction = "lower"
    extra: Mapping[str, str] = field(default_factory=dict[str, str])


class Result(Protocol):
    """What a method gives: a frozen dataclass.

    `kind` is that of its document, and the name of the rendering in ``report/kinds`` that
    shows it; methods may share one.
    """

    kind: ClassVar[str]

    @property
    def cautions(self) -> tuple[Caution, ...]: ...


@dataclass(frozen=True)
class Method:
    """An analysis that is asked for by name.

    Parameters
    ----------
    name : str
        What ``steelyard analyze --method`` takes.
    description : str
        What it answers, in one sentence.
    reads : str
        ``"levels"``: one row a measurement, a column for each repetition level, highest first,
        and ``value``. ``"trials"``: one row a trial, with the response and the factors that the
        question names.
    analyze : callable
        From a `Table` and a `Question` to a `Result`. Pure; raises AnalysisError for data that
        it cannot take at all, and says whatever it cannot answer within the result.
    needs : tuple of str
        Options without which it has no answer: of ``"response"``, ``"factors"``,
        ``"quantiles"``.
    uses : tuple of str
        Which of ``"seed"`` and ``"quantiles"`` of the question change its answer; where they do
        not, the command refuses them.
    options : mapping of str to str
        Its own options, ``--option NAME=VALUE``, each with a sentence that describes it.
    """

    name: str
    description: str
    reads: Literal["levels", "trials"]
    analyze: Callable[[Table, Question], Result]
    needs: tuple[str, ...] = ()
    uses: tuple[Literal["seed", "quantiles"], ...] = ()
    options: Mapping[str, str] = field(default_factory=dict[str, Any])
