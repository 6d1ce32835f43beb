"""The page of a reproduction: Table 5.2 of Oliveira (2015), and every effect beside its other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from steelyard.analysis.programs.reproduction import EffectPair, Reproduction
from steelyard.core.estimate import Estimate
from steelyard.report.pages.rendered import rendered_page
from steelyard.report.pages.shell import Shell

_TOLD = {True: "yes", False: "no", None: "cannot be said"}


def reproduction_page(
    found: Reproduction, names: tuple[str, str], response: str, shell: Shell
) -> str:
    """Two runs of one experiment; `names` are what their pages are called by."""
    told = [each for each in found.pairs if each.agrees is not None]
    agreed = sum(each.agrees is True for each in told)
    view = {
        "shell": shell,
        "title": f"{agreed} of {len(told)} effects agree",
        "names": names,
        "response": response,
        "hosts": found.hosts,
        "benchmarks": found.benchmarks,
        "factors": found.factors,
        "pairs": [_row(each) for each in found.pairs],
        "by_chance": round(0.05 * len(told), 1),
        "refresh_s": 0,
    }
    return rendered_page("reproduction/page.html.jinja", view)


def _row(each: EffectPair) -> dict[str, Any]:
    return {
        "benchmark": each.benchmark,
        "term": each.term,
        "hosts": ", ".join(each.hosts) or "all of each",
        "original": _percent(each.original),
        "again": _percent(each.again),
        "agrees": _TOLD[each.agrees],
        "same_answer": _TOLD[each.same_answer],
    }


def _percent(found: Estimate | None) -> str:
    if found is None:
        return "no bound"
    return f"{found.estimate:+.2f} % ({found.low:+.2f} to {found.high:+.2f})"


def reproductions_page(
    name: str, identifier: str, rows: Sequence[Mapping[str, str]], shell: Shell
) -> str:
    """Which other experiments ask the same as one."""
    view = {
        "shell": shell,
        "title": f"Reproductions of {name}",
        "identifier": identifier,
        "rows": rows,
        "may_send": "submit" in shell.scopes,
        "refresh_s": 0,
    }
    return rendered_page("reproduction/list.html.jinja", view)
