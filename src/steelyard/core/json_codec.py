"""Specifications to JSON and back, by their dataclass fields."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from steelyard.core.errors import DataError
from steelyard.core.model import (
    ExperimentSpec,
    LaunchSpec,
    MetricSpec,
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
        return {str(key): to_json(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [to_json(item) for item in value]
    return value


def _frozen(value: Any) -> Any:
    return tuple(_frozen(item) for item in value) if isinstance(value, list) else value


def _build(kind: type, data: Any, where: str) -> Any:
    if not isinstance(data, dict):
        raise DataError(f"{where} must be an object, not {type(data).__name__}.", field=where)
    known = {f.name for f in fields(kind)}
    unknown = sorted(set(data) - known)
    if unknown:
        raise DataError(f"{where} has the unknown field {unknown[0]!r}.", field=where)
    try:
        return kind(**{name: _frozen(value) for name, value in data.items()})
    except TypeError as error:
        raise DataError(f"{where} is not complete: {error}.", field=where) from None


def variant_from_json(data: Any, where: str = "variant") -> Variant:
    """A variant from the object that `to_json` made of it."""
    if not isinstance(data, dict) or "launch" not in data:
        raise DataError(f"{where} lacks the field 'launch'.", field=where)
    launch = _build(LaunchSpec, data["launch"], f"{where}.launch")
    return _build(Variant, {**data, "launch": launch}, where)


def experiment_spec_from_json(data: Any) -> ExperimentSpec:
    """A specification from the object that `to_json` made of it.

    Raises
    ------
    DataError
        A field is missing, unknown or of the wrong kind; the message names it.
    """
    if not isinstance(data, dict):
        raise DataError("An experiment must be a JSON object.")
    parts = dict(data)
    parts["variants"] = tuple(
        variant_from_json(item, f"variants[{index}]")
        for index, item in enumerate(parts.get("variants", ()))
    )
    parts["metrics"] = tuple(
        _build(MetricSpec, item, f"metrics[{index}]")
        for index, item in enumerate(parts.get("metrics", ()))
    )
    if "stopping" in parts:
        parts["stopping"] = _build(StoppingSpec, parts["stopping"], "stopping")
    return _build(ExperimentSpec, parts, "experiment")


def trial_from_json(data: Any) -> Trial:
    """A trial from the object that `to_json` made of it."""
    if not isinstance(data, dict):
        raise DataError("A trial must be a JSON object.")
    measurements = {name: tuple(values) for name, values in data.get("measurements", {}).items()}
    return _build(Trial, {**data, "measurements": measurements}, "trial")
