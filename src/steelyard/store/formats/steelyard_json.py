"""Steelyard's own JSON: an experiment with nothing lost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, get_args

from steelyard.core.errors import DataError
from steelyard.core.experiment_results import (
    Caution,
    Experiment,
    FailureReason,
    StopReason,
    Trial,
    TrialStatus,
)
from steelyard.core.experiment_spec import ExperimentSpec
from steelyard.core.field_reader import FieldReader
from steelyard.core.identifier import LENGTH, is_identifier
from steelyard.core.json_codec import experiment_spec_from_json, to_json, trial_from_json
from steelyard.store.file_format import FileFormat, read_json, write_json_file

SCHEMA = "steelyard/1"
KIND = "experiment-file"


def sniff(head: bytes) -> bool:
    """Whether a file starts as `write` starts it, whatever its white space."""
    start = b"".join(head[:200].split())
    return start.startswith(b'{"schema":"steelyard/1","kind":"experiment-file"')


def write(experiment: Experiment, path: str) -> Sequence[Caution]:
    """Write the whole experiment."""
    document: dict[str, Any] = {
        "schema": SCHEMA,
        "kind": KIND,
        "created_unix_s": experiment.created_unix_s,
        "stopped": experiment.stopped,
        "experiment": to_json(experiment.spec),
        "provenance": to_json(experiment.provenance),
        "trials": [_trial_object(trial) for trial in experiment.trials],
    }
    write_json_file(document, path)
    return ()


def _trial_object(trial: Trial) -> dict[str, Any]:
    measured = {name: list(values) for name, values in trial.measurements.items()}
    return {**to_json(trial), "measurements": measured}


def read(path: str) -> Experiment:
    """The experiment of a file that `write` wrote."""
    fields = FieldReader(path)
    document = fields.mapping(read_json(path), "the top level")
    for name, wanted in (("schema", SCHEMA), ("kind", KIND)):
        fields.choice(fields.required(document, name, ""), name, [wanted])
    try:
        spec = experiment_spec_from_json(fields.required(document, "experiment", ""))
    except DataError as error:
        raise DataError(f"{path}: {error.message}", field=error.field) from None
    _check_spec(fields, spec)
    created = fields.required(document, "created_unix_s", "")
    return Experiment(
        spec=spec,
        provenance=fields.mapping(document.get("provenance", {}), "provenance"),
        created_unix_s=fields.unix_time(created, "created_unix_s"),
        trials=_read_trials(fields, document, len(spec.variants)),
        stopped=fields.choice(document.get("stopped"), "stopped", [None, *get_args(StopReason)]),
    )


def _check_spec(fields: FieldReader, spec: ExperimentSpec) -> None:
    identifier = fields.text(spec.identifier, "experiment.identifier")
    if not is_identifier(identifier):
        raise fields.error("experiment.identifier", f"{LENGTH} characters of a ULID", identifier)
    fields.choice(spec.kind, "experiment.kind", ["measurement", "comparison"])
    for name in ("variants", "metrics"):
        if not getattr(spec, name):
            raise fields.error(f"experiment.{name}", "a list of at least one", [])


def _read_trials(
    fields: FieldReader, document: dict[str, Any], variant_count: int
) -> tuple[Trial, ...]:
    items = fields.sequence(fields.required(document, "trials", ""), "trials")
    trials: dict[int, Trial] = {}
    for index, item in enumerate(items):
        trial = _read_trial(fields, fields.mapping(item, f"trials[{index}]"), f"trials[{index}]")
        fields.whole(trial.variant, f"trials[{index}].variant", below=variant_count)
        if trial.position in trials:
            raise fields.error(f"trials[{index}].position", "unique", trial.position)
        trials[trial.position] = trial
    return tuple(trials.values())


def _read_trial(fields: FieldReader, item: dict[str, Any], where: str) -> Trial:
    for name in ("position", "block", "variant"):
        fields.whole(fields.required(item, name, where), f"{where}.{name}")
    fields.whole(item.get("build", 0), f"{where}.build")
    started = fields.required(item, "started_unix_s", where)
    fields.unix_time(started, f"{where}.started_unix_s")
    fields.number(fields.required(item, "spent_s", where), f"{where}.spent_s")
    status = fields.required(item, "status", where)
    fields.choice(status, f"{where}.status", get_args(TrialStatus))
    reason = fields.required(item, "reason", where)
    fields.choice(reason, f"{where}.reason", [None, *get_args(FailureReason)])
    place = f"{where}.measurements"
    measured = {
        name: [
            fields.finite(value, f"{place}.{name}[{index}]")
            for index, value in enumerate(fields.sequence(values, f"{place}.{name}"))
        ]
        for name, values in fields.mapping(
            fields.required(item, "measurements", where), place
        ).items()
    }
    try:
        return trial_from_json({**item, "measurements": measured})
    except DataError as error:
        raise DataError(f"{fields.path}: {where}: {error.message}", field=where) from None


EXTENSION = FileFormat(
    name="steelyard-json",
    suffixes=(".steelyard.json",),
    description="Steelyard's own JSON, the whole experiment with nothing lost.",
    sniff=sniff,
    read=read,
    write=write,
)
