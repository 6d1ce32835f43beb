"""Specifications to JSON and back, by their dataclass fields."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, Union, cast, get_args, get_origin, get_type_hints

from steelyard.core.build_spec import BuildSpec
from steelyard.core.errors import DataError
from steelyard.core.events_spec import EventsSpec
from steelyard.core.experiment_results import Trial
from steelyard.core.experiment_spec import (
    ExperimentSpec,
    HostLevel,
    IterationsSpec,
    LaunchSpec,
    MetricSpec,
    NuisanceFactor,
    OutputCheck,
    Variant,
)
from steelyard.core.field_reader import wrong_field
from steelyard.core.gate_spec import GateSpec
from steelyard.core.package_spec import EnvironmentLimits, PackageSpec
from steelyard.core.placement_spec import PlacedWorker, PlacementSpec
from steelyard.core.profiled_spec import DelaySpec, ProfiledSpec, ProfileStudySpec
from steelyard.core.repetition import DimensionedBy, MeanSquare, RepetitionLevel
from steelyard.core.stopping_spec import PastLook, StoppingSpec
from steelyard.core.trial_table import TrialTable
from steelyard.core.units import LARGEST_VALUE

_NAMES = {
    str: "a text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    NoneType: "null",
}


def to_json(value: Any) -> Any:
    """Plain dicts and lists for `value`; defaults are written out, so that they stay what they
    were when a later version changes them."""
    if isinstance(value, TrialTable):
        return [to_json(trial) for trial in value]
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
    frozen = {name: _frozen(value) for name, value in values.items()}
    types = _types(kind)
    for name, value in frozen.items():
        if not _fits(value, types[name]):
            raise wrong_field(f"{where}.{name}", _named(types[name]), value)
    lacking = [repr(name) for name in _required(kind) if name not in frozen]
    if lacking:
        raise DataError(f"{where} is not complete: it lacks {', '.join(lacking)}.", field=where)
    return kind(**frozen)


@cache
def _required(kind: type) -> tuple[str, ...]:
    """The fields that have no default."""
    return tuple(
        f.name for f in fields(kind) if f.default is MISSING and f.default_factory is MISSING
    )


@cache
def _types(kind: type) -> dict[str, Any]:
    return get_type_hints(kind)


def _fits(value: Any, wanted: Any) -> bool:
    """Whether `value` is of the type of a field; whole numbers are numbers, truths are not."""
    if wanted in (int, float):
        is_number = isinstance(value, (int, wanted)) and not isinstance(value, bool)
        # NaN is on no side of a bound; a whole number of 400 digits is beyond every float.
        return is_number and -LARGEST_VALUE <= value <= LARGEST_VALUE
    if isinstance(wanted, type):
        return isinstance(value, wanted)
    origin, parts = get_origin(wanted), get_args(wanted)
    if origin is tuple:
        items = cast("tuple[Any, ...]", value) if isinstance(value, tuple) else None
        if items is not None and parts[-1] is Ellipsis:
            return all(_fits(item, parts[0]) for item in items)
        return items is not None and len(items) == len(parts) and all(map(_fits, items, parts))
    if origin is Literal:
        return value in parts
    if origin in (Union, UnionType):
        return any(_fits(value, part) for part in parts)
    return isinstance(value, origin)


def _named(wanted: Any) -> str:
    """The type of a field, as people call it."""
    origin, parts = get_origin(wanted), get_args(wanted)
    if origin is Literal:
        return "one of " + ", ".join(parts)
    if origin in (Union, UnionType):
        return " or ".join(map(_named, parts))
    if origin is tuple:
        whole = parts[-1] is Ellipsis
        return f"a list, each {_named(parts[0])}" if whole else f"a list of {len(parts)}"
    return _NAMES.get(wanted, "an object")


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
    if parts.get("profiled") is not None:
        parts["profiled"] = _profiled(parts["profiled"], f"{where}.profiled")
    if parts.get("package") is not None:
        parts["package"] = package_from_json(parts["package"], f"{where}.package")
    return _build(Variant, parts, where)


def package_from_json(data: Any, where: str = "package") -> PackageSpec:
    """The package that an object of JSON describes."""
    values = dict(_object(data, where))
    if values.get("limits") is not None:
        values["limits"] = _build(EnvironmentLimits, values["limits"], f"{where}.limits")
    return _build(PackageSpec, values, where)


def _profiled(data: Any, where: str) -> ProfiledSpec:
    values = dict(_object(data, where))
    if values.get("delay") is not None:
        values["delay"] = _build(DelaySpec, values["delay"], f"{where}.delay")
    return _build(ProfiledSpec, values, where)


def _dimensioned_by(data: Any, where: str) -> DimensionedBy:
    values = _object(data, where)
    squares = tuple(
        _build(MeanSquare, item, f"{where}.{name}") for item, name in _items(values, "squares")
    )
    return _build(DimensionedBy, {**values, "squares": squares}, where)


def _stopping(data: Any) -> StoppingSpec:
    values = _object(data, "stopping")
    looks = tuple(
        _build(PastLook, item, f"stopping.{name}") for item, name in _items(values, "looks")
    )
    return _build(StoppingSpec, {**values, "looks": looks}, "stopping")


def _placement(data: Any) -> PlacementSpec:
    values = _object(data, "placement")
    workers = tuple(_build(PlacedWorker, item, where) for item, where in _items(values, "workers"))
    found = _build(PlacementSpec, {**values, "workers": workers}, "placement")
    if not all(0 <= index < len(workers) for index in found.blocks):
        raise DataError("placement.blocks names a worker that is none.", field="placement.blocks")
    return found


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
        parts["stopping"] = _stopping(parts["stopping"])
    if parts.get("events") is not None:
        parts["events"] = _build(EventsSpec, parts["events"], "events")
    if parts.get("profiles") is not None:
        parts["profiles"] = _build(ProfileStudySpec, parts["profiles"], "profiles")
    if parts.get("iterations") is not None:
        parts["iterations"] = _build(IterationsSpec, parts["iterations"], "iterations")
    parts["levels"] = tuple(
        _build(RepetitionLevel, item, where) for item, where in _items(values, "levels")
    )
    if parts.get("placement") is not None:
        parts["placement"] = _placement(parts["placement"])
    parts["gates"] = tuple(_build(GateSpec, item, where) for item, where in _items(values, "gates"))
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
