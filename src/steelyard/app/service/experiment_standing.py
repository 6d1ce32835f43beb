"""How an experiment stands: what its page shows anew every few seconds to all who look at it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection

from steelyard.app.service.block_disagreements import Repeats, repeats_of
from steelyard.service.failed_trials import Failures, newest_failures
from steelyard.service.submissions import Submission, newest_faults, part_states, running_on

_FAULTS = 10
_LOOKED_AT = 100
_MOST_KEPT = 1000


@dataclass(frozen=True)
class Standing:
    """How far an experiment is, and what went wrong.

    Parameters
    ----------
    sent : Submission
    parts : mapping of str to int
        How many of its parts are in which state.
    running : sequence of str
        The workers that have parts of it now.
    faults : sequence of tuple
        The newest attempts that came to nothing: block, worker, outcome and why.
    repeats : Repeats
        What of it was run by two workers.
    failures : Failures
        What failed of its newest trials.
    """

    sent: Submission
    parts: Mapping[str, int]
    running: Sequence[str]
    faults: Sequence[tuple[int, str, str, str]]
    repeats: Repeats
    failures: Failures


class Standings:
    """How experiments stand; which of their trials failed is kept until more are committed."""

    def __init__(self) -> None:
        self._failures: dict[int, tuple[int, Failures]] = {}

    def standing(self, connection: Connection, sent: Submission) -> Standing:
        """How one stands."""
        states = part_states(connection, sent.id)
        return Standing(
            sent,
            states,
            running_on(connection, sent.id) if "given" in states else (),
            newest_faults(connection, sent.id, _FAULTS),
            repeats_of(connection, sent),
            self._failures_of(connection, sent),
        )

    def _failures_of(self, connection: Connection, sent: Submission) -> Failures:
        count, known = self._failures.get(sent.id, (-1, Failures(0, 0, "")))
        if count == sent.committed_count:
            return known
        found = newest_failures(connection, sent.id, _LOOKED_AT)
        if len(self._failures) >= _MOST_KEPT:
            self._failures.clear()
        self._failures[sent.id] = sent.committed_count, found
        return found
