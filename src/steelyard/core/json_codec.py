"""Specifications to JSON and back, by their dataclass fields."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any, cast

from steelyard.core.build_spec import BuildSpec
from steelyard.core.errors import DataError
from steelyard.core.events_spec import EventsSpec
from steelyard.core.levels import DimensionedBy, MeanSquare, RepetitionLevel
from steelyard.core.model import (
    ExperimentSpec,
    HostLevel,
    IterationsSpec,
    LaunchSpec,
    MetricSpec,
    NuisanceFactor,
    OutputCheck,
    StoppingSpec,
    Trial,
    Variant,
)


def to_json(value: Any) -> Any:
    """Plain dicts and lists for `value`; defaults are written out, so that they stay what they
    were when a later version changes them."""
    if is_dataclass(value) and not isinstance(value, type):
        return {f.name: to_json(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, Mapping):
        mapping = cast("Mapping[Any, Any]", value)
        return {str(key): to_json(item) for key, item in mapping.items()}
    if isinstance(value, tuple | list | array):
        return [to_json(item) for item in cast("Sequence[Any]", value)]
    return value


def _frozen(value: Any) -> Any:
    return tuple(map(_frozen, cast("list[Any]", value))) if isinstance(value, list) else value


def _object(data: Any, where: str) -> dict[str, Any]:
    if not isinstance(data, dict):
        raise DataError(f"{where} must be an object, not {type(data).__name__}.", field=where)
    return cast("dict[str, Any]", data)


def _items(data: dict[str, Any], name: str) -> list[tuple[Any, str]]:
    found: Any = data.get(name, [])
    if not isinstance(found, list):
        raise DataError(f"{name} must be a list, not {type(found).__name__}.", field=name)
    items = cast("list[Any]", found)
    return [(item, f"{name}[{index}]") for index, item in enumerate(items)]


def _build(kind: type, data: Any, where: str) -> Any:
    values = _object(data, where)
    unknown = sorted(values.keys() - {f.name for f in fields(kind)})
    if unknown:
        raise DataError(f"{where} has the unknown field {unknown[0]!r}.", field=where)
    try:
        return kind(**{name: _frozen(value) for name, value in values.items()})
    except TypeError as error:
        raise DataError(f"{where} is not complete: {error}.", field=where) from None


def variant_from_json(data: Any, where: str = "variant") -> Variant:
    """A variant from the object that `to_json` made of it."""
    values = _object(data, where)
    if "launch" not in values:
        raise DataError(f"{where} lacks the field 'launch'.", field=where)
    parts = {**values, "launch": _build(LaunchSpec, values["launch"], f"{where}.launch")}
    if parts.get("build") is not None:
        parts["build"] = _build(BuildSpec, parts["build"], f"{where}.build")
    parts["checks"] = tuple(
        _build(OutputCheck, item, f"{where}.{name}") for item, name in _items(values, "checks")
    )
    parts["host"] = tuple(
        _build(HostLevel, item, f"{where}.{name}") for item, name in _items(values, "host")
    )
    return _build(Variant, parts, where)


def _dimensioned_by(data: Any, where: str) -> DimensionedBy:
    values = _object(data, where)
    squares = tuple(
        _build(MeanSquare, item, f"{where}.{name}") for item, name in _items(values, "squares")
    )
    return _build(DimensionedBy, {**values, "squares": squares}, where)


def experiment_spec_from_json(data: Any) -> ExperimentSpec:
    """A specification from the object that `to_json` made of it.

    Raises
    ------
    DataError
        A field is missing, unknown or of the wrong kind; the message names it.
    """
    values = _object(data, "experiment")
    parts = dict(values)
    parts["variants"] = tuple(
        variant_from_json(item, where) for item, where in _items(values, "variants")
    )
    parts["metrics"] = tuple(
        _build(MetricSpec, item, where) for item, where in _items(values, "metrics")
    )
    parts["nuisance"] = tuple(
        _build(NuisanceFactor, item, where) for item, where in _items(values, "nuisance")
    )
    if "stopping" in parts:
        parts["stopping"] = _build(StoppingSpec, parts["stopping"], "stopping")
    if parts.get("events") is not None:
        parts["events"] = _build(EventsSpec, parts["events"], "events")
    if parts.get("iterations") is not None:
        parts["iterations"] = _build(IterationsSpec, parts["iterations"], "iterations")
    parts["levels"] = tuple(
        _build(RepetitionLevel, item, where) for item, where in _items(values, "levels")
    )
    parts["dimensioned"] = tuple(
        _dimensioned_by(item, where) for item, where in _items(values, "dimensioned")
    )
    return _build(ExperimentSpec, parts, "experiment")


def trial_from_json(data: Any) -> Trial:
    """A trial from the object that `to_json` made of it."""
    values = _object(data, "trial")
    measured = _object(values.get("measurements", {}), "trial.measurements")
    measurements = {name: tuple(series) for name, series in measured.items()}
    levels = tuple(level for level, _ in _items(values, "levels"))
    return _build(Trial, {**values, "measurements": measurements, "levels": levels}, "trial")
