"""The call paths of an event study as sentences, lines and a table."""

from __future__ import annotations

from collections.abc import Sequence

from steelyard.analysis.events.call_paths import CallPath, PathOfEvent, lookup_counts
from steelyard.analysis.events.correlation import Correlation
from steelyard.analysis.events.event_counts import KindOfEvent
from steelyard.analysis.events.internal_variance import InternalVariance
from steelyard.analysis.paths.sampled_paths import AMBIGUOUS, MISSING
from steelyard.core.estimate import Estimate
from steelyard.report.kinds.comparison.tables import RANGE
from steelyard.report.texts.readable import one_line
from steelyard.report.texts.table import Table

CALLS = " > "
_RARE = "(paths too rare to be kept each)"
_SMALLEST_P = 0.001
# Beside each other in a label.
_INNERMOST = 3
_MARKS = {"ambiguous": AMBIGUOUS, "missing": MISSING}
# Candidates of a path that a terminal shows.
_MOST_CANDIDATES = 5
# What stands before the path of one, beyond what stands before other paths.
_SHARE_WIDTH = 9


def counted(count: int, name: str) -> str:
    """A number with what it counts."""
    return f"{count:,} {name if count == 1 else name + 's'}"


def p_text(p: float) -> str:
    """A p value with its sign of comparison."""
    return f"< {_SMALLEST_P:g}" if p < _SMALLEST_P else f"= {p:.3f}"


def coefficient_text(found: Correlation) -> str:
    """A coefficient with its interval."""
    value = found.coefficient
    if not isinstance(value, Estimate):
        return "–"
    return f"{value.estimate:.2f} [{value.low:.2f}, {value.high:.2f}]"


def told_coefficient(events: KindOfEvent, found: InternalVariance) -> str:
    """The coefficient that a sentence may rest on, with its name."""
    if found.by_ranks_alone:
        return f"by ranks r = {coefficient_text(events.rank)}"
    return f"r = {coefficient_text(events.pearson)}"


def p_cell(p: float | None) -> str:
    """A p value in a table."""
    return "–" if p is None else p_text(p).removeprefix("= ")


def frames_text(path: CallPath, most: int | None = None) -> str:
    """The functions from the outermost to the innermost, at `most` so many innermost ones."""
    names = [one_line(frame.name) for frame in path.frames]
    if not names and not path.outcome:
        return _RARE
    if path.outcome in _MARKS:
        names = [_MARKS[path.outcome], *names]
    if most is not None and len(names) > most:
        names = [RANGE, *names[-most:]]
    return CALLS.join(names)


def candidate_texts(path: CallPath, width: int | None = None) -> list[str]:
    """The paths that an ambiguous one may be with their shares, or why one is missing; of a path as
    many of the innermost functions as fit."""
    if path.reason:
        return [path.reason]
    left = None if width is None else width - _SHARE_WIDTH
    return [
        f"{share:.1%} {_fitting(CallPath(path.kind, frames), left)}"
        for share, frames in path.candidates
    ]


def path_label(path: CallPath) -> str:
    """The kind and the innermost functions."""
    return f"{one_line(path.kind)}: {frames_text(path, _INNERMOST)}"


def per_run_text(counts: Sequence[int]) -> str:
    """How many events a run has, with the fewest and the most where runs differ."""
    if len(set(counts)) == 1:
        return f"{counts[0]:,}"
    return f"{sum(counts) / len(counts):,.4g} ({min(counts):,} to {max(counts):,})"


def paths_sentences(found: InternalVariance) -> list[str]:
    """What call paths add to the kinds; nothing where none were recorded."""
    if found.paths is None:
        return []
    differing = [one for one in found.paths if one.events.differs]
    lead = "leads" if len(found.paths) == 1 else "lead"
    sentences = [
        f"{counted(len(found.paths), 'call path')} {lead} to them, of which {len(differing):,} "
        f"{'is' if len(differing) == 1 else 'are'} taken more often in some runs than in others."
    ]
    lookups = lookup_counts(found.paths)
    if lookups is not None:
        sentences.append(
            f"By the map of paths, {counted(sum(lookups.values()), 'event')}: "
            f"{lookups['resolved']:,} resolved (one path), {lookups['ambiguous']:,} ambiguous "
            f"(several), {lookups['missing']:,} missing (none)."
        )
    alpha = 1 - found.confidence
    telling = [
        one
        for one in differing
        if one.tells_apart and one.events.goes_with_result(alpha, found.by_ranks_alone)
    ]
    if telling:
        named = ", ".join(
            f"`{path_label(one.path)}` ({told_coefficient(one.events, found)})"
            for one in telling[:3]
        )
        more = f" and {len(telling) - 3} more" if len(telling) > 3 else ""
        sentences.append(
            f"How often a path is taken goes with {one_line(found.response)}: {named}{more}."
        )
    elif any(one.events.adjusted_p is not None for one in differing):
        sentences.append(
            f"How often any path is taken does not go with {one_line(found.response)}, once the p "
            f"values are corrected for {counted(len(differing), 'path')}."
        )
    return sentences


def paths_table(paths: Sequence[PathOfEvent]) -> Table:
    """A row a path, with all its functions."""
    headers = (
        "event", "", "a run", "Pearson r", "p", "corrected p", "rank r", "p", "corrected p",
        "call path, outermost first",
    )  # fmt: skip
    return Table(headers, tuple(map(_row, paths)), frozenset({0, 1, 9}))


def correlation_cells(events: KindOfEvent) -> tuple[str, ...]:
    """What a table says of both correlations: the coefficient, its p, and the corrected one."""
    return (
        coefficient_text(events.pearson),
        p_cell(events.pearson.p),
        "" if events.adjusted_p is None else p_cell(events.adjusted_p),
        coefficient_text(events.rank),
        p_cell(events.rank.p),
        "" if events.adjusted_rank_p is None else p_cell(events.adjusted_rank_p),
    )


def _row(one: PathOfEvent) -> tuple[str, ...]:
    events = one.events
    return (
        one_line(events.name),
        "!" if events.differs else "",
        per_run_text(events.counts),
        *correlation_cells(events),
        "; ".join([frames_text(one.path), *candidate_texts(one.path)]),
    )


def paths_lines(paths: Sequence[PathOfEvent], width: int | None) -> list[str]:
    """Two lines a path: the numbers, then as many of the innermost functions as fit."""
    lines: list[str] = []
    for one in paths:
        events = one.events
        text = f"{one_line(events.name)}  {per_run_text(events.counts)} a run"
        if events.differs and isinstance(events.pearson.coefficient, Estimate):
            text += f"  r = {coefficient_text(events.pearson)}"
        if events.adjusted_p is not None:
            text += f", corrected p {p_text(events.adjusted_p)}"
        lines += [text, f"    {_fitting(one.path, width)}"]
        told = candidate_texts(one.path, width)[:_MOST_CANDIDATES]
        lines += [f"      {candidate}" for candidate in told]
    return lines


def _fitting(path: CallPath, width: int | None) -> str:
    whole = frames_text(path)
    if width is None:
        return whole
    for most in range(len(path.frames), 0, -1):
        text = frames_text(path, most)
        if len(text) <= width - 4:
            return text
    return frames_text(path, 1)
