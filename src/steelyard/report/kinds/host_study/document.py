"""The `host-study` document."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from steelyard.analysis.noise.noise_results import NoiseStudy, SetupNoise
from steelyard.core.estimate import Interval
from steelyard.report.documents.rendering import Origin
from steelyard.report.documents.schema_version import SCHEMA
from steelyard.report.texts.readable import document_value

_INTERVALS = ("mean", "spread_ratio", "mean_ratio")


def _interval(interval: Interval | None) -> dict[str, Any] | None:
    return None if interval is None else interval.as_json()


def _setup_object(setup: SetupNoise) -> dict[str, Any]:
    values = {name: value for name, value in vars(setup).items() if name not in _INTERVALS}
    return {**values, **{name: _interval(getattr(setup, name)) for name in _INTERVALS}}


def noise_document(found: NoiseStudy, origin: Origin) -> dict[str, Any]:
    """The document of kind ``host-study``, as its schema says.

    Parameters
    ----------
    found : NoiseStudy
    origin : Origin
        The file or the experiment that it is of.
    """
    return document_value(
        {
            "schema": SCHEMA,
            "kind": NoiseStudy.kind,
            "file": origin.file,
            "experiment": origin.experiment,
            "response": found.response,
            "unit": found.unit,
            "confidence": found.confidence,
            "baseline": found.baseline,
            "cumulative": found.cumulative,
            "setups": [_setup_object(setup) for setup in found.setups],
            "ranking": list(found.ranking),
            "skipped": [{"setup": name, "reason": reason} for name, reason in found.skipped],
            "figures": [{"figure": "violins", **asdict(figure)} for figure in found.figures],
            "warnings": [caution.as_json() for caution in found.cautions],
        }
    )
