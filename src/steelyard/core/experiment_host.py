"""What an experiment says of the host that it ran on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from steelyard.core.experiment_results import Experiment


def host_facts(experiment: Experiment) -> Mapping[str, Any]:
    """Facts by name; none where the experiment was imported from a file without them."""
    host = experiment.provenance.get("host")
    return cast("Mapping[str, Any]", host) if isinstance(host, Mapping) else {}


def host_name(experiment: Experiment) -> str:
    """The host's own name; empty where it is not known."""
    name = host_facts(experiment).get("hostname")
    return name if isinstance(name, str) else ""
