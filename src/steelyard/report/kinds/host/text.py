"""The host's status, and what a quiet session did, as text for people."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from steelyard.host.knob import SEVERITIES, Finding
from steelyard.host.quiet import QuietState
from steelyard.host.restore import Restored
from steelyard.report.texts.readable import one_line

if TYPE_CHECKING:
    from rich.console import Console

_UNKNOWN = "not known"
_STYLES = {"ok": "green", "info": "cyan", "warning": "yellow", "bad": "bold red"}


def worst_first(findings: Sequence[Finding]) -> list[Finding]:
    """The findings by falling severity, otherwise in their order."""
    return sorted(findings, key=lambda finding: -SEVERITIES.index(finding.severity))


def summary_line(findings: Sequence[Finding]) -> str:
    """How many findings there are of each severity, worst first."""
    counts = {name: sum(f.severity == name for f in findings) for name in reversed(SEVERITIES)}
    return ", ".join(f"{count} {name}" for name, count in counts.items() if count)


def plain_status(findings: Sequence[Finding], width: int = 100) -> str:
    """A line for each finding, the worst first, with its advice below it."""
    ordered = worst_first(findings)
    severity_width = max(len(name) for name in SEVERITIES)
    title_width = max(len(finding.title) for finding in ordered)
    indent = " " * (severity_width + 2)
    lines: list[str] = []
    for finding in ordered:
        value = one_line(finding.value or _UNKNOWN)
        head = f"{finding.severity:<{severity_width}}  {finding.title:<{title_width}}  {value}"
        wanted = f"  (wanted: {finding.wanted})" if finding.wanted and _shows(finding) else ""
        lines.append(head + wanted)
        if finding.advice:
            lines += textwrap.wrap(
                one_line(finding.advice),
                max(width, 40),
                initial_indent=f"{indent}-> ",
                subsequent_indent=f"{indent}   ",
                break_on_hyphens=False,
                break_long_words=False,
            )
    return "\n".join([*lines, "", summary_line(findings)]) + "\n"


def study_lines(studied: Mapping[str, Any]) -> list[str]:
    """What the last study of this machine found each knob to be worth."""
    day = datetime.fromtimestamp(studied["made_unix_s"], UTC).strftime("%Y-%m-%d")
    lines = [f"worth here ({studied['experiment']}, {day}, {one_line(studied['command'])}):"]
    setups = {setup["name"]: setup for setup in studied["setups"]}
    width = max(map(len, studied["ranking"]), default=0)
    for name in studied["ranking"]:
        ratio = setups[name]["spread_ratio"] or {}
        value = ratio.get("estimate")
        spread = "" if value is None else f"  (spread x {value:.2f})"
        lines.append(f"  {name.ljust(width)}  {setups[name]['effect']}{spread}")
    return lines


def print_status(findings: Sequence[Finding], console: Console) -> None:
    """The same on a terminal, as a table with colours."""
    from rich.markup import escape
    from rich.table import Table

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for header in ("", "what", "found", "wanted", "how to mend it"):
        table.add_column(header, overflow="fold")
    for finding in worst_first(findings):
        style = _STYLES[finding.severity]
        table.add_row(
            f"[{style}]{finding.severity}[/]",
            escape(finding.title),
            escape(one_line(finding.value or _UNKNOWN)),
            escape(finding.wanted or "") if _shows(finding) else "",
            escape(one_line(finding.advice)),
        )
    console.print(table)
    console.print(summary_line(findings))


def _shows(finding: Finding) -> bool:
    return finding.severity != "ok"


def quiet_lines(state: QuietState) -> list[str]:
    """What a quiet session set, what it could not, and why."""
    lines = [f"put back from an earlier session: {name}" for name in state.recovered.knobs]
    lines += [f"still not put back: {name}: {why}" for name, why in state.recovered.failures]
    for name in state.applied:
        notes = state.notes.get(name, ())
        lines.append(f"quiet: {name}" + (f" ({'; '.join(notes)})" if notes else ""))
    lines += [f"not quiet: {name}: {reason}" for name, reason in state.refused.items()]
    return lines


def restored_lines(restored: Restored) -> list[str]:
    """What was put back, and what was not and stays in the journal."""
    lines = [f"put back: {name}" for name in restored.knobs]
    lines += [f"could not be put back: {name}: {reason}" for name, reason in restored.failures]
    return lines or ["nothing was left to put back"]
