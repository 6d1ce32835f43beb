"""What was learnt of call paths, and how much a map resolves, as text for people."""

from __future__ import annotations

from steelyard.analysis.paths.learning import Learning
from steelyard.analysis.paths.path_check import PathCheck
from steelyard.analysis.paths.path_map import PathMap
from steelyard.analysis.paths.path_outcomes import CANDIDATE_LIMITS, Outcomes
from steelyard.analysis.paths.separation_outcome import (
    MARK_INSTRUCTIONS,
    WRAPPER_INSTRUCTIONS,
    SeparationCosts,
)
from steelyard.report.texts.plain_table import plain_table, wrapped
from steelyard.report.texts.readable import one_line
from steelyard.report.texts.table import Table

_SHOWN = 8
WITH_CALL_SITES = " with call sites"
# Mytkowicz 2010, section 5.8.2: 99 % of paths have five candidates or fewer.
_MOST_OF = 0.99
_OUTCOMES = ("resolved", "ambiguous", "wrong", "missing")


def learning_text(learning: Learning, width: int | None = None) -> str:
    """How much there is, and what was not seen; ends with a newline."""
    path_map = learning.path_map
    threads = counted(learning.thread_count, "thread")
    lines = [
        f"{path_map.program}: {counted(learning.path_count, 'path')}{_sites(path_map)}, "
        f"{learning.new_path_count:,} of them new, in {learning.map_path}",
        f"{counted(path_map.call_count, 'call')} in {counted(path_map.run_count, 'run')}; "
        f"{threads} in this one",
    ]
    unwatched = sorted(path_map.unwatched)
    if unwatched:
        shown = ", ".join(map(one_line, unwatched[:_SHOWN]))
        more = f", and {len(unwatched) - _SHOWN} more (--json)" if len(unwatched) > _SHOWN else ""
        lines += wrapped(
            f"Of {counted(learning.function_count, 'function')} the calls of {len(unwatched)} "
            f"cannot be counted; a path has them where they call others: {shown}{more}",
            width,
        )
    if path_map.lost_count:
        lines.append(f"{counted(path_map.lost_count, 'call')} not noted, in signal handlers")
    if path_map.guessed_count:
        lines.append(
            f"{counted(path_map.guessed_count, 'call')} of which some callers are not known"
        )
    lines += _unfollowed(path_map, width)
    if learning.exit_status:
        lines.append(f"The command ended with status {learning.exit_status}.")
    return "\n".join(lines) + "\n"


def _unfollowed(path_map: PathMap, width: int | None) -> list[str]:
    """That functions have no keys, since heights below others cannot be told."""
    names = [
        path_map.functions[at]
        for at, one in sorted((path_map.aligning or {}).items())
        if one.depth_bytes is None and at in path_map.functions
    ]
    hidden = len(names) - _SHOWN
    if not names:
        return []
    return wrapped(
        "Warning: the stack is aligned in a way that cannot be followed by "
        f"{', '.join(map(one_line, names[:_SHOWN]))}"
        f"{f', and {hidden} more (--json)' * (hidden > 0)}. "
        "Functions that are called below have other heights in other environments: they have no "
        "keys, and their samples are missing.",
        width,
    )


def _sites(path_map: PathMap) -> str:
    return WITH_CALL_SITES if path_map.has_call_sites else ""


def check_text(check: PathCheck, width: int | None = None) -> str:
    """A table of outcomes, and one of candidates; ends with a newline."""
    scenarios = [("offline", check.offline)]
    if check.online is not None:
        scenarios.append(("online", check.online))
    sites = f", paths{WITH_CALL_SITES}" if check.learnt.has_call_sites else ""
    lines = [f"{check.learnt.program}, build {check.learnt.build}{sites}"]
    for name, found in scenarios:
        lines.append(
            f"{name}: {counted(found.path_count, 'path')}, {counted(found.key_count, 'key')}, "
            f"{counted(found.call_count, 'call')}"
        )
    if check.samples is not None:
        found = check.samples
        lines += wrapped(
            f"{scenarios[-1][0]}: {counted(found.sample_count, 'sample')} with a learnt key; "
            f"{found.keyless_count:,} without a key, {found.unlearnt_count:,} with another one",
            width,
        )
    rows = _rows(check)
    lines += ["", *plain_table(_outcome_table(rows), width)]
    lines += ["", *plain_table(_candidate_table(rows), width)]
    for name, what, found in rows:
        most = found.most_candidates(_MOST_OF)
        if what != "calls" and most is not None:
            lines += wrapped(
                f"{name}: {100 * _MOST_OF:.0f} % of the {what} that are neither wrong nor missing "
                f"have at most {counted(most, 'candidate')}",
                width,
            )
    for name, what, found in rows:
        if found.by_code:
            lines += wrapped(
                f"{name}: {percent(found.by_code)} of the {what} have a key that was never learnt, "
                "and what is said of these is by the code",
                width,
            )
    if check.costs is not None:
        lines += ["", *_cost_lines(check.costs, width)]
    return "\n".join(lines) + "\n"


_Rows = list[tuple[str, str, Outcomes]]


def _rows(check: PathCheck) -> _Rows:
    found: _Rows = [("offline", "paths", check.offline.paths)]
    found.append(("offline", "calls", check.offline.calls))
    if check.online is not None:
        found.append(("online", "paths", check.online.paths))
        found.append(("online", "calls", check.online.calls))
    if check.samples is not None:
        found.append((found[-1][0], "samples", check.samples.outcomes))
    return found


def _outcome_table(found: _Rows) -> Table:
    rows = tuple(
        (name, what, *(percent(getattr(outcomes, word)) for word in _OUTCOMES))
        for name, what, outcomes in found
    )
    return Table(("runs", "of", *_OUTCOMES), rows, frozenset({0, 1}))


def _candidate_table(found: _Rows) -> Table:
    rows = tuple(
        (name, what, *map(percent, outcomes.by_candidates), percent(outcomes.most_frequent))
        for name, what, outcomes in found
    )
    limits = tuple(f"≤ {limit}" for limit in CANDIDATE_LIMITS)
    return Table(("candidates", "of", *limits, "most frequent"), rows, frozenset({0, 1}))


def _cost_lines(found: SeparationCosts, width: int | None) -> list[str]:
    rows = tuple(
        (
            one.way,
            percent(one.paths.resolved),
            f"{one.frame_count:,}",
            f"{one.call_count:,}",
            f"{one.clone_count:,}",
            f"{one.growth_ratio:.3f}",
            percent(one.code_ratio),
            f"{one.instruction_count:,}",
            f"{one.instructions_per_call:.4f}",
        )
        for one in found.costs
    )
    heads = ("with", "paths resolved", "frames", "calls", "clones", "stack, times", "more code",
             "more instructions", "a call")  # fmt: skip
    return [
        *plain_table(Table(heads, rows, frozenset({0})), width),
        *wrapped(
            "Offline, and estimated by learnt calls: larger frames and clones cost no instruction, "
            f"a call through a wrapper {WRAPPER_INSTRUCTIONS}, a marked call {MARK_INSTRUCTIONS}. "
            "Wrappers, clones and marks come with larger frames. 'more code' is that of clones.",
            width,
        ),
        *(
            line
            for way, why in found.refused.items()
            for line in wrapped(f"no price of {way}: {why}", width)
        ),
    ]


def percent(share: float) -> str:
    """A share as a percentage that is 0 or 100 only where the share is 0 or 1."""
    # Nothing but all of them is 100 %, and nothing but none 0 %.
    shown = f"{100 * share:.2f}"
    if share < 1 and shown == "100.00":
        return "> 99.99 %"
    return "< 0.01 %" if share > 0 and shown == "0.00" else f"{shown} %"


def counted(count: int, noun: str, plural: str = "") -> str:
    """A number and what it is of."""
    return f"{count:,} {noun if count == 1 else plural or f'{noun}s'}"
