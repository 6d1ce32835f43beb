"""A service's pages: what was sent, one of them, the workers, and the form to send one."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from steelyard.core.identifier import is_identifier
from steelyard.report.pages.rendered import rendered_page
from steelyard.report.pages.shell import Shell
from steelyard.service.follow_ups import WANTED
from steelyard.service.submissions import OPEN_STATES, ListedSubmission, Submission
from steelyard.service.workers import Worker

REFRESH_S = 5
VISIBILITIES = (
    ("private", "I, and those who run the service"),
    ("shared", "everyone who has signed in"),
    ("public", "everyone who has the address"),
)
_GIB = 1 << 30


@dataclass(frozen=True)
class Progress:
    """How far an experiment is.

    Parameters
    ----------
    parts : mapping of str to int
        How many are in which state.
    running : sequence of str
        Workers that have some of them now.
    faults : sequence of tuple
        Of attempts that came to nothing: block, worker, outcome and why.
    archives : str
        How many archives of results there are; empty where there are none.
    repeats : int
        How many blocks two workers have run.
    disagreements : sequence of tuple
        Those that cannot both be right: block, worker, the other's block and worker, and why.
    failures : tuple
        How many trials failed, of how many of the newest, and why the last of them did.
    """

    parts: Mapping[str, int]
    running: Sequence[str]
    faults: Sequence[tuple[int, str, str, str]]
    archives: str = ""
    repeats: int = 0
    disagreements: Sequence[tuple[int, str, int, str, str]] = ()
    failures: tuple[int, int, str] = (0, 0, "")


def _when(unix_s: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(unix_s))


def _row(sent: ListedSubmission) -> dict[str, Any]:
    return {
        "identifier": sent.identifier,
        "name": sent.name,
        "account": sent.account,
        "when": _when(sent.created_unix_s),
        "state": sent.state,
        "done": f"{sent.committed_count} of {sent.trial_count}",
    }


def submissions_page(
    found: Sequence[ListedSubmission], workers: Sequence[Worker], shell: Shell
) -> str:
    """What was sent, the newest first, and how many workers there are."""
    there = [worker for worker in workers if worker.status not in ("gone", "quarantined")]
    view = {
        "shell": shell,
        "title": f"{len(found)} experiment{'s' * (len(found) != 1)} sent",
        "rows": [_row(sent) for sent in found],
        "workers": _there(len(there), len(workers)),
        "refresh_s": REFRESH_S if any(sent.state in OPEN_STATES for sent in found) else 0,
    }
    return rendered_page("submission/list.html.jinja", view)


def _there(count: int, of: int) -> str:
    if not of:
        return "No worker is enrolled"
    return f"{count} of {of} worker{'s' * (of != 1)} {'is' if count == 1 else 'are'} there"


def submission_page(
    sent: Submission,
    so_far: Progress,
    shell: Shell,
    *,
    is_own: bool,
) -> str:
    """How far one experiment is, with what may be changed of it where it is one's own."""
    view = {
        "shell": shell,
        "is_own": is_own,
        "may_fork": "submit" in shell.scopes,
        "visibility": sent.visibility,
        "visibilities": VISIBILITIES,
        "title": sent.name,
        "row": _row(sent),
        "identifier": sent.identifier,
        "stopped": sent.stopped if sent.state == "cancelled" else "",
        "next_experiment": sent.follow_up if is_identifier(sent.follow_up) else "",
        "follow_up": _follow_up(sent),
        "parts": [
            (state, count, ", ".join(so_far.running) if state == "given" else "")
            for state, count in sorted(so_far.parts.items())
        ],
        "running": so_far.running,
        "archives": so_far.archives,
        "begins": sent.state in OPEN_STATES and not sent.committed_count and bool(so_far.running),
        "faults": so_far.faults,
        "failures": so_far.failures,
        "repeats": so_far.repeats,
        "disagreements": so_far.disagreements,
        "share": round(100 * sent.committed_count / max(1, sent.trial_count)),
        "open": sent.state in OPEN_STATES,
        "some": sent.committed_count > 0,
        "file": sent.file,
        "refresh_s": REFRESH_S if sent.state in OPEN_STATES else 0,
    }
    return rendered_page("submission/one.html.jinja", view)


def _follow_up(sent: Submission) -> str:
    """What is told of a follow-up that is not there."""
    if sent.follow_up == WANTED:
        return "When it has ended, the full design of the factors that it proposes follows."
    _, none, why = sent.follow_up.partition("none: ")
    return f"No experiment follows it: {why}" if none else ""


def workers_page(workers: Sequence[Worker], shell: Shell) -> str:
    """Every worker with its facts."""
    rows = [
        {
            "name": worker.name,
            "status": worker.status,
            "reason": worker.reason,
            "heard": _when(worker.heartbeat_unix_s),
            "facts": _facts(worker.facts),
        }
        for worker in workers
    ]
    view = {
        "shell": shell,
        "title": f"{len(rows)} worker{'s' * (len(rows) != 1)}",
        "rows": rows,
        "refresh_s": REFRESH_S,
    }
    return rendered_page("submission/workers.html.jinja", view)


def _facts(facts: Mapping[str, Any]) -> str:
    told = [
        str(facts[name]) for name in ("cpu-model", "architecture", "distribution") if name in facts
    ]
    if "cpus" in facts:
        told.insert(1, f"{facts['cpus']} CPUs")
    memory = facts.get("memory")
    if isinstance(memory, int | float):
        told.insert(2, f"{memory / _GIB:.0f} GiB")
    return ", ".join(told)
