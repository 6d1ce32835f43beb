"""What shows the results of one kind: as a document, as text, as a page."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from steelyard.core.experiment_spec import MetricSpec


@dataclass(frozen=True)
class Origin:
    """What a result is about: a file, or a metric of a variant of an experiment."""

    method: str
    metric: MetricSpec
    file: str | None = None
    experiment: str | None = None
    variant: str | None = None


@dataclass(frozen=True)
class Rendering:
    """How a kind of result is shown.

    Parameters
    ----------
    name : str
        The `kind` of the result and of its document.
    document : callable
        From a result and its `Origin` to the object of ``--json``, as the schema
        schema in the folder of the kind says.
    text : callable
        From a result, its `Origin` and the columns to fit into (None: any) to what a terminal
        shows; ends with a newline.
    page : callable or None
        From a result and its `Origin` to the text of an HTML page that loads nothing; None where
        there is none.
    plots : callable or None
        From a result and a directory: writes its plots there and gives their paths; None where
        there are none.
    """

    name: str
    document: Callable[[Any, Origin], dict[str, Any]]
    text: Callable[[Any, Origin, int | None], str]
    page: Callable[[Any, Origin], str] | None = None
    plots: Callable[[Any, str], list[str]] | None = None
