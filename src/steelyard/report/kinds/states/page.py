"""The page of states: the plots by which a person chooses where an execution looks stable."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from math import isfinite
from typing import Any

from steelyard.analysis.states.benchmark_states import StatesResult, values_digest
from steelyard.analysis.states.execution import ExecutionState
from steelyard.core.units import scale_for
from steelyard.core.version import __version__
from steelyard.report.documents.rendering import Origin
from steelyard.report.documents.schema_version import SCHEMA
from steelyard.report.kinds.states.text import proposal_sentences, states_table
from steelyard.report.pages.rendered import embedded_json, scripted_page
from steelyard.report.plots.plot_style import DARK_COLORS, rounded
from steelyard.report.texts.readable import caution_text, one_line


@dataclass(frozen=True)
class Serving:
    """That a program takes the choices of the page as they are made, and its file for them."""

    choices_file: str


def states_page(result: StatesResult, origin: Origin, serving: Serving | None = None) -> str:
    """One page with the plots of every execution, drawn when it is picked.

    Parameters
    ----------
    result : StatesResult
    origin : Origin
    serving : Serving, optional
        None for a file: the choices are kept by the browser, and offered as a file.
    """
    view = {
        "title": _title(result),
        "source": _source(origin),
        "sentences": proposal_sentences(result, origin),
        "cautions": [caution_text(caution.message) for caution in result.cautions],
        "table": states_table(result, origin),
        "data": embedded_json(page_data(result, origin, serving)),
        "foot": f"Made by Steelyard {__version__}; seed {result.rules.seed}.",
        "connect_sources": "'none'" if serving is None else "'self'",
    }
    return scripted_page(
        "states/page.html.jinja", view, ("page.css", "states/states.css"), "states/states.js"
    )


def _source(origin: Origin) -> str:
    if origin.file is not None:
        return one_line(origin.file)
    return one_line(f"{origin.variant} of {origin.experiment}")


def _title(result: StatesResult) -> str:
    proposal = result.proposal
    if proposal.rule == "independent":
        return f"Independent from iteration {proposal.iteration} on"
    if proposal.rule == "same-iteration":
        return f"Take iteration {proposal.iteration} of each execution"
    return "No iterations can be proposed"


def page_data(result: StatesResult, origin: Origin, serving: Serving | None) -> dict[str, Any]:
    """What the page's script works on."""
    factor, unit = _scale(result, origin)
    name = one_line(origin.metric.name)
    choices_file = "choices.json" if serving is None else serving.choices_file
    data = origin.file if origin.file is not None else origin.experiment
    command = ["steelyard", "analyze", data or "", "--method", "states"]
    if origin.file is None:
        command += ["--variant", origin.variant or "", "--metric", origin.metric.name]
    return {
        "schema": SCHEMA,
        "digest": values_digest(result),
        "seed": result.rules.seed % 2**31,
        "axis": f"{name} [{unit}]" if unit else name,
        "executions": [_execution(found, factor) for found in result.executions],
        "chosen": dict(result.chosen),
        "server": serving is not None,
        "choices_file": choices_file,
        "command": one_line(shlex.join([*command, "--choices", choices_file])),
        "dark": DARK_COLORS,
    }


def _scale(result: StatesResult, origin: Origin) -> tuple[float, str]:
    """The unit for all values, by the middle one of the first execution that has an answer."""
    for found in result.executions:
        if found.levels:
            return scale_for(found.levels[-1].mean, origin.metric.unit)
    return scale_for(0.0, origin.metric.unit)


def _execution(found: ExecutionState, factor: float) -> dict[str, Any]:
    values = found.values.tolist()
    whole = rounded([value if isfinite(value) else 0.0 for value in values], factor)
    return {
        "label": found.label,
        "values": [v if isfinite(raw) else None for v, raw in zip(whole, values, strict=True)],
        "initialised": found.initialised,
        "start_up_count": found.start_up_count,
        "about": _about(found),
    }


def _about(found: ExecutionState) -> str:
    if found.refusal is not None:
        return f"No answer: {found.refusal.message}"
    begin = "never steady" if found.initialised is None else f"steady from {found.initialised} on"
    independent = (
        "dependent to the end"
        if found.independent is None
        else f"independent from {found.independent} on"
    )
    period = "" if found.period is None else f" with period {found.period}"
    sure = 100 * (found.confidence or 0)
    share = 100 * (found.share or 0)
    return (
        f"Proposed: {found.state}{period}, {begin}, {independent} ({sure:.0f} % sure whether it "
        f"is steady; {share:.0f} % of redraws give this class)."
    )
