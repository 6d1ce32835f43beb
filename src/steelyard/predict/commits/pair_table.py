"""Pairs of revisions with their indicators, and whether a benchmark changed between them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cache

import numpy as np

from steelyard.core.errors import AnalysisError
from steelyard.predict.arrays import Floats, Indices, Truths

# A model weighs each pair of indicators: its memory and time grow by the square and the cube.
MOST_INDICATORS = 256


@dataclass(frozen=True)
class PairTable:
    """One row for each benchmark and pair of revisions (Oliveira 2015, section 6.1).

    Parameters
    ----------
    source : str
        The file that it is from, for messages.
    benchmarks, known, unknown : tuple of str, length n
        The benchmark of each row, the revision with known values, and the one asked about.
    projects : tuple of str, length n
        Which program a row is about; empty texts where there is one alone.
    order : array, shape (n,)
        Rising with the age of the unknown revision: the oldest is the lowest.
    distance : array, shape (n,)
        Commits between the two revisions; NaN where unknown.
    cost_s : array, shape (n,)
        What running the benchmark takes; NaN where unknown.
    indicators : tuple of str, length k
    values : array, shape (n, k)
        At least 0; NaN where an indicator could not be computed.
    changed : array, shape (n,)
        1: the benchmark's time changed (a hit); 0: it did not; NaN: undecided or not measured.
    """

    source: str
    benchmarks: tuple[str, ...]
    known: tuple[str, ...]
    unknown: tuple[str, ...]
    projects: tuple[str, ...]
    order: Floats
    distance: Floats
    cost_s: Floats
    indicators: tuple[str, ...]
    values: Floats = field(repr=False)
    changed: Floats = field(repr=False)

    def __len__(self) -> int:
        return len(self.benchmarks)

    @property
    def hits(self) -> Truths:
        """Rows where the benchmark changed."""
        return self.changed == 1

    @property
    def neutral(self) -> Truths:
        """Rows where it did not."""
        return self.changed == 0

    @property
    def quiet(self) -> Truths:
        """Rows where nothing that a benchmark reaches differs, as far as anything is known."""
        return quiet_rows(self.values, self.indicators)

    @property
    def slight(self) -> Truths:
        """Rows that are not quiet, and where too little differs to change a time by the margin."""
        return slight_rows(self.values, self.indicators)

    def rows(self, chosen: Truths) -> PairTable:
        """The table of some rows."""
        return self if chosen.all() else self.at(np.flatnonzero(chosen))

    def at(self, chosen: Indices) -> PairTable:
        """The table of the rows at some places, in their order."""
        places = chosen.tolist()

        def texts(column: tuple[str, ...]) -> tuple[str, ...]:
            return tuple(map(column.__getitem__, places))

        return replace(
            self,
            benchmarks=texts(self.benchmarks),
            known=texts(self.known),
            unknown=texts(self.unknown),
            projects=texts(self.projects),
            order=self.order[chosen],
            distance=self.distance[chosen],
            cost_s=self.cost_s[chosen],
            values=self.values[chosen],
            changed=self.changed[chosen],
        )

    def decided(self) -> PairTable:
        """The rows with a label."""
        return self.rows(self.hits | self.neutral)

    def values_of(self, indicators: tuple[str, ...]) -> Floats:
        """The values of indicators in the order of another table; NaN where this one has none."""
        places = {name: place for place, name in enumerate(self.indicators)}
        missing = np.full(len(self), np.nan)
        columns = [
            self.values[:, places[name]] if name in places else missing for name in indicators
        ]
        return np.column_stack(columns) if columns else np.empty((len(self), 0))


# What differs inside functions comes to nothing where a benchmark executes none of it
# (`steelyard.predict.commits.body_steps.step_edits`).
_EDITS = ("executed-edits", "altered-operands")
_SEEN_BY_EDITS = frozenset(
    (
        *("top-by-instructions", "top-by-calls", "top-resized-by-calls", "top-by-events"),
        *("reached-length-change", "changed-share", "hot-loop-changed", "calls-changed"),
        "changed-before",
    )
)


def quiet_rows(values: Floats, indicators: tuple[str, ...]) -> Truths:
    """Which rows of indicators, shape (n, k), have none above 0, but one that is known.

    Indicators of what no benchmark reaches do not count: code that runs as before, on the same
    data, never comes to it. Where executed edits are known, indicators of whole functions do not
    count either.
    """
    counted = np.array([name not in _elsewhere() for name in indicators], bool)
    seen = np.array([name in _SEEN_BY_EDITS for name in indicators], bool)
    edits = [indicators.index(name) for name in _EDITS if name in indicators]
    has_edits = len(edits) == len(_EDITS) and ~np.isnan(values[:, edits]).any(axis=1)
    loud = (values > 0) & counted & ~(seen & np.reshape(has_edits, (-1, 1)))
    some_known = ~np.isnan(values[:, counted]).all(axis=1)
    return np.asarray(~loud.any(axis=1) & some_known)


# Half of the margin within which two times are equivalent unless told otherwise (1 %).
_SLIGHT_PERCENT = 0.5
_SLIGHT = ("executed-edits", "altered-leads", "altered-constants", "entered-functions")
# What edits of instructions do not tell.
_BESIDE_EDITS = ("data-changed", "flags-changed")


def slight_rows(values: Floats, indicators: tuple[str, ...]) -> Truths:
    """Which rows that are not quiet differ too little to change a time by the margin.

    All that a benchmark executes of gone, new and redirected instructions is less than half of the
    margin; it comes to no new function, of which nobody knows how long it runs; and no constant
    changed that it executes, no data, no parameter of a compiler. What is left is that little code
    steers much: the rows of a table can show it (`steelyard.predict.commits.predictor`).
    """
    names = (*_SLIGHT, *_BESIDE_EDITS)
    if not set(names) <= set(indicators):
        return np.zeros(len(values), bool)
    columns = [values[:, indicators.index(one)] for one in names]
    edits, leads, constants, entered, data, flags = columns
    # Unknown is NaN, which is never less.
    little = (edits < _SLIGHT_PERCENT) & (leads < _SLIGHT_PERCENT)
    little &= (constants < 1) & (entered < 1)
    return np.asarray(little & ~(data > 0) & ~(flags > 0) & ~quiet_rows(values, indicators))


@cache
def _elsewhere() -> frozenset[str]:
    from steelyard.predict.commits.indicators import INDICATORS

    return frozenset(indicator.name for indicator in INDICATORS if indicator.elsewhere)


def check_learnable(table: PairTable) -> None:
    """Refuse a table that nothing can be learnt from.

    Raises
    ------
    AnalysisError
        It has no hit, no neutral row, no indicator, or more than `MOST_INDICATORS`. A predictor
        that was learnt without a hit would always
        say no (Oliveira 2015, section 6.4.3: the model of glibc).
    """
    if not table.indicators:
        raise AnalysisError(f"{table.source} has no column of an indicator.", field="indicators")
    if len(table.indicators) > MOST_INDICATORS:
        raise AnalysisError(
            f"{table.source} has {len(table.indicators)} indicators, at most {MOST_INDICATORS} "
            "can be learnt from.\nName them by --indicator, or leave others out by --drop.",
            field="indicators",
        )
    hits, neutral = int(table.hits.sum()), int(table.neutral.sum())
    if hits == 0:
        raise AnalysisError(
            f"{table.source}: no pair has a change among {neutral} with a label.\nA predictor "
            "learnt from them would always say no. Add pairs whose times changed: older ones, "
            "more distant ones, or ones with a change made on purpose.",
            field="changed",
        )
    if neutral == 0:
        raise AnalysisError(
            f"{table.source}: all {hits} pairs with a label changed.\nA predictor learnt from "
            "them would always say yes. Add pairs whose times did not change.",
            field="changed",
        )
