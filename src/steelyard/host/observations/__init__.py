"""What disturbs measurements and is no setting of ours: seen, rated, and explained."""

from __future__ import annotations

from steelyard.host.knob import Finding, Request
from steelyard.host.system import Host


def observe(host: Host, request: Request, sample_s: float) -> list[Finding]:
    """All observations; rates are counted over `sample_s`."""
    from steelyard.host.observations.activity import activity_findings, sample_activity
    from steelyard.host.observations.boot import boot_findings
    from steelyard.host.observations.machine import machine_findings
    from steelyard.host.observations.surroundings import surroundings_findings

    before = sample_activity(host)
    host.pause(sample_s)
    after = sample_activity(host)
    return [
        *activity_findings(host, request, before, after),
        *boot_findings(host, request),
        *machine_findings(host),
        *surroundings_findings(host),
    ]
