"""The `host-status` document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from steelyard.host.knob import Finding
from steelyard.report.documents.schema_version import SCHEMA
from steelyard.report.texts.readable import document_value


def host_status_document(
    findings: Sequence[Finding],
    facts: dict[str, Any],
    cpus: Sequence[int] | None,
    studied: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """The document of kind ``host-status``.

    Parameters
    ----------
    findings : sequence of Finding
        What `host.status.read_status` found.
    facts : dict
        What `host.facts.host_facts` says of the machine.
    cpus : sequence of int or None
        The CPUs that were asked about; None stands for all.
    studied : mapping or None
        What the last study of this machine found.
    """
    return document_value(
        {
            "schema": SCHEMA,
            "kind": "host-status",
            "cpus": None if cpus is None else list(cpus),
            "host": facts,
            "knobs": [
                {
                    "knob": finding.knob,
                    "title": finding.title,
                    "value": finding.value,
                    "wanted": finding.wanted,
                    "severity": finding.severity,
                    "available": finding.available,
                    "advice": finding.advice,
                }
                for finding in findings
            ],
            "study": None if studied is None else dict(studied),
        }
    )
