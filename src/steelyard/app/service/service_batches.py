"""Experiments of a service that belong together: where a build of one fails, all of them end."""

from __future__ import annotations

import json
from collections.abc import Sequence

from sqlalchemy import Connection

from steelyard.core.errors import UsageError
from steelyard.core.experiment_results import Trial
from steelyard.core.identifier import is_identifier
from steelyard.core.json_codec import experiment_spec_from_json
from steelyard.core.masked_experiment import given_values
from steelyard.core.masking import mask_text
from steelyard.service.batches import (
    UNBUILT,
    batch_of,
    cancel_batch,
    never_built,
    why_unbuilt,
)
from steelyard.service.submissions import committed_rows, find_submission


def checked_batch(batch: str) -> str:
    """The name of a batch.

    Raises
    ------
    UsageError
        It is neither empty nor an identifier.
    """
    if batch and not is_identifier(batch):
        raise UsageError(
            f"batch takes an identifier of 26 characters, not {batch[:40]!r}.", field="batch"
        )
    return batch


def end_late(connection: Connection, account_id: int, identifier: str, batch: str) -> None:
    """End an experiment that was just sent, if a build of its batch has failed before it came."""
    if batch and (why := why_unbuilt(connection, account_id, batch)):
        cancel_batch(connection, identifier, why)


def end_unbuilt(connection: Connection, identifier: str, trials: Sequence[Trial]) -> None:
    """End the batch of an experiment if one of its programs cannot be built: `trials` were just
    committed. What ran on some worker can be built, whatever another one says of it."""
    if not any(trial.reason == "build" for trial in trials) or not batch_of(connection, identifier):
        return
    sent = find_submission(connection, identifier)
    if sent is None:
        return
    ran = [json.loads(row.trial) for row in committed_rows(connection, sent.id)]
    failed = never_built((each["variant"], each["status"], each["reason"]) for each in ran)
    if failed:
        spec = experiment_spec_from_json(json.loads(sent.specification))
        # All who see another experiment of the batch are told.
        name = mask_text(spec.variants[failed[0]].name, given_values(spec))
        cancel_batch(connection, identifier, f"{name} of {identifier} {UNBUILT}")
