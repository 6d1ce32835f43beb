"""What a trial left besides its record, as one line of the journal.

Its output, the files of its harness, its report of a layout and its events lie in the session's
directory until that line is in the journal, so that whoever reads the journal after a crash finds
them there.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from steelyard.core.experiment_spec import ExperimentSpec
from steelyard.measure.left_file import remove_left

PRINTED_SOURCES = ("regex", "json", "iterations")


def takes_output(spec: ExperimentSpec) -> bool:
    """Whether what the programs write is looked at: for metrics, iterations, checks or events."""
    if spec.events is not None and spec.events.log == "-":
        return True
    return any(metric.source in PRINTED_SOURCES for metric in spec.metrics) or any(
        variant.checks for variant in spec.variants
    )


def taken_line(
    record: Mapping[str, Any], spec: ExperimentSpec, directory: str | None, *, telling: bool
) -> dict[str, Any]:
    """The journal's line on what a trial left; empty where nothing is taken from it.

    Parameters
    ----------
    record : mapping
        The launcher's, with the path of the kept output.
    directory : str, optional
        Where the trial's own files are.
    telling : bool
        Whether its program was to report its layout. A report that is there is taken in any case.

    Returns
    -------
    dict
        ``printed`` (the trial's position); ``values`` where programs print some, and where
        iterations are asked for ``warmups`` (those that were dropped, by metric) and ``problem``
        (why there are none); of a variant with checks ``differences``: where its output is not
        what it must be; ``package``, what a benchmark package left; ``layout``, the report of a
        moving program; ``events``, where they are
        recorded: None where they are lost.
    """
    line: dict[str, Any] = {}
    if directory is not None and spec.variants[record["variant"]].package is not None:
        from steelyard.measure.package_results import found_package

        # First, as it brings the file that iterations are read from.
        line["package"] = found_package(directory, record, spec.iterations)
    if takes_output(spec):
        line.update(_values(record, spec))
    if directory is not None:
        from steelyard.measure.layout_report import NO_REPORT, read_report

        report = read_report(directory, record["trial"])
        if report is not None or telling:
            line["layout"] = NO_REPORT if report is None else report
    if spec.events is not None and spec.events.variant == record["variant"]:
        from steelyard.measure.tracing import found_events

        line["events"] = found_events(spec.events, directory, record)
    return {"printed": record["trial"], **line} if line else {}


def forget_taken(directory: str, position: int) -> None:
    """Remove the files of a trial whose line is in the journal."""
    from steelyard.measure.iterations import iterations_file
    from steelyard.measure.layout_report import report_file
    from steelyard.measure.output_checks import answer_file, output_file
    from steelyard.measure.package_results import report_file as package_report
    from steelyard.measure.tracing import events_file

    files = (iterations_file, report_file, answer_file, events_file, output_file, package_report)
    for file in files:
        remove_left(file(directory, position))


def _values(record: Mapping[str, Any], spec: ExperimentSpec) -> dict[str, Any]:
    from steelyard.measure.printed_metrics import printed_values

    values = printed_values(record, [m for m in spec.metrics if m.source in ("regex", "json")])
    line: dict[str, Any] = {"values": values}
    checks = spec.variants[record["variant"]].checks
    if checks:
        from steelyard.measure.output_checks import found_differences

        line["differences"] = found_differences(record, checks)
    if spec.iterations is not None:
        from steelyard.measure.iterations import SOURCE, found_iterations

        wanted = [metric for metric in spec.metrics if metric.source == SOURCE]
        compared = spec.kind == "comparison" and not spec.varied
        found = found_iterations(record, spec.iterations, wanted, several=compared)
        line["values"] = {**values, **found.values}
        if found.benchmarks:
            line["benchmarks"] = found.benchmarks
        if found.warmups:
            line["warmups"] = found.warmups
        if found.problem is not None:
            line["problem"] = found.problem
    return line
