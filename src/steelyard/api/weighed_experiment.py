"""An experiment with its answer, as a Python program sees it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from steelyard.core.estimate import Estimate

if TYPE_CHECKING:
    import pandas  # pyright: ignore[reportMissingImports]
    import polars  # pyright: ignore[reportMissingImports]
    import pyarrow

    from steelyard.app.experiment.weigh import Weighing


@dataclass(frozen=True)
class Mean:
    """The mean of one metric of one variant.

    Parameters
    ----------
    variant, metric, unit : str
    mean : float
        In `unit`.
    low, high : float or None
        The interval; None where it has no bounds.
    values : tuple of float
        Those that the interval is made from, one for each repetition of the highest level.
    """

    variant: str
    metric: str
    unit: str
    mean: float
    low: float | None
    high: float | None
    values: tuple[float, ...]


@dataclass(frozen=True)
class Ratio:
    """A candidate against the baseline on one metric.

    Parameters
    ----------
    baseline, candidate : str
        Names of variants.
    metric : str
    verdict : str
        ``faster``, ``slower``, ``equivalent`` or ``undecided``.
    ratio : float or None
        Candidate / baseline of the means; None where there is none.
    low, high : float or None
        The interval; None where it has no bounds.
    confidence : float
        Of the interval.
    benchmark : str
        What both ran, where there are several; else empty.
    """

    baseline: str
    candidate: str
    metric: str
    verdict: str
    ratio: float | None
    low: float | None
    high: float | None
    confidence: float
    benchmark: str = ""


class Weighed:
    """An experiment with its answer: of `measure`, `compare`, `resume`, or of a store.

    ``print(weighed)`` is the text that the command prints; Jupyter shows the page.
    """

    def __init__(self, weighing: Weighing, store: str | None = None) -> None:
        self._weighing = weighing
        self._store = store

    @property
    def experiment(self) -> str:
        """The identifier, by which the store and the command line know it."""
        return self._weighing.experiment.spec.identifier

    @property
    def store(self) -> str | None:
        """The file of the store that it is kept in; None for the user's own."""
        return self._store

    @property
    def stopped(self) -> str | None:
        """Why it ended: ``decided``, ``precision``, ``budget``, ``runs``, ``failures`` ..."""
        return self._weighing.answer.stopped

    @property
    def verdicts(self) -> dict[str, str]:
        """The verdict of each candidate, by its name, on the primary metric.

        Where there are several benchmarks, the name is ``BENCHMARK: CANDIDATE``.
        """
        primary = self._weighing.answer.metric.name
        return {
            f"{ratio.benchmark}: {ratio.candidate}" if ratio.benchmark else ratio.candidate: (
                ratio.verdict
            )
            for ratio in self.ratios
            if ratio.metric == primary
        }

    @cached_property
    def ratios(self) -> tuple[Ratio, ...]:
        """Every candidate on every metric, those on the primary metric first."""
        found: list[Ratio] = []
        for comparison in self._weighing.answer.comparisons:
            interval = comparison.ratio
            bounded = isinstance(interval, Estimate)
            found.append(
                Ratio(
                    comparison.baseline,
                    comparison.candidate,
                    comparison.metric.name,
                    comparison.verdict,
                    interval.estimate,
                    interval.low if bounded else None,
                    interval.high if bounded else None,
                    interval.confidence,
                    comparison.benchmark,
                )
            )
        return tuple(found)

    @cached_property
    def means(self) -> tuple[Mean, ...]:
        """Every metric of every variant that has a value."""
        found: list[Mean] = []
        for variant in self._weighing.answer.variants:
            for result in variant.metrics.values():
                if result.summary is None:
                    continue
                interval = result.summary.mean
                bounded = isinstance(interval, Estimate)
                found.append(
                    Mean(
                        variant.name,
                        result.metric.name,
                        result.metric.unit,
                        sum(result.values) / len(result.values)
                        if interval.estimate is None
                        else interval.estimate,
                        interval.low if bounded else None,
                        interval.high if bounded else None,
                        tuple(result.values),
                    )
                )
        return tuple(found)

    @property
    def passed(self) -> bool:
        """Whether it passes every gate that it has."""
        return all(check.passed for check in self._weighing.answer.gates)

    @property
    def cautions(self) -> Mapping[str, Sequence[str]]:
        """What to be careful about: messages by their code."""
        found: dict[str, list[str]] = {}
        for caution in self._weighing.answer.cautions:
            found.setdefault(caution.code, []).append(caution.message)
        return found

    def document(self) -> dict[str, Any]:
        """The answer as ``--json`` gives it; its fields are those of the schema of its kind."""
        from steelyard.report.kinds.comparison.answer_document import answer_kind_document

        return answer_kind_document(self._weighing.answer, self._weighing.experiment)

    def html(self) -> str:
        """The page that ``steelyard report`` writes: whole, and without network."""
        from steelyard.report.kinds.comparison.page import html_page

        return html_page(self._weighing.answer, self._weighing.experiment)

    def save_html(self, path: str) -> None:
        """Write the page, whole or not at all."""
        from steelyard.app.results.written_file import write_whole

        write_whole(self.html().encode("utf-8", "replace"), path)

    def table(self) -> pyarrow.Table:
        """One row a measurement; columns as in docs/commands/export.md."""
        from steelyard.app.results.library import measurements_table

        return measurements_table(self._weighing.experiment)

    def to_pandas(self) -> pandas.DataFrame:
        """The same for pandas, which has to be installed."""
        _needs("pandas")
        return self.table().to_pandas()

    def to_polars(self) -> polars.DataFrame:
        """The same for polars, which has to be installed."""
        return _needs("polars").from_arrow(self.table())

    def __str__(self) -> str:
        from steelyard.report.kinds.comparison.text import plain_text

        return plain_text(self._weighing.answer)

    def __repr__(self) -> str:
        said = ", ".join(f"{name}: {verdict}" for name, verdict in self.verdicts.items())
        return f"<Weighed {self.experiment}{': ' if said else ''}{said}>"

    def _repr_html_(self) -> str:
        from html import escape

        # A frame of its own: the page's style and script are not the notebook's.
        return (
            f'<iframe srcdoc="{escape(self.html())}" sandbox="allow-scripts" '
            'style="width: 100%; height: 40em; border: 0"></iframe>'
        )


def _needs(name: str) -> Any:
    import importlib

    from steelyard.core.errors import MissingCapabilityError

    try:
        return importlib.import_module(name)
    except ImportError:
        raise MissingCapabilityError(
            f"{name} is not installed: pip install {name}. table() needs only pyarrow."
        ) from None
