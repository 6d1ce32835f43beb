"""Times of benchmarks on hosts, from the experiments of a store that took them in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from steelyard.core.errors import DataError, UsageError
from steelyard.core.experiment_host import host_facts, host_name
from steelyard.core.experiment_results import Caution

if TYPE_CHECKING:
    from steelyard.core.experiment_results import Experiment
    from steelyard.core.track_row import TrackRow
    from steelyard.predict.platforms.rows import Row

# What tells hosts apart whose names are the same, and what the table then knows of each.
_IDENTITY = ("machine", "cpu_model", "cpu_count", "memory_bytes")
_ARCHITECTURE = "architecture"
_HIGHER = "higher"


class StoredTimes(NamedTuple):
    """Rows of a table, benchmarks that are throughputs, facts of hosts, and what was left out."""

    rows: list[Row]
    higher: frozenset[str]
    attributes: Mapping[str, Mapping[str, str]]
    cautions: tuple[Caution, ...]


class _Measured(NamedTuple):
    host: str
    facts: tuple[str, ...]
    experiment: str
    row: TrackRow


def read_stored_times(path: str, metric: str | None) -> StoredTimes:
    """Every experiment's benchmarks on its host, each trial a replicate.

    Parameters
    ----------
    path : str
        The file of a store.
    metric : str, optional
        None takes the first metric of each experiment.

    Raises
    ------
    DataError
        No experiment names its host or has a trial that succeeded; a benchmark has two units.
    UsageError
        No experiment has the metric.
    """
    from steelyard.app.results.library import open_library

    cautions: list[Caution] = []
    with open_library(path) as library:
        experiments = (library.load(found.spec.identifier) for found in library.listing())
        measured = list(_measured(experiments, metric, cautions))
        cautions = [*library.cautions, *cautions]
    if not measured:
        _refuse_nothing(path, metric, cautions)
    _check_units(path, measured)
    names = _host_names(measured)
    return StoredTimes(
        _rows(measured, names),
        frozenset(one.row.benchmark for one in measured if one.row.direction == _HIGHER),
        {
            label: {names[one.host, one.facts]: one.facts[place] for one in measured}
            for place, label in enumerate((_ARCHITECTURE, *_IDENTITY[1:]))
        },
        tuple(cautions),
    )


def _measured(
    experiments: Iterator[Experiment], metric: str | None, cautions: list[Caution]
) -> Iterator[_Measured]:
    from steelyard.app.history.experiment_rows import experiment_rows

    for experiment in experiments:
        identifier = experiment.spec.identifier
        host, facts = host_name(experiment), host_facts(experiment)
        if not host:
            cautions.append(
                Caution(
                    "unknown-host",
                    f"The experiment {identifier} does not say on which host it ran: left out.",
                )
            )
            continue
        if metric is not None and metric not in {m.name for m in experiment.spec.metrics}:
            continue
        try:
            found = experiment_rows(experiment, () if metric is None else (metric,))
        except DataError:
            continue  # no trial of it succeeded, which is no time
        for row in found:
            yield _Measured(host, _identity(facts), identifier, row)


def _identity(facts: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple("" if facts.get(name) is None else str(facts[name]) for name in _IDENTITY)


def _refuse_nothing(path: str, metric: str | None, cautions: Sequence[Caution]) -> None:
    if metric is not None:
        raise UsageError(
            f"No experiment of {path} has times with the metric {metric!r}.\n"
            "Leave --metric out to take the first metric of each.",
            field="--metric",
        )
    why = cautions[0].message if cautions else "It has no trial that succeeded."
    raise DataError(
        f"{path} has no times of benchmarks on hosts.\n{why} `steelyard import` takes in "
        "experiments of other hosts.",
        field="file",
    )


def _check_units(path: str, measured: Sequence[_Measured]) -> None:
    """Two metrics under one name are no column of a table."""
    first: dict[str, _Measured] = {}
    for one in measured:
        other = first.setdefault(one.row.benchmark, one)
        if (other.row.metric, other.row.unit) != (one.row.metric, one.row.unit):
            raise DataError(
                f"{path}: {one.row.benchmark} is measured as {other.row.metric} "
                f"[{other.row.unit}] in {other.experiment} and as {one.row.metric} "
                f"[{one.row.unit}] in {one.experiment}.\n--metric says which to take.",
                field="--metric",
            )


def _host_names(measured: Sequence[_Measured]) -> dict[tuple[str, tuple[str, ...]], str]:
    """What each host is called: its name, with what tells it from another one of that name."""
    facts_of: dict[str, dict[tuple[str, ...], None]] = {}
    for one in measured:
        facts_of.setdefault(one.host, {})[one.facts] = None
    names: dict[tuple[str, tuple[str, ...]], str] = {}
    for host, kinds in facts_of.items():
        differing = [
            place for place in range(len(_IDENTITY)) if len({kind[place] for kind in kinds}) > 1
        ]
        for kind in kinds:
            names[host, kind] = "/".join([host, *(kind[place] or "?" for place in differing)])
    return names


def _rows(
    measured: Sequence[_Measured], names: Mapping[tuple[str, tuple[str, ...]], str]
) -> list[Row]:
    from steelyard.predict.platforms.rows import Row

    return [
        Row(
            names[one.host, one.facts],
            one.row.benchmark,
            value,
            f"experiment {one.experiment}",
            replicate=True,
        )
        for one in measured
        for value in one.row.observations or (one.row.value,)
    ]
