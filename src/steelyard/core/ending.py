"""How a trial ended, in words."""

from __future__ import annotations

import signal
from typing import Any

from steelyard.core.experiment_results import Trial

# A shell whose program a signal has ended gives this exit code and the signal's number more.
_SHELL_SIGNAL = 128
_SHELL_CODES = {126: "the program cannot be executed", 127: "a shell did not find the program"}


def signal_name(number: Any) -> str:
    """The name and number of a signal, such as ``SIGSEGV (signal 11)``."""
    try:
        return f"{signal.Signals(int(number)).name} (signal {number})"
    except (TypeError, ValueError):
        return f"signal {number}"


def exit_words(code: Any) -> str:
    """An exit code, with what it usually means where a shell gives it."""
    words = f"exit code {code}"
    if not isinstance(code, int):
        return words
    if code in _SHELL_CODES:
        return f"{words}: {_SHELL_CODES[code]}"
    if _SHELL_SIGNAL < code <= _SHELL_SIGNAL + 64:
        number = code - _SHELL_SIGNAL
        if number in {member.value for member in signal.Signals}:
            return f"{words}: a shell's for {signal_name(number)}"
    return words


def ending_words(trial: Trial) -> str:
    """Why a failed trial failed, in a few words."""
    details = trial.details
    return {
        "exit": exit_words(details.get("exit_code")),
        "signal": f"ended by {signal_name(details.get('signal'))}",
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


def describe_failure(trial: Trial) -> str:
    """Why a trial failed, in a few words and its own last ones."""
    details, words = trial.details, ending_words(trial)
    told = trial.reason in ("metric", "build", "prepare", "check", "profile")
    if (told or "package" in details) and details.get("error"):
        return f"{words}: {str(details['error']).rstrip('.')}"
    last = str(details.get("stderr_tail", "")).strip().splitlines()[-1:]
    return f"{words} ({last[0]})" if last else words
