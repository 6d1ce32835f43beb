"""`steelyard report EXPERIMENT`: pages, plots and tables of what was measured."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from steelyard.cli.console.masked_values import unless_asked
from steelyard.cli.console.output import terminal_width, write_file, write_json, write_note
from steelyard.cli.options.gate_options import GateOptions
from steelyard.cli.options.option_groups import group, option, takes
from steelyard.cli.options.shared_options import json_option, secrets_option, store_option
from steelyard.core.errors import AnalysisError, DataError, TrialsFailedError

if TYPE_CHECKING:
    from steelyard.app.results.named_analysis import Analyzed
    from steelyard.app.results.stored_answer import Answer
    from steelyard.core.experiment_results import Experiment
    from steelyard.report.formats import ReportFormat

GATE_STATUS = 1

HELP = """
Report on an experiment from the store.

EXPERIMENT is an identifier, the beginning of one, or `latest`.

\b
steelyard report latest -o report.html
steelyard report 01JD --format markdown
steelyard report latest --plots figures
"""


@dataclass(frozen=True, kw_only=True)
class ReportOptions:
    """What report takes."""

    output: str | None = option(
        "-o",
        "--output",
        metavar="FILE",
        help="Where to write; `-` is standard output. A page goes to steelyard-EXPERIMENT.html "
        "by default, everything else to standard output.",
    )
    format_name: str | None = option(
        "--format",
        metavar="NAME",
        help="html, json, junit, markdown or text; by default what the suffix of FILE says, else "
        "html.",
    )
    plots: str | None = option(
        "--plots",
        metavar="DIR",
        help="Write each plot as PNG and SVG into DIR; no page unless it is asked for.",
    )
    metric: str | None = option(
        "--metric", metavar="NAME", help="The metric to report on instead of the first."
    )
    gates: GateOptions = group(GateOptions)
    pairs: bool = option(
        "--pairs",
        is_flag=True,
        help="Compare each combination of an experiment with the first, instead of showing the "
        "analysis that it was made for.",
    )
    show_secrets: bool = secrets_option()
    store: str | None = store_option("The store to read.")
    json_target: str | None = json_option("Write the answer as JSON; `-`: stdout.")


@click.command("report", help=HELP, short_help="Page, plots or tables of an experiment.")
@takes(ReportOptions)
@click.argument("experiment", metavar="EXPERIMENT", default="latest")
def command(given: ReportOptions, experiment: str) -> int:
    """Load, answer, write."""
    chosen = _format_of(given.format_name, given.output)
    loaded = _load(given.store, experiment, given.show_secrets)
    asked = bool(given.gates.gates)
    pairs = given.pairs or asked
    if loaded.spec.profiles is not None and not pairs:
        return _report_profiles(given, loaded, chosen)
    own = None if pairs else _own_analysis(loaded, given.metric)
    if own is not None:
        from steelyard.cli.report.own_report import Wanted, report_own

        name = chosen.name if _wants_page(given) else None
        wanted = Wanted(name, given.output, given.plots, given.json_target)
        _tell(report_own(own, loaded, wanted))
        return 0
    from steelyard.app.results.stored_answer import answered

    found = answered(loaded, given.metric, given.gates.gates)
    _tell(_report_pairs(given, loaded, found, chosen))
    return GATE_STATUS if asked and not all(check.passed for check in found.gates) else 0


def _report_pairs(
    given: ReportOptions, loaded: Experiment, found: Answer, chosen: ReportFormat
) -> list[str]:
    """Write what was measured, and each variant against its baseline; the paths written."""
    wrote: list[str] = []
    if given.plots is not None:
        from steelyard.report.plots.plot_files import write_plots

        wrote += write_plots(found, given.plots)
        if not wrote:
            write_note("no plot has anything to show")
    if _wants_page(given):
        wrote += _write(chosen, found, loaded, given.output)
    if given.json_target is not None:
        from steelyard.report.kinds.comparison.answer_document import answer_kind_document

        write_json(answer_kind_document(found, loaded), given.json_target)
    return wrote


def _wants_page(given: ReportOptions) -> bool:
    asked_for_page = given.output is not None or given.format_name is not None
    return asked_for_page or (given.plots is None and given.json_target is None)


def _tell(paths: list[str]) -> None:
    for path in paths:
        sys.stderr.write(f"wrote {path}\n")


def _own_analysis(experiment: Experiment, metric: str | None) -> Analyzed | None:
    """The analysis that the experiment was made for; None, and a note, where it cannot be made."""
    from steelyard.app.experiment.own_analysis import own_analysis

    try:
        return own_analysis(experiment, metric)
    except (AnalysisError, TrialsFailedError, DataError) as error:
        write_note(f"its own analysis cannot be made, so that pairs are shown: {error.message}")
        return None


def _report_profiles(given: ReportOptions, experiment: Experiment, chosen: ReportFormat) -> int:
    """Answer a study of profilers as the command that made it."""
    from steelyard.cli.profile.study_text import Targets, show_study

    html = given.output if chosen.name == "html" else None
    if chosen.name == "html" and _wants_page(given) and html is None:
        html = f"steelyard-{experiment.spec.identifier}.html"
    json_target = given.json_target
    if chosen.name == "json":
        json_target = given.output or "-"
    show_study(experiment, Targets(json_target, html))
    _tell([] if html is None else [html])
    return 0


def _format_of(name: str | None, output: str | None) -> ReportFormat:
    """The format that is asked for by name or by the suffix of a file, else a page."""
    from steelyard.report.formats import FORMATS

    if name is not None:
        return FORMATS.get(name)
    suffix = os.path.splitext(output or "")[1].lower()
    for known in FORMATS if suffix else ():
        if known.suffix == suffix:
            return known
    return FORMATS.get("html")


def _load(store: str | None, experiment: str, secrets: bool) -> Experiment:
    from steelyard.app.results.library import open_library

    with open_library(store) as library:
        for caution in library.cautions:
            write_note(f"warning: {caution.message}")
        return library.answerable(experiment, unless_asked(secrets))


def _write(
    chosen: ReportFormat, answer: Answer, experiment: Experiment, output: str | None
) -> list[str]:
    """Write the report; the paths that a user has not named or may want to open."""
    if output is None and chosen.to_file:
        output = f"steelyard-{answer.experiment}{chosen.suffix}"
    width = terminal_width() if output in (None, "-") else None
    if width is not None and chosen.render_within is not None:
        text = chosen.render_within(answer, experiment, width)
    else:
        text = chosen.render(answer, experiment)
    data = text.encode("utf-8", "replace")
    if output is None or output == "-":
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        sys.stdout.flush()
        return []
    write_file(data, output)
    return [output]
