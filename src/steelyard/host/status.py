"""Everything on this machine that is known to disturb measurements."""

from __future__ import annotations

from collections.abc import Sequence

from steelyard.host.knob import Finding, Request
from steelyard.host.system import Host

SAMPLE_S = 0.5


def read_status(
    host: Host | None = None, cpus: Sequence[int] | None = None, sample_s: float = SAMPLE_S
) -> tuple[Finding, ...]:
    """What was found, how bad it is, and how to mend it: settings first, then observations.

    Parameters
    ----------
    host : Host, optional
        The machine; by default this one.
    cpus : sequence of int, optional
        The CPUs that are to be measured on; by default all.
    sample_s : float
        For how long rates are observed.

    Notes
    -----
    Whether a disturbance matters for one program on this machine only a measurement can tell.
    """
    from steelyard.host.knobs import KNOBS
    from steelyard.host.observations import observe

    host = host or Host()
    request = Request(cpus=tuple(cpus) if cpus else None)
    settings = [knob.finding(host, request) for knob in KNOBS]
    return (*settings, *observe(host, request, sample_s))
