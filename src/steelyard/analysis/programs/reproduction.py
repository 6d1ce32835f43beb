"""What of an experiment's effects is found again when it is run again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import hypot

from steelyard.core.estimate import Estimate, Interval

_METHOD = "difference-of-reproductions"


@dataclass(frozen=True)
class CellEffect:
    """What a factor does to one benchmark on one host, in percent of the mean there."""

    host: str
    benchmark: str
    term: str
    change: Interval


@dataclass(frozen=True)
class EffectPair:
    """An effect on a benchmark as it was, and as it was found again.

    Parameters
    ----------
    benchmark, term : str
    hosts : tuple of str
        Those of both, over which both are means; empty where no host ran both.
    original, again : Estimate or None
        Percent of the mean, over those hosts or else over all of each; None where it has no bound.
    difference : Estimate or None
        The second without the first.
    """

    benchmark: str
    term: str
    hosts: tuple[str, ...]
    original: Estimate | None
    again: Estimate | None
    difference: Estimate | None

    @property
    def agrees(self) -> bool | None:
        """Whether no difference is seen; None where none can be."""
        return None if self.difference is None else _has_zero(self.difference)

    @property
    def same_answer(self) -> bool | None:
        """Whether both say the same: more, less, or that nothing is shown."""
        if self.original is None or self.again is None:
            return None
        return _direction(self.original) == _direction(self.again)


@dataclass(frozen=True)
class FactorSizes:
    """How large the effects of a term are, by their sizes without signs, in percent."""

    term: str
    original_mean: float
    again_mean: float
    original_most: float
    again_most: float


@dataclass(frozen=True)
class Reproduction:
    """Two runs of one experiment beside each other.

    Parameters
    ----------
    factors : tuple of FactorSizes
        The rows of Table 5.2 of Oliveira (2015).
    hosts, benchmarks : pair of int
        How many each had with an effect.
    pairs : tuple of EffectPair
    """

    factors: tuple[FactorSizes, ...]
    hosts: tuple[int, int]
    benchmarks: tuple[int, int]
    pairs: tuple[EffectPair, ...]


def reproduction(original: Sequence[CellEffect], again: Sequence[CellEffect]) -> Reproduction:
    """Compare the effects of two runs.

    Notes
    -----
    Oliveira (2015), section 5.5 and Table 5.2, gives means and maxima of sizes, over hosts and
    programs. An effect on a benchmark is compared on the hosts that ran both; where there is none,
    the means over all hosts of each are, so that the hosts' own differences count as differences.
    Half-widths of independent intervals are added in squares; of the mean of n hosts that is the
    root of their sum, over n.
    """
    return Reproduction(
        factors=tuple(_sizes(original, again)),
        hosts=(_count(original, "host"), _count(again, "host")),
        benchmarks=(_count(original, "benchmark"), _count(again, "benchmark")),
        pairs=tuple(_pairs(original, again)),
    )


def _count(side: Sequence[CellEffect], what: str) -> int:
    return len({getattr(each, what) for each in side})


def _sizes(original: Sequence[CellEffect], again: Sequence[CellEffect]) -> Iterator[FactorSizes]:
    for term in dict.fromkeys(each.term for each in original):
        first, second = (
            [
                abs(each.change.estimate)
                for each in side
                if each.term == term and each.change.estimate is not None
            ]
            for side in (original, again)
        )
        if first and second:
            means = (sum(first) / len(first), sum(second) / len(second))
            yield FactorSizes(term, *means, max(first), max(second))


def _pairs(original: Sequence[CellEffect], again: Sequence[CellEffect]) -> Iterator[EffectPair]:
    first, second = _by_effect(original), _by_effect(again)
    for (benchmark, term), hosts in first.items():
        others = second.get((benchmark, term))
        if others is None:
            continue
        shared = tuple(sorted(hosts.keys() & others.keys()))
        one = _mean([hosts[name] for name in shared or hosts])
        other = _mean([others[name] for name in shared or others])
        yield EffectPair(benchmark, term, shared, one, other, _difference(one, other))


def _by_effect(side: Sequence[CellEffect]) -> Mapping[tuple[str, str], dict[str, Interval]]:
    found: dict[tuple[str, str], dict[str, Interval]] = {}
    for each in side:
        found.setdefault((each.benchmark, each.term), {})[each.host] = each.change
    return found


def _mean(changes: Sequence[Interval]) -> Estimate | None:
    """The mean over hosts that are what they are; None where one of them has no bound."""
    known = [each for each in changes if isinstance(each, Estimate)]
    if len(known) < len(changes) or not known:
        return None
    if len(known) == 1:
        return known[0]
    centre = sum(each.estimate for each in known) / len(known)
    half = hypot(*(each.half_width for each in known)) / len(known)
    return Estimate(centre, centre - half, centre + half, known[0].confidence, "mean-over-hosts")


def _difference(first: Estimate | None, second: Estimate | None) -> Estimate | None:
    if first is None or second is None:
        return None
    centre = second.estimate - first.estimate
    half = hypot(first.half_width, second.half_width)
    return Estimate(centre, centre - half, centre + half, first.confidence, _METHOD)


def _has_zero(found: Estimate) -> bool:
    return found.low <= 0 <= found.high


def _direction(found: Estimate) -> int:
    return 0 if _has_zero(found) else 1 if found.low > 0 else -1
