"""What a map and a program's code say of call paths, as text for people."""

from __future__ import annotations

from steelyard.analysis.paths.static_map import (
    AllowedPaths,
    CodeFacts,
    KeyAnswer,
    PathsOfMap,
    UnlearntPaths,
)
from steelyard.analysis.paths.static_truth import StaticTruth
from steelyard.report.kinds.paths.text import WITH_CALL_SITES, counted, percent
from steelyard.report.texts.plain_table import wrapped
from steelyard.report.texts.readable import one_line
from steelyard.report.texts.table import Table

_SHOWN = 12


def map_text(found: PathsOfMap, width: int | None = None) -> str:
    """What was read, and the paths of each key; ends with a newline."""
    lines = [f"{found.program}, build {found.build}"]
    if found.learnt_path_count is not None:
        sites = WITH_CALL_SITES if found.has_call_sites else ""
        lines.append(f"{counted(found.learnt_path_count, 'path')}{sites} learnt")
    if found.code is not None:
        lines += _code_lines(found.code, width)
    if found.truth is not None:
        lines += ["", *_truth_lines(found.truth, width)]
    for key in found.keys:
        lines += ["", *_key_lines(key)]
    return "\n".join(lines) + "\n"


def _code_lines(code: CodeFacts, width: int | None) -> list[str]:
    lines = wrapped(
        f"by its code: {counted(code.function_count, 'function')}, "
        f"{counted(code.call_count, 'call')} of one by another, "
        f"{counted(code.pointer_call_count, 'call')} by pointers to any of "
        f"{counted(code.taken_count, 'function')}, {counted(code.library_call_count, 'call')} "
        f"of libraries; {counted(code.reached_count, 'function')} reached from where stacks begin",
        width,
    )
    if code.varying:
        names = sorted(code.varying)
        shown = "; ".join(f"{one_line(name)} ({code.varying[name]})" for name in names[:_SHOWN])
        more = f"; and {len(names) - _SHOWN} more (--json)" if len(names) > _SHOWN else ""
        lines += wrapped(
            f"not searched, since how much stack it takes varies: {shown}{more}", width
        )
        lines += wrapped(
            f"Paths through a call of {'it' if len(names) == 1 else 'these'} are not found; "
            f"{counted(code.behind_varying_count, 'function')} can be reached by no other.",
            width,
        )
    return lines


def _truth_lines(truth: StaticTruth, width: int | None) -> list[str]:
    share = percent(truth.allowed_count / truth.path_count) if truth.path_count else "–"
    lines = wrapped(
        f"{truth.allowed_count:,} of {counted(truth.path_count, 'learnt path')} with their "
        f"heights ({share}) are among those that the code allows; of the others",
        width,
    )
    if not truth.reasons:
        lines[-1] = lines[-1].removesuffix("; of the others") + "."
    for why, count in truth.reasons[:_SHOWN]:
        lines += wrapped(f"  {count:,}: {one_line(why)}", width)
    return lines


def _key_lines(key: KeyAnswer) -> list[str]:
    head = f"{one_line(key.function)}, stack {key.height_bytes:,} bytes high: "
    if key.learnt:
        lines = [head + f"{counted(len(key.learnt), 'path')} learnt"]
        for one in key.learnt:
            lines.append(f"{percent(one.share):>10}  {' > '.join(map(one_line, one.functions))}")
        return lines
    if key.allowed is None:
        return [head + "never learnt"]
    return [head + allowed_heading(key.allowed), *allowed_lines(key.allowed)]


def allowed_heading(allowed: AllowedPaths) -> str:
    """How many paths there are."""
    if allowed.is_too_high:
        return "higher than what can be searched"
    if not allowed.paths:
        return "no path by the code"
    more = "" if allowed.are_all else " or more"
    return f"{counted(len(allowed.paths), 'path')}{more} by the code"


def allowed_lines(allowed: AllowedPaths) -> list[str]:
    """The paths."""
    notes = [f"  ({counted(steps, 'step')} never learnt)" for steps in allowed.unlearnt]
    return [
        f"  {' > '.join(map(one_line, path))}{notes[place] if notes else ''}"
        for place, path in enumerate(allowed.paths)
    ]


def allowed_table(found: tuple[UnlearntPaths, ...]) -> Table:
    """A row a key that was never learnt, and below it a row a path that the code allows."""
    rows: list[tuple[str, ...]] = []
    for one in found:
        rows.append(
            (
                f"{one.sample_count:,}",
                f"{one.height_bytes:,}",
                f"{one_line(one.function)}: {allowed_heading(one.allowed)}",
            )
        )
        rows += [("", "", line) for line in allowed_lines(one.allowed)]
    return Table(("samples", "stack, bytes", "function and paths"), tuple(rows), frozenset({2}))


def unlearnt_lines(found: tuple[UnlearntPaths, ...], shown: int) -> list[str]:
    """Samples of keys that were never learnt, and the paths that code allows for them."""
    lines = ["Paths that the code allows for keys that were never learnt:"]
    for one in found[:shown]:
        lines.append(
            f"{counted(one.sample_count, 'sample')} in {one_line(one.function)}, stack "
            f"{one.height_bytes:,} bytes high: {allowed_heading(one.allowed)}"
        )
        lines += allowed_lines(one.allowed)
    if len(found) > shown:
        lines.append(f"and {len(found) - shown} more keys (--json)")
    return lines
