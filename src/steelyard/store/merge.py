"""Sessions of one experiment become one: trials by their position, provenance as a list."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from steelyard.core.experiment_results import Experiment

RESUMED = "resumed"
STARTED = "unix_s"


def sessions_of(provenance: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The provenance of each session, the first one first.

    An experiment's provenance is that of its first session; those of the later ones are a list
    under ``resumed``, each with the time of its start as ``unix_s``.
    """
    first = {key: value for key, value in provenance.items() if key != RESUMED}
    return [first, *(dict(later) for later in provenance.get(RESUMED, ()))]


def provenance_of(sessions: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What `sessions_of` takes apart."""
    if not sessions:
        return {}
    first = dict(sessions[0])
    return {**first, RESUMED: [dict(later) for later in sessions[1:]]} if sessions[1:] else first


def new_sessions(
    known: Sequence[Mapping[str, Any]],
    known_unix_s: float,
    later: Sequence[Mapping[str, Any]],
    later_unix_s: float,
) -> list[dict[str, Any]]:
    """Those of `later` that are not in `known`: the same journal may come a second time.

    Parameters
    ----------
    known_unix_s, later_unix_s : float
        When the first session of each began.
    """
    seen = _timed(known, known_unix_s)
    return [session for session in _timed(later, later_unix_s) if session not in seen]


def _timed(sessions: Sequence[Mapping[str, Any]], first_unix_s: float) -> list[dict[str, Any]]:
    first = {STARTED: first_unix_s, **sessions[0]}
    return [first, *(dict(session) for session in sessions[1:])]


def merge_experiments(earlier: Experiment, later: Experiment) -> Experiment:
    """`earlier` continued by `later`, whose specification and reason to stop hold.

    A position that both have keeps the earlier trial: a finished trial never changes.
    """
    known = {trial.position for trial in earlier.trials}
    new = [trial for trial in later.trials if trial.position not in known]
    sessions = sessions_of(earlier.provenance)
    added = new_sessions(
        sessions, earlier.created_unix_s, sessions_of(later.provenance), later.created_unix_s
    )
    return replace(
        later,
        provenance=provenance_of([*sessions, *added]),
        created_unix_s=earlier.created_unix_s,
        trials=tuple(sorted((*earlier.trials, *new), key=lambda trial: trial.position)),
    )
