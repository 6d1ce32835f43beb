"""A person's choices of where executions look stable: read from a file, or made on a page."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace

from steelyard.analysis.states.benchmark_states import StatesResult, values_digest, with_choices
from steelyard.app.results.named_analysis import Analyzed
from steelyard.core.errors import DataError, UsageError
from steelyard.report.kinds.states.page import Serving, states_page
from steelyard.store.choices import beside_file, beside_store, read_choices
from steelyard.store.store_location import store_path

# Serves a result with the page and the file for choices, and tells its address to the last one.
Serve = Callable[[StatesResult, str, str, Callable[[str], None]], StatesResult]


def choices_file(found: Analyzed, store: str | None) -> str:
    """Where choices for some data are kept unless asked otherwise: beside the file or the store."""
    if found.origin.file is not None:
        return beside_file(found.origin.file)
    return beside_store(
        store_path(store), found.origin.experiment or "", values_digest(_states(found))
    )


def with_choices_of(found: Analyzed, path: str) -> Analyzed:
    """The answer with the choices of a file.

    Raises
    ------
    DataError
        The file holds no choices, or those for other values.
    UsageError
        The analysis is none that takes choices.
    """
    return replace(found, result=chosen_result(_states(found), path))


def choose(found: Analyzed, path: str, announce: Callable[[str], None], serve: Serve) -> Analyzed:
    """Let a person choose on a page, beginning with the choices of the file if there is one.

    Raises
    ------
    DataError
        The file is there, and holds no choices or those for other values.
    UsageError
        The analysis is none that takes choices.
    """
    result = _states(found)
    if os.path.exists(path):
        result = chosen_result(result, path)
    serving = Serving(os.path.abspath(path))
    text = states_page(result, found.origin, serving)
    return replace(found, result=serve(result, path, text, announce))


def _states(found: Analyzed) -> StatesResult:
    if not isinstance(found.result, StatesResult):
        raise UsageError(
            f"Choices belong to --method states, not to {found.origin.method}.", field="--choices"
        )
    return found.result


def chosen_result(result: StatesResult, path: str) -> StatesResult:
    """The result with the choices of a file.

    Raises
    ------
    DataError
        The file holds no choices, or those for other values.
    """
    choices = read_choices(path)
    if choices.digest != values_digest(result):
        raise DataError(
            f"The choices of {path} were made for other values. Choose again with --choose and "
            "another --choices FILE, or analyse the data that they were made for.",
            field="--choices",
        )
    return with_choices(result, choices.chosen)
