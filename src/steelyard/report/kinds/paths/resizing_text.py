"""What frames of other sizes give, as text for people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from steelyard.analysis.paths.cloning_outcome import CloningOutcome
from steelyard.analysis.paths.resizing import Resizing
from steelyard.analysis.paths.separation_outcome import WRAPPER_INSTRUCTIONS
from steelyard.report.kinds.paths.text import counted, percent
from steelyard.report.texts.plain_table import plain_table, wrapped
from steelyard.report.texts.readable import one_line
from steelyard.report.texts.table import Table

_SHOWN = 8
_ENDED_BY = {
    "goal": "the goal is reached",
    "most": "no sizes resolve more",
    "idle": "it made no more progress",
    "work": "it had done all the work that it may",
}


def resizing_text(found: Resizing, width: int | None = None) -> str:
    """What would be resolved, and the price; ends with a newline."""
    separation = found.separation
    most = percent(separation.most_count / separation.key_limit)
    lines = [
        f"{one_line(found.program)}, build {found.build}",
        *wrapped(
            f"{counted(len(found.frame_bytes), 'frame')} larger, "
            f"{counted(len(found.call_bytes), 'call')} wrapped; "
            f"{counted(separation.tried_count, 'try', 'tries')}, seed {found.rules.seed}: "
            f"{_ENDED_BY[separation.ended_by]}",
            width,
        ),
        *wrapped(
            f"stack: {found.before_bytes:,} bytes at most before, {found.after_bytes:,} after "
            f"({found.growth_ratio:.3f} times)",
            width,
        ),
        f"any sizes resolve at most {most} of keys",
        "",
        *plain_table(_outcome_table(found), width),
    ]
    lines += _sizes(found, width)
    if found.marks is not None:
        marks = found.marks
        lines += wrapped(
            f"with {counted(len(marks.calls), 'marked call')} of {marks.call_count:,}, "
            f"{percent(marks.exact_share)} of paths have a key of their own; "
            f"{percent(marks.passed_share)} of learnt calls pass a mark",
            width,
        )
        if marks.unlearnt_count:
            lines += wrapped(
                f"{counted(marks.unlearnt_count, 'call')} that no learnt path has "
                f"{'is' if marks.unlearnt_count == 1 else 'are'} marked too",
                width,
            )
    if found.unlearnt_frame_bytes:
        lines += wrapped(
            f"{counted(len(found.unlearnt_frame_bytes), 'frame')} of functions that no learnt "
            f"path has, by {max(found.unlearnt_frame_bytes.values())} bytes at most, so that "
            "calls by pointers are told apart",
            width,
        )
    if found.call_bytes:
        lines += wrapped(
            f"{percent(found.wrapped_share)} of learnt calls pass a wrapper, "
            f"{WRAPPER_INSTRUCTIONS} instructions each",
            width,
        )
    if found.cloning is not None:
        lines += _clones(found.cloning, found.path_map.functions, width)
    lines += _reasons("frames that cannot grow", found.rigid.values(), width)
    lines += _reasons("calls that cannot be wrapped", found.unwrapped.values(), width)
    lines += _reasons("calls that cannot be marked", found.unmarked.values(), width)
    if found.cloning is not None:
        reasons = found.cloning.uncloned.values()
        lines += _reasons("calls that cannot go to a clone", reasons, width)
    return "\n".join(lines) + "\n"


def _clones(found: CloningOutcome, names: Mapping[int, str], width: int | None) -> list[str]:
    choice = found.choice
    lines = wrapped(
        f"{counted(len(choice.clones.clones), 'clone')}: {choice.byte_count:,} bytes of code, "
        f"{percent(found.growth_ratio)} of .text; 0 instructions more; paths resolved by sizes "
        f"alone {percent(found.sized.paths.resolved)}",
        width,
    )
    largest = sorted(choice.clones.clones, key=lambda clone: -found.sizes[clone.address])
    shown = "; ".join(
        f"{one_line(names[clone.address])} ({found.sizes[clone.address]:,}) for "
        f"{', '.join(one_line(names[caller]) for caller in choice.clones.callers(clone.address))}"
        for clone in largest[:_SHOWN]
    )
    more = f"; and {len(largest) - _SHOWN} more (--json)" if len(largest) > _SHOWN else ""
    return lines + (wrapped(f"clones: {shown}{more}", width) if shown else [])


def _reasons(what: str, reasons: Iterable[str], width: int | None) -> list[str]:
    counts = Counter(reasons).most_common()
    shown = "; ".join(f"{count:,}: {why}" for why, count in counts)
    return wrapped(f"{what}: {shown}", width) if shown else []


def _outcome_table(found: Resizing) -> Table:
    rows = tuple(
        (when, what, *(percent(share) for share in (shares.resolved, shares.ambiguous)))
        for when, outcomes in (("before", found.before), ("after", found.after))
        for what, shares in (("paths", outcomes.paths), ("calls", outcomes.calls))
    )
    return Table(("frames", "of", "resolved", "ambiguous"), rows, frozenset({0, 1}))


def _sizes(found: Resizing, width: int | None) -> list[str]:
    names = found.path_map.functions
    sizes = [(names[function], size) for function, size in found.frame_bytes.items()]
    sizes += [
        (f"{names[caller]} > {names[callee]}", size)
        for (caller, callee), size in found.call_bytes.items()
    ]
    if not sizes:
        return []
    ordered = sorted(sizes, key=lambda pair: (-pair[1], pair[0]))
    shown = ", ".join(f"{one_line(name)} +{size}" for name, size in ordered[:_SHOWN])
    more = f", and {len(sizes) - _SHOWN} more (--json)" if len(sizes) > _SHOWN else ""
    return ["", *wrapped(f"bytes: {shown}{more}", width)]
