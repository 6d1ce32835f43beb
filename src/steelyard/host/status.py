"""Everything on this machine that is known to disturb measurements."""

from __future__ import annotations

from collections.abc import Sequence

from steelyard.core.errors import HostError
from steelyard.host.host_journal import HostJournal, default_journal_path
from steelyard.host.knob import Finding, Request
from steelyard.host.session import is_session_alive
from steelyard.host.system import Host

SAMPLE_S = 0.5


def read_status(
    host: Host | None = None,
    cpus: Sequence[int] | None = None,
    sample_s: float = SAMPLE_S,
    journal_path: str | None = None,
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
    journal_path : str, optional
        Where quiet sessions record their changes; by default `default_journal_path`.

    Notes
    -----
    Whether a disturbance matters for one program on this machine only a measurement can tell.
    """
    from steelyard.host.observations import observe
    from steelyard.host.properties import KNOBS

    host = host or Host()
    request = Request(cpus=tuple(cpus) if cpus else None)
    settings = [knob.finding(host, request) for knob in KNOBS]
    left = unrestored_finding(journal_path or default_journal_path(), host)
    return (*settings, *observe(host, request, sample_s), left)


def unrestored_finding(journal_path: str, host: Host) -> Finding:
    """Whether a quiet session has changed this machine and has not put it back."""
    name, title = "unrestored", "left changed by a quiet session"
    # Asked before and after: a session that ends or starts meanwhile has left nothing.
    lives = is_session_alive(journal_path, host)
    try:
        pending = HostJournal(journal_path).pending
    except HostError as error:
        return Finding(name, title, None, "nothing", "bad", True, error.message)
    if not pending:
        return Finding(name, title, "nothing", "nothing", "ok", True)
    value = ", ".join(dict.fromkeys(change.knob for change in pending))
    if lives or is_session_alive(journal_path, host):
        advice = "a session is under way and puts it back itself"
        return Finding(name, title, value, "nothing", "info", False, advice)
    return Finding(name, title, value, "nothing", "bad", True, "steelyard host restore")
