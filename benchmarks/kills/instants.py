"""When a fault comes: spread over the phases of what it befalls."""

from __future__ import annotations

import random
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from benchmarks.kills.scenarios import Scenario

# About as long as a trial, the start of Steelyard, and what it does after the last trial take.
TRIAL_S = 0.05
STARTING_S = 0.6
ENDING_S = 0.3


@dataclass(frozen=True)
class Instant:
    """So long after so many trials have ended.

    Parameters
    ----------
    phase : str
        `start`, `trial`, `end`, or `any` where no trials are counted.
    ended : int
        How many trials end before it.
    after_s : float
    """

    phase: str
    ended: int
    after_s: float


def draw_instant(scenario: Scenario, draw: random.Random) -> Instant:
    """A phase and an instant in it; each trial is as likely as all that is before or behind."""
    if not scenario.trials:
        return Instant("any", 0, draw.uniform(0.0, scenario.lasts_s))
    place = draw.randrange(scenario.trials + 3)
    if place < 2:
        return Instant("start", 0, draw.uniform(0.0, STARTING_S))
    if place >= scenario.trials + 1:
        return Instant("end", scenario.trials, draw.uniform(0.0, ENDING_S))
    return Instant("trial", place - 1, draw.uniform(0.0, TRIAL_S))


def wait_until(instant: Instant, process: subprocess.Popen[bytes], log: Path) -> None:
    """Sleep until it has come, or the process has ended."""
    while process.poll() is None and _ended(log) < instant.ended:
        time.sleep(0.002)
    time.sleep(instant.after_s)


def _ended(log: Path) -> int:
    """How many programs have written their line of two bytes."""
    return log.stat().st_size // 2 if log.exists() else 0
