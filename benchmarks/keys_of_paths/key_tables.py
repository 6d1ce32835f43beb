"""Tables of what was measured, and what of that which is asked holds."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from math import exp, log
from statistics import fmean
from typing import Any

from benchmarks.keys_of_paths.changed_program import MOST_MORE
from benchmarks.keys_of_paths.key_record import KINDS, KeyRecord, Shares

# What is asked of means over programs, after resizing and wrapping.
LEAST_OFFLINE, LEAST_ONLINE, LEAST_FIVE, MOST_WRONG, MOST_GROWTH = 0.97, 0.85, 0.99, 0.01, 1.13
LEAST_SAMPLES, MOST_RESIZED_MORE, MOST_LOOKUP_NS, MOST_SEARCH_S = 0.97, 0.0005, 300, 60
_FIVE = 5
# Less is reached by no sizes of programs whose paths are mostly recursions in another order.
RECURSIVE_BELOW = 0.9
_SHORTEST_S = 0.05

Row = Sequence[str]


def percent(share: float, digits: int = 1) -> str:
    """A share as a percentage."""
    return f"{100 * share:.{digits}f} %"


def geometric_mean(values: Sequence[float]) -> float:
    """The geometric mean of positive numbers."""
    return exp(fmean(map(log, values)))


def resolving(found: Sequence[KeyRecord]) -> list[KeyRecord]:
    """Programs that larger frames and wrappers can resolve for the most part."""
    return [one for one in found if one.shares[KINDS[2]]["offline"].resolved >= RECURSIVE_BELOW]


def cost_tables(found: Sequence[KeyRecord]) -> list[str]:
    """Tables 5.1 to 5.3."""
    heads = ("program", "language", "paths, learnt", "paths, judged", "learning, times",
             "look-up, ns", "search, s", "with calls")  # fmt: skip
    rows: list[Row] = [
        (one.name, one.language, *(f"{count:,}" for count in one.path_counts),
         f"{one.learning_ratio:.2f}", f"{one.lookup_ns:.0f}",
         *(f"{seconds:.1f}" for seconds in one.search_s))
        for one in found
    ]  # fmt: skip
    long_enough = [one.learning_ratio for one in found if one.plain_s >= _SHORTEST_S]
    mean = geometric_mean(long_enough) if long_enough else 1.0
    rows.append(("geometric mean", "", "", "", f"{mean:.2f}", "", "", ""))
    stack_heads = ("program", "stack, resized", "and wrapped", "as learnt", "calls that pass",
                   "more instructions, resized", "and wrapped", "recording")  # fmt: skip
    stack_rows: list[Row] = [
        (one.name, *(f"{ratio:.3f}" for ratio in one.growth_ratios),
         f"{one.learnt_growth_ratio:.3f}", percent(one.wrapped_share, 2),
         *(percent(ratio - 1, 4) for ratio in one.instruction_ratios), recording_text(one))
        for one in found
    ]  # fmt: skip
    growths = [geometric_mean([one.growth_ratios[kind] for one in found]) for kind in (0, 1)]
    learnt = geometric_mean([one.learnt_growth_ratio for one in found])
    means = [fmean(one.instruction_ratios[kind] - 1 for one in found) for kind in (0, 1)]
    stack_rows.append(
        ("mean", *(f"{growth:.3f}" for growth in growths), f"{learnt:.3f}", "",
         *(percent(mean, 4) for mean in means), "")
    )  # fmt: skip
    return [
        "Tables 5.1 and 5.2: paths, and what comes before the run", "",
        *markdown(heads, rows), "",
        "Table 5.3: growth of the highest stack, and what the run costs", "",
        *markdown(stack_heads, stack_rows),
    ]  # fmt: skip


def recording_text(one: KeyRecord) -> str:
    """By how much recording keys makes a run longer; NC where a t test sees no change."""
    change, p_value = recording_change(one)
    if p_value is None:
        return "–"
    return f"{percent(change)}" if p_value < 0.05 and change > 0 else f"NC ({percent(change)})"


def recording_change(one: KeyRecord) -> tuple[float, float | None]:
    """The change of the mean, and the p value of Welch's t test; None with fewer than two runs."""
    from scipy.stats import ttest_ind

    plain, sampled = one.plain_run_s, one.sampled_run_s
    if len(plain) < 2 or fmean(plain) == 0:
        return 0.0, None
    change = fmean(sampled) / fmean(plain) - 1
    if len({*plain}) == 1 and len({*sampled}) == 1:
        return change, 1.0 if plain[0] == sampled[0] else 0.0
    with warnings.catch_warnings():
        # One of both may be the same in each run, to a hundredth of a second.
        warnings.filterwarnings("ignore", "Precision loss occurred", RuntimeWarning)
        test: Any = ttest_ind(sampled, plain, equal_var=False)
    return change, float(test.pvalue)


def share_table(found: Sequence[KeyRecord], kind: str) -> list[str]:
    """Figures 5.2 and 5.7 to 5.12 as numbers, for one of `KINDS`."""
    heads = ("program", "offline: resolved", "at most 5", "99 % have at most", "online: resolved",
             "ambiguous", "wrong", "missing", "at most 5")  # fmt: skip
    rows: list[Row] = [(one.name, *_share_cells(one, kind)) for one in found]
    few = resolving(found)
    rows.append((f"mean of {len(found)}", *mean_cells(found, kind)))
    if few and len(few) < len(found):
        rows.append((f"mean of {len(few)} without the recursive", *mean_cells(few, kind)))
    return [f"Paths, {kind}:", "", *markdown(heads, rows)]


def _share_cells(one: KeyRecord, kind: str) -> list[str]:
    offline = one.shares[kind]["offline"]
    values = [percent(value) for value in _values(one, kind)]
    return [*values[:2], str(limit_of(offline)), *values[2:]]


def limit_of(shares: Shares, part: float = LEAST_FIVE) -> int:
    """The number of candidates that this part of what is right has at most."""
    reached = 0.0
    for count, share in shares.by_count:
        reached += share
        if reached >= part * shares.known * (1 - 1e-9):
            return count
    return 0


def _values(one: KeyRecord, kind: str) -> tuple[float, ...]:
    offline, online = one.shares[kind]["offline"], one.shares[kind]["online"]
    five = online.at_most(_FIVE) / online.known if online.known else 1.0
    return (
        offline.resolved, offline.at_most(_FIVE), online.resolved, online.ambiguous,
        online.wrong, online.missing, five,
    )  # fmt: skip


def means(found: Sequence[KeyRecord], kind: str) -> tuple[float, ...]:
    """Means over programs: offline resolved and at most 5; online resolved, ambiguous, wrong,
    missing, and at most 5 of what is neither wrong nor missing."""
    columns = zip(*(_values(one, kind) for one in found), strict=True)
    return tuple(fmean(column) for column in columns)


def mean_cells(found: Sequence[KeyRecord], kind: str) -> list[str]:
    """The means, with nothing where a number of candidates has none."""
    values = [percent(value) for value in means(found, kind)]
    return [*values[:2], "", *values[2:]]


def sample_table(found: Sequence[KeyRecord]) -> list[str]:
    """Samples of changed programs, online."""
    heads = ("program", "samples", "without a learnt key", "resolved", "ambiguous", "wrong",
             "missing")  # fmt: skip
    rows: list[Row] = []
    for one in found:
        samples = one.samples
        shares = samples.shares
        parts = (shares.resolved, shares.ambiguous, shares.wrong, shares.missing)
        keyless = samples.keyless_count + samples.unlearnt_count
        rows.append((one.name, f"{samples.sample_count:,}", f"{keyless:,}", *map(percent, parts)))
    return ["Samples, resized and wrapped, online:", "", *markdown(heads, rows)]


def verdict(found: Sequence[KeyRecord]) -> dict[str, tuple[str, bool]]:
    """What is asked, what was found, and whether it holds."""
    offline, five, online, _, wrong, missing, _ = means(found, KINDS[2])
    growth = geometric_mean([one.growth_ratios[1] for one in found])
    sampled = [one.samples.shares.resolved for one in found if one.samples.sample_count]
    samples = fmean(sampled) if sampled else 0.0
    resized, wrapped = (max(one.instruction_ratios[at] - 1 for one in found) for at in (0, 1))
    lookup = max(one.lookup_ns for one in found)
    search = max(max(one.search_s) for one in found)
    return {
        "offline at least 97 %": (percent(offline), offline >= LEAST_OFFLINE),
        "at most 5 candidates for 99 %": (percent(five), five >= LEAST_FIVE),
        "online at least 85 %": (percent(online), online >= LEAST_ONLINE),
        "wrong below 1 %": (percent(wrong, 2), wrong < MOST_WRONG),
        "missing": (percent(missing), True),
        "samples at least 97 %": (percent(samples), samples >= LEAST_SAMPLES),
        "growth at most 1.13": (f"{growth:.3f}", growth <= MOST_GROWTH),
        "resizing at most 0.05 % more": (percent(resized, 4), resized <= MOST_RESIZED_MORE),
        "wrapping at most 0.3 % more": (percent(wrapped, 4), wrapped <= MOST_MORE),
        "look-up below 300 ns": (f"{lookup:.0f}", lookup < MOST_LOOKUP_NS),
        "search below 60 s": (f"{search:.0f}", search < MOST_SEARCH_S),
    }


def verdict_lines(title: str, found: Sequence[KeyRecord]) -> list[str]:
    """The verdict as a table."""
    rows: list[Row] = [
        (asked, value, "yes" if holds else "NO") for asked, (value, holds) in verdict(found).items()
    ]
    return [f"{title}:", "", *markdown(("asked", "found", "holds"), rows)]


def markdown(heads: Row, rows: Sequence[Row]) -> list[str]:
    """The lines of a table."""
    return [
        f"| {' | '.join(heads)} |",
        f"|{'---|' * len(heads)}",
        *(f"| {' | '.join(row)} |" for row in rows),
    ]
