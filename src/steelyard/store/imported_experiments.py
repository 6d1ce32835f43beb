"""Experiments of measurements that were made elsewhere: a specification for what is known."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from typing import Any

from steelyard.core.errors import DataError
from steelyard.core.experiment_results import Experiment, Trial
from steelyard.core.experiment_spec import ExperimentSpec, LaunchSpec, MetricSpec, Order, Variant
from steelyard.core.identifier import new_identifier
from steelyard.core.stopping_spec import StoppingSpec


def unique_names(names: Sequence[str]) -> list[str]:
    """`names` with a number behind each that came before."""
    seen: dict[str, int] = {}
    unique: list[str] = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        unique.append(name if seen[name] == 1 else f"{name} [{seen[name]}]")
    return unique


def imported_variant(
    name: str, parameters: Mapping[str, str] | None = None, benchmark: str = ""
) -> Variant:
    """A variant whose program cannot be started: an empty argv says that it is not known.

    Variants of one `benchmark` are compared with each other alone.
    """
    return Variant(
        name=name,
        launch=LaunchSpec(argv=()),
        parameters=tuple((parameters or {}).items()),
        group=benchmark,
        benchmark=benchmark,
    )


def imported_experiment(
    source: Mapping[str, Any],
    variants: Sequence[Variant],
    metrics: Sequence[MetricSpec],
    trials: Sequence[Trial],
    order: Order,
) -> Experiment:
    """A new experiment of trials that ran elsewhere.

    Parameters
    ----------
    source : mapping
        ``format`` and ``file``, and what else the file says; kept under ``imported``.
        ``created_unix_s`` in it is when the trials ran, as far as that is known.

    Raises
    ------
    DataError
        There is no trial.
    """
    if not trials:
        raise DataError(f"{source['file']} holds no measurement.", field="file")
    kept = {name: value for name, value in source.items() if name != "created_unix_s"}
    groups = len({variant.group for variant in variants})
    return Experiment(
        spec=ExperimentSpec(
            identifier=new_identifier(time.time_ns() // 1_000_000),
            kind="comparison" if len(variants) > groups else "measurement",
            variants=tuple(variants),
            metrics=tuple(metrics),
            seed=0,
            order=order,
            stopping=StoppingSpec(runs=1 + max(trial.block for trial in trials)),
        ),
        provenance={"imported": kept},
        created_unix_s=source["created_unix_s"],
        trials=tuple(trials),
        stopped="runs",
    )


def file_source(path: str, format_name: str) -> dict[str, Any]:
    """What is known of a file itself, for the `source` of `imported_experiment`."""
    return {
        "format": format_name,
        "file": os.path.abspath(path),
        "created_unix_s": os.path.getmtime(path),
    }
