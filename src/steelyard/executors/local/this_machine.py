"""This machine and the programs of an experiment, as they are now."""

from __future__ import annotations

from typing import Any

from steelyard.core.experiment_spec import ExperimentSpec
from steelyard.host.facts import host_facts
from steelyard.measure.provenance import program_provenance


def present_provenance(spec: ExperimentSpec) -> dict[str, Any]:
    """What trials of `spec` would run on, and which programs they would run."""
    found = {"host": host_facts(), **program_provenance(spec)}
    for variant, program in zip(spec.variants, found["programs"], strict=True):
        if variant.build is not None:
            from steelyard.build.cache_key import build_inputs

            program["build"] = build_inputs(variant.build)
        if variant.package is not None and variant.package.image is not None:
            from steelyard.service.package.host_rooms import room_facts

            program["image"] = room_facts(variant.package.image)
    return found
