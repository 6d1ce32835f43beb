"""Why a trial failed, in words."""

from __future__ import annotations

from steelyard.core.experiment_results import Trial


def describe_failure(trial: Trial) -> str:
    """Why a trial failed, in a few words and its own last ones."""
    details = trial.details
    words = {
        "exit": f"exit code {details.get('exit_code')}",
        "signal": f"ended by signal {details.get('signal')}",
        "timeout": "ran into the timeout",
        "spawn": "could not be started",
        "prepare": "its preparation failed",
        "cleanup": "its clean-up failed",
        "output": "wrote more output than the limit",
        "metric": "did not print the metric",
        "build": "its build failed",
        "check": "its output is not what it should be",
        "profile": "its profile cannot be read",
    }[trial.reason or "exit"]
    if trial.reason in ("metric", "build", "prepare", "check", "profile") and details.get("error"):
        return f"{words}: {str(details['error']).rstrip('.')}"
    last = str(details.get("stderr_tail", "")).strip().splitlines()[-1:]
    return f"{words} ({last[0]})" if last else words
