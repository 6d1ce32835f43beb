"""The call paths of a profile, as text for people: counts, a tree, and a table."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping

from steelyard.analysis.paths.path_shares import PathShare
from steelyard.analysis.paths.sampled_paths import PathTruth, SampledPaths
from steelyard.analysis.paths.self_learning import WalkLooks
from steelyard.analysis.paths.telling_walks import TellingWalks
from steelyard.core.units import format_value
from steelyard.report.kinds.paths.static_text import unlearnt_lines
from steelyard.report.kinds.paths.text import WITH_CALL_SITES
from steelyard.report.kinds.profile.text import facts_line, share_text, weighed
from steelyard.report.texts.plain_table import plain_table, wrapped
from steelyard.report.texts.readable import caution_text, one_line
from steelyard.report.texts.table import Table

SHOWN_PATHS = 25
_SHOWN_CANDIDATES, _SHOWN_MISSING = 4, 6
# A branch of the tree with less is not shown.
_SMALLEST_BRANCH_RATIO = 0.01
_LONGEST_PATH = 100
_ELISION = "…"

Tree = Counter[tuple[str, ...]]


def counts_line(paths: SampledPaths) -> str:
    """How many samples have one path, several, or none."""
    total = sum(paths.counts.values())
    parts = [f"{count} {word} ({_percent(count, total)})" for word, count in paths.counts.items()]
    return f"{total} samples of {paths.key_count} keys: {', '.join(parts)}"


def code_line(paths: SampledPaths) -> str:
    """How many of these samples have their paths by the code of the program."""
    resolved, ambiguous = paths.by_code["resolved"], paths.by_code["ambiguous"]
    total = sum(paths.counts.values())
    return (
        f"{resolved + ambiguous} of these by the code ({_percent(resolved + ambiguous, total)}), "
        f"since their keys were never learnt: {resolved} resolved, {ambiguous} ambiguous"
    )


def truth_line(truth: PathTruth) -> str:
    """How many paths were not those of the stacks of the same samples."""
    share = _percent(truth.wrong_count, truth.sample_count)
    return (
        f"{truth.wrong_count} of {truth.sample_count} samples with candidates wrong ({share}), by "
        "their own stacks"
    )


def walks_line(walks: TellingWalks) -> str:
    """How many stacks were walked at ambiguous keys, and what that took."""
    frames = f"{walks.frame_count / walks.walk_count:.1f}" if walks.walk_count else "no"
    told = (
        f"{walks.walk_count} stacks walked at ambiguous keys, {frames} frames each: "
        f"{walks.told_count} left one path, {walks.foreign_count} none that was learnt"
    )
    if walks.copied_bytes is None:
        return told
    copied = f"{told}; {format_value(walks.copied_bytes, 'B', 3)} of stacks copied"
    if walks.are_parted:
        return f"{copied}, at these samples alone"
    return f"{copied}, at every sample: this kernel picks none for this user"


def path_text(frames: tuple[str, ...]) -> str:
    """A path in a line; of a long one its ends."""
    names = [one_line(name) for name in frames]
    whole = " > ".join(names)
    if len(whole) <= _LONGEST_PATH:
        return whole
    head, tail = names[:1], names[-1:]
    for name in reversed(names[1:-1]):
        longer = " > ".join([*head, _ELISION, name, *tail])
        if len(longer) > _LONGEST_PATH:
            break
        tail.insert(0, name)
    return " > ".join([*head, _ELISION, *tail])


def paths_table(paths: SampledPaths, limit: int | None = None) -> Table:
    """A row a path, and below one that is ambiguous a row a candidate."""
    rows: list[tuple[str, ...]] = []
    for one in paths.paths[:limit]:
        rows += _rows_of(one, paths.most_named)
    return Table((weighed(paths.answer), "samples", "path"), tuple(rows), frozenset({2}))


def _rows_of(one: PathShare, most_named: int | None) -> list[tuple[str, ...]]:
    shown = share_text(one.share)
    if one.candidate_count == 1:
        return [(shown, str(one.sample_count), path_text(one.frames) + _code_note(one))]
    end = path_text(one.frames)
    if most_named == 0:
        heading = f"undetermined: one of {one.candidate_count} that end with {end}{_code_note(one)}"
        return [(shown, str(one.sample_count), heading)]
    heading = f"one of {one.candidate_count} that end with {end}{_code_note(one)}"
    rows: list[tuple[str, ...]] = [(shown, str(one.sample_count), heading)]
    named = one.candidates[: most_named or _SHOWN_CANDIDATES]
    for candidate in named:
        share = _learnt_share(candidate.share, one)
        rows.append(("", "", f"  {share}{path_text(candidate.functions)}"))
    if hidden := one.candidate_count - len(named):
        rest = max(0.0, 1 - sum(candidate.share for candidate in named))
        rows.append(("", "", f"  {_learnt_share(rest, one)}{hidden} more"))
    return rows


def _learnt_share(share: float, one: PathShare) -> str:
    return "" if one.by_code_count else f"{100 * share:.1f} % learnt: "


def _code_note(one: PathShare) -> str:
    if not one.by_code_count:
        return ""
    is_whole = one.by_code_count == one.sample_count
    return "  (by the code)" if is_whole else f"  ({one.by_code_count} samples by the code)"


def missing_table(paths: SampledPaths, limit: int | None = None) -> Table:
    """A row a function in which samples have no path, and why."""
    rows = tuple(
        (str(one.sample_count), one.reason, one_line(one.function)) for one in paths.missing[:limit]
    )
    return Table(("samples without a path", "why", "function"), rows, frozenset({1, 2}))


def sampled_text(paths: SampledPaths, width: int | None = None) -> str:
    """What the terminal shows; ends with a newline."""
    lines = [facts_line(paths.answer)]
    lines += wrapped(counts_line(paths), width)
    if paths.allowed is not None:
        lines += wrapped(code_line(paths), width)
    lines += wrapped(map_line(paths), width)
    if paths.truth is not None:
        lines += wrapped(truth_line(paths.truth), width)
    if paths.walks is not None:
        lines += wrapped(walks_line(paths.walks), width)
    if paths.paths:
        lines += ["", *plain_table(paths_table(paths, SHOWN_PATHS), width)]
        hidden = len(paths.paths) - SHOWN_PATHS
        if hidden > 0:
            lines.append(f"and {hidden} more (--json and --html have all)")
        lines += ["", *tree_lines(paths)]
    if paths.missing:
        lines += ["", *plain_table(missing_table(paths, _SHOWN_MISSING), width)]
    if paths.allowed:
        lines += ["", *unlearnt_lines(paths.allowed, _SHOWN_MISSING)]
    for caution in paths.answer.cautions:
        lines += ["", f"Warning: {caution_text(caution.message)}"]
    return "\n".join(lines) + "\n"


def map_line(paths: SampledPaths) -> str:
    """By which map, and how that was learnt."""
    path_map, learning = paths.path_map, paths.learning
    if learning is not None:
        looks = "" if learning.looks is None else f"; {looks_text(learning.looks)}"
        return (
            f"by {learning.walk_count} stacks of {path_map.program} that were walked beside; "
            f"{learning.check_count} of them checked a key that was believed, "
            f"{learning.wrong_count} wrong ({_percent(learning.wrong_count, learning.check_count)})"
            f"{looks}"
        )
    if not path_map.run_count:
        return f"by no map; {path_map.program}, build {path_map.build}"
    runs = f"{path_map.run_count} run{'s'[: path_map.run_count != 1]}"
    name = os.path.basename(paths.map_path)
    sites = WITH_CALL_SITES if path_map.has_call_sites else ""
    return f"by {name}{sites}, learnt in {runs} of {path_map.program}, build {path_map.build}"


def looks_text(looks: WalkLooks) -> str:
    """How much of stacks was copied, and at how many looks nothing was."""
    copied = f"{format_value(looks.copied_bytes, 'B', 3)} of stacks copied"
    if looks.look_count is None:
        return f"{copied}, at every look: this kernel drops none for this user"
    return (
        f"{copied}, nothing at {looks.spared_count} of {looks.look_count} looks since their key "
        f"was believed, and at {looks.elsewhere_count} in other code"
    )


def tree_lines(paths: SampledPaths) -> list[str]:
    """The call tree with the samples of each branch; those of ambiguous keys by learnt shares."""
    whole, unsure = path_trees(paths)
    total = sum(paths.counts.values())
    children: dict[tuple[str, ...], list[tuple[str, ...]]] = {}
    for branch, count in whole.items():
        if count >= _SMALLEST_BRANCH_RATIO * total:
            children.setdefault(branch[:-1], []).append(branch)
    lines: list[str] = []
    waiting = [*_ordered(children.get((), []), whole)]
    while waiting:
        branch = waiting.pop()
        note = f"  ({_percent(unsure[branch], whole[branch])} of it ambiguous)"
        lines.append(
            f"{_percent(whole[branch], total):>8}  {'  ' * (len(branch) - 1)}"
            f"{one_line(branch[-1])}{note if unsure[branch] else ''}"
        )
        waiting += _ordered(children.get(branch, []), whole)
    return lines


def path_trees(paths: SampledPaths) -> tuple[Tree, Tree]:
    """Samples of each branch of the call tree, and those of them that are ambiguous."""
    whole, unsure = Tree(), Tree()
    samples = paths.stacks
    ends = samples.stack_lengths.cumsum().tolist()
    stacks, begin = samples.stacks.tolist(), 0
    names = [frame.name for frame in samples.frames]
    flags = zip(ends, paths.are_ambiguous.tolist(), paths.are_missing.tolist(), strict=True)
    for end, is_ambiguous, is_missing in flags:
        if not is_missing:
            path = tuple(names[frame] for frame in reversed(stacks[begin:end]))
            for depth in range(1, len(path) + 1):
                whole[path[:depth]] += 1
                unsure[path[:depth]] += is_ambiguous
        begin = end
    return whole, unsure


def _ordered(
    branches: list[tuple[str, ...]], counts: Mapping[tuple[str, ...], int]
) -> list[tuple[str, ...]]:
    """The one with most samples last, since the last is taken first."""
    return sorted(branches, key=lambda branch: (counts[branch], branch))


def _percent(count: int, total: int) -> str:
    return f"{100 * count / total:.1f} %" if total else "–"
