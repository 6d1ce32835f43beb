"""The report of an experiment that was made for an analysis: that analysis, in every format."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, NamedTuple

from steelyard.cli.console.output import terminal_width, write_file, write_json, write_page

if TYPE_CHECKING:
    from steelyard.app.results.named_analysis import Analyzed
    from steelyard.core.experiment_results import Experiment
    from steelyard.report.documents.rendering import Rendering


class Wanted(NamedTuple):
    """What is to be written: a text or page in a format, if one is asked for, plots and JSON."""

    format_name: str | None
    output: str | None
    plots: str | None
    json_target: str | None


def report_own(found: Analyzed, experiment: Experiment, wanted: Wanted) -> list[str]:
    """Write the analysis that `experiment` was made for; the paths written.

    A result that has no page is written as text.
    """
    from steelyard.report.kinds import RENDERINGS

    rendering = RENDERINGS.get(found.result.kind)
    wrote: list[str] = []
    if wanted.plots is not None and rendering.plots is not None:
        wrote += rendering.plots(found.result, wanted.plots)
    if wanted.format_name is not None:
        name = wanted.format_name
        wrote += _write(name, found, rendering, wanted.output, experiment.spec.identifier)
    write_json(rendering.document(found.result, found.origin), wanted.json_target)
    return wrote


def _write(
    name: str, found: Analyzed, rendering: Rendering, output: str | None, identifier: str
) -> list[str]:
    if name == "json":
        write_json(rendering.document(found.result, found.origin), output or "-")
        return [] if output in (None, "-") else [str(output)]
    if name == "html" and rendering.page is not None:
        path = output or f"steelyard-{identifier}.html"
        page = rendering.page(found.result, found.origin)
        if path != "-":
            write_page(page, path)
            return [path]
        return _written(page, None)
    width = terminal_width() if output in (None, "-") else None
    text = rendering.text(found.result, found.origin, width)
    if name == "markdown":
        text = f"```\n{text.rstrip()}\n```\n"
    return _written(text, output)


def _written(text: str, output: str | None) -> list[str]:
    data = text.encode("utf-8", "replace")
    if output in (None, "-"):
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        sys.stdout.flush()
        return []
    write_file(data, str(output))
    return [str(output)]
