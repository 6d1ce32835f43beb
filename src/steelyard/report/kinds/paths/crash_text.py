"""Where a program crashed, and by which paths, as text for people."""

from __future__ import annotations

from steelyard.analysis.paths.crash_path import CrashPath
from steelyard.report.kinds.paths.static_text import allowed_heading, allowed_lines
from steelyard.report.kinds.paths.text import counted, percent
from steelyard.report.texts.readable import one_line


def crash_text(crash: CrashPath) -> str:
    """The key and the paths that it may mean, outermost function first; ends with a newline."""
    within = ""
    if crash.library_frame_count:
        within = f", {counted(crash.library_frame_count, 'frame')} of libraries above it"
    lines = [
        f"{_what_ended(crash)} in {one_line(crash.function)}, {_height(crash)}{within}: "
        f"{crash.outcome}"
    ]
    for candidate in crash.candidates:
        names = " > ".join(map(one_line, candidate.functions))
        lines.append(f"{percent(candidate.share):>10}  {names}")
    if crash.allowed is not None:
        lines += [allowed_heading(crash.allowed), *allowed_lines(crash.allowed)]
    return "\n".join(lines) + "\n"


def _what_ended(crash: CrashPath) -> str:
    return "registers" if crash.signal is None else f"signal {crash.signal}"


def _height(crash: CrashPath) -> str:
    if crash.height_bytes is None:
        return "height of the stack not known without --base"
    return f"stack {crash.height_bytes:,} bytes high"
