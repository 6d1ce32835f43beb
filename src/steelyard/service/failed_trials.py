"""Which of the newest trials of an experiment failed, and why the last one did."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection

from steelyard.core.ending import ending_words
from steelyard.core.json_codec import trial_from_json
from steelyard.service.submissions import newest_trials


@dataclass(frozen=True)
class Failures:
    """What of the newest trials failed.

    Parameters
    ----------
    failed, looked_at : int
        How many failed, of how many that were looked at.
    why : str
        What was found of the last one that failed; empty where none did.
    """

    failed: int
    looked_at: int
    why: str


def newest_failures(connection: Connection, submission_id: int, count: int) -> Failures:
    """What failed of the newest `count` trials: a page that loads itself anew cannot read all."""
    texts = newest_trials(connection, submission_id, count)
    # Most trials do not even have the word.
    named: list[dict[str, Any]] = [json.loads(text) for text in texts if '"failed"' in text]
    failed = [trial for trial in named if trial["status"] == "failed"]
    return Failures(len(failed), len(texts), _why(failed[0]) if failed else "")


def _why(document: dict[str, Any]) -> str:
    trial = trial_from_json(document)
    return str(trial.details.get("error") or ending_words(trial))
