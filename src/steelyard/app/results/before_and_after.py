"""Files of other tools, and stored experiments, weighed against each other."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from steelyard.app.experiment.weigh import Weighing
from steelyard.app.results.library import read_experiment
from steelyard.app.results.matched_experiments import Judging, Side, matched_experiment
from steelyard.core.errors import DataError, UsageError
from steelyard.core.masked_experiment import masked_experiment

if TYPE_CHECKING:
    from steelyard.app.results.library import Library
    from steelyard.core.experiment_results import Experiment

_LONGEST_NAME = 200


def weigh_sides(
    library: Library,
    named: Sequence[tuple[str, str]],
    format_name: str | None,
    judging: Judging,
) -> Weighing:
    """Match what is named, keep the comparison in the library, and answer it.

    Parameters
    ----------
    named : sequence of (name, source)
        A source is a file, or the identifier of a stored experiment; the sources of one name count
        together, and the first name is the baseline.

    Raises
    ------
    UsageError
        There are fewer than two names, or a source is neither a file nor an experiment.
    DataError
        A file is not what it should be, or nothing matches.
    """
    from steelyard.analysis.comparison.experiment_answer import answer
    from steelyard.analysis.comparison.gate_check import check_gates

    experiment = matched_experiment(_sides(library, named, format_name), judging)
    check_gates(experiment.spec)
    library.save(experiment)
    shown = masked_experiment(experiment)
    return Weighing(shown, answer(shown))


def _sides(
    library: Library, named: Sequence[tuple[str, str]], format_name: str | None
) -> list[Side]:
    sources: dict[str, list[str]] = {}
    for name, source in named:
        if not name.strip() or len(name) > _LONGEST_NAME:
            raise UsageError(
                f"--as takes a name of 1 to {_LONGEST_NAME} characters and a file, not {name!r}.",
                field="--as",
            )
        sources.setdefault(name.strip(), []).append(source)
    if len(sources) < 2:
        raise UsageError(
            "--as needs two names or more, such as --as base old.json --as head new.json.",
            field="--as",
        )
    return [
        Side(name, tuple(_experiment(library, s, format_name) for s in own), tuple(own))
        for name, own in sources.items()
    ]


def _experiment(library: Library, source: str, format_name: str | None) -> Experiment:
    if os.path.exists(source):
        return read_experiment(source, format_name)
    try:
        return library.load(source)
    except UsageError:
        raise DataError(
            f"{source!r} is neither a file nor an experiment of the store. `steelyard list` names "
            "those that there are.",
            field="--as",
        ) from None
