"""The formats of reports. One format is one file with an `EXTENSION` in it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from steelyard.analysis.comparison.comparison_results import Answer
from steelyard.core.experiment_results import Experiment
from steelyard.core.registry import Registry


@dataclass(frozen=True)
class ReportFormat:
    """A way to write an answer down.

    Parameters
    ----------
    name : str
        What ``--format`` takes.
    suffix : str
        Of its files, with the dot.
    description : str
        What it is for, in a few words.
    to_file : bool
        Whether it goes to a file unless the user names another place.
    render : callable
        The whole text for an answer and its experiment.
    render_within : callable, optional
        The same within so many columns, for a terminal.
    """

    name: str
    suffix: str
    description: str
    to_file: bool
    render: Callable[[Answer, Experiment], str]
    render_within: Callable[[Answer, Experiment, int], str] | None = None


FORMATS: Registry[ReportFormat] = Registry(
    "report format", "steelyard.report.formats", "steelyard.report_formats"
)
