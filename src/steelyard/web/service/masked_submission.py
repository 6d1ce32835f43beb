"""A submission as pages show it."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import lru_cache

from steelyard.core.json_codec import experiment_spec_from_json
from steelyard.core.masked_experiment import given_values
from steelyard.core.masking import mask_text
from steelyard.service.submissions import Submission


def without_secrets(sent: Submission) -> Submission:
    """A submission that shows no values of variables and no passwords: its file, its name, and
    what is said of its end."""
    file, *words = masked_words(sent, sent.file, sent.name, sent.stopped, sent.follow_up)
    name, stopped, follow_up = words
    return replace(sent, file=file, name=name, stopped=stopped, follow_up=follow_up)


@lru_cache(maxsize=256)
def _masked(specification: str, words: tuple[str, ...]) -> tuple[str, ...]:
    hidden = given_values(experiment_spec_from_json(json.loads(specification)))
    return tuple(mask_text(each, hidden) for each in words)


def masked_words(sent: Submission, *words: str) -> tuple[str, ...]:
    """Words about a submission, without values of its variables and without passwords."""
    return _masked(sent.specification, words)
