"""Rows of a table of pairs from two programs and what benchmarks do in the older one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from steelyard.core.errors import AnalysisError
from steelyard.core.experiment_results import Caution
from steelyard.predict.commits.benchmark_use import BenchmarkUse, reach
from steelyard.predict.commits.body_steps import StepEdits
from steelyard.predict.commits.code_change import CodeChange
from steelyard.predict.commits.indicator import Evidence, WrittenIn
from steelyard.predict.commits.indicators import INDICATORS
from steelyard.predict.commits.pair_table import PairTable
from steelyard.predict.commits.reasons import reasons_for

_MOST_UNKNOWN_RATIO = 0.1


@dataclass(frozen=True)
class PairNames:
    """What a pair of versions is called, and where it stands in the history."""

    known: str = ""
    unknown: str = ""
    project: str = ""
    order: float = float("nan")
    distance: float = float("nan")


@dataclass(frozen=True)
class ChangedSources:
    """The files that differ between two revisions, with how many lines; those with most first."""

    lines: tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class ComparedPair:
    """The indicators of one pair of versions for several benchmarks.

    Parameters
    ----------
    table : PairTable
        A row a benchmark, without labels.
    change : CodeChange
    reasons : tuple of tuple of str
        For each row.
    sources : ChangedSources or None
        None: no repository was asked.
    """

    table: PairTable
    change: CodeChange = field(repr=False)
    reasons: tuple[tuple[str, ...], ...]
    cautions: tuple[Caution, ...]
    sources: ChangedSources | None = None
    kind: str = "commit-indicators"

    def with_sources(self, sources: ChangedSources) -> ComparedPair:
        """The same, and what a repository says; functions that differ alone are a caution."""
        change = self.change
        differing = len(change.changed) + len(change.data) + len(change.added)
        cautions = self.cautions
        if differing and not sources.lines:
            message = (
                f"No file differs from {self.table.known[0]} to {self.table.unknown[0]}, but "
                f"{differing} functions do: the programs were built in different ways, or from "
                "other revisions."
            )
            cautions = (*cautions, Caution("unchanged-sources", message))
        return replace(self, sources=sources, cautions=cautions)


def compare_pair(
    change: CodeChange,
    uses: Sequence[BenchmarkUse],
    names: PairNames,
    changed_before: Mapping[str, float] | None = None,
    edits: Mapping[int, StepEdits] | None = None,
    written_in: WrittenIn | None = None,
) -> ComparedPair:
    """The indicators of a pair for each benchmark.

    `edits` are those of every changed function that a benchmark with addresses reaches;
    `written_in` says for their instructions which functions were inlined there.

    Raises
    ------
    AnalysisError
        A benchmark executes none of the old program's functions.
    """
    indicators = list(INDICATORS)
    values: list[list[float]] = []
    reasons: list[tuple[str, ...]] = []
    cautions: list[Caution] = []
    for use in uses:
        reached = reach(use, change.old)
        if not reached.instructions:
            raise AnalysisError(
                f"{use.benchmark} executes no function of the old program.\nIts profile is of "
                "another program, or "
                f"{change.old.source} was stripped: profile the benchmark before that.",
                field="--use",
            )
        if reached.unknown_ratio > _MOST_UNKNOWN_RATIO:
            share = 100 * reached.unknown_ratio
            message = (
                f"{use.benchmark}: {share:.0f} % of its instructions are in functions that "
                f"{change.old.source} has not. What changed there is not seen."
            )
            cautions.append(Caution("unknown-functions", message))
        evidence = Evidence(change, reached, changed_before or {}, edits, written_in)
        values.append([indicator.of(evidence) for indicator in indicators])
        reasons.append(reasons_for(use.benchmark, evidence))
    count = len(uses)
    table = PairTable(
        change.old.source,
        tuple(use.benchmark for use in uses),
        (names.known,) * count,
        (names.unknown,) * count,
        (names.project,) * count,
        np.full(count, names.order),
        np.full(count, names.distance),
        np.full(count, np.nan),
        tuple(indicator.name for indicator in indicators),
        np.array(values, float).reshape(count, len(indicators)),
        np.full(count, np.nan),
    )
    return ComparedPair(table, change, tuple(reasons), tuple(cautions))
