"""Sessions of one experiment become one: trials by their position, provenance as a list."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from steelyard.core.model import Experiment

RESUMED = "resumed"


def sessions_of(provenance: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The provenance of each session, the first one first.

    An experiment's provenance is that of its first session, with those of the later ones as a
    list under ``resumed``.
    """
    first = {key: value for key, value in provenance.items() if key != RESUMED}
    return [first, *(dict(later) for later in provenance.get(RESUMED, ()))]


def provenance_of(sessions: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What `sessions_of` takes apart."""
    if not sessions:
        return {}
    first = dict(sessions[0])
    return {**first, RESUMED: [dict(later) for later in sessions[1:]]} if sessions[1:] else first


def merge_sessions(earlier: Mapping[str, Any], later: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The sessions of both, each once: the same journal may come a second time."""
    sessions = sessions_of(earlier)
    sessions.extend(session for session in sessions_of(later) if session not in sessions)
    return sessions


def merge_experiments(earlier: Experiment, later: Experiment) -> Experiment:
    """`earlier` continued by `later`, whose specification and reason to stop hold.

    A position that both have keeps the earlier trial: a finished trial never changes.
    """
    known = {trial.position for trial in earlier.trials}
    new = [trial for trial in later.trials if trial.position not in known]
    return replace(
        later,
        provenance=provenance_of(merge_sessions(earlier.provenance, later.provenance)),
        created_unix_s=min(earlier.created_unix_s, later.created_unix_s),
        trials=tuple(sorted((*earlier.trials, *new), key=lambda trial: trial.position)),
    )
