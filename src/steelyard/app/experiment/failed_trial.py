"""Why a trial failed, in words."""

from __future__ import annotations

from steelyard.core.ending import ending_words
from steelyard.core.experiment_results import Trial


def describe_failure(trial: Trial) -> str:
    """Why a trial failed, in a few words and its own last ones."""
    details, words = trial.details, ending_words(trial)
    told = trial.reason in ("metric", "build", "prepare", "check", "profile")
    if (told or "package" in details) and details.get("error"):
        return f"{words}: {str(details['error']).rstrip('.')}"
    last = str(details.get("stderr_tail", "")).strip().splitlines()[-1:]
    return f"{words} ({last[0]})" if last else words
