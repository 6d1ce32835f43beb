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
    """A submission whose file and name show no values of variables and no passwords."""
    file, name = _masked(sent.specification, sent.file, sent.name)
    return replace(sent, file=file, name=name)


@lru_cache(maxsize=64)
def _masked(specification: str, file: str, name: str) -> tuple[str, str]:
    hidden = given_values(experiment_spec_from_json(json.loads(specification)))
    return mask_text(file, hidden), mask_text(name, hidden)
