"""What came of what was run, as frozen values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from steelyard.core.experiment_spec import ExperimentSpec

StopReason = Literal["precision", "decided", "budget", "runs", "interrupted", "failures"]
TrialStatus = Literal["ok", "failed"]
FailureReason = Literal[
    "exit",
    "signal",
    "timeout",
    "spawn",
    "prepare",
    "cleanup",
    "output",
    "metric",
    "build",
    "check",
    "profile",
]


@dataclass(frozen=True, slots=True)
class Trial:
    """One execution, with all its iterations. A failed one keeps its reason.

    Parameters
    ----------
    position : int
        Its place in the plan, from 0; warm-ups count down from -1. Unique in an experiment.
    block, variant : int
        Which pass, and which of `ExperimentSpec.variants`.
    build : int
        Which build of the variant it ran; 0 where there is one.
    warmup : bool
        Run but not analysed.
    started_unix_s, spent_s : float
        When it began, and its whole cost with preparation and clean-up.
    measurements : mapping of metric name to sequence of float
        One value per iteration (a tuple, or an ``array('d')`` when there are many). A metric
        that this machine lacks is absent.
    realised : mapping
        What the launcher found to be in force (CPUs, ASLR, niceness ...).
    details : mapping
        Exit code, signal, end of the standard error of a failed trial and the like; ``costs_s``
        holds, by level, what the build and the commands of its levels took; ``layout`` what the
        runtime of a moving program did, or its ``problem``; ``profile`` what a profiler said.
    levels : tuple of int
        Which repetition of each user-named level it ran in, highest first, counted through the
        whole experiment.
    """

    position: int
    block: int
    variant: int
    warmup: bool
    status: TrialStatus
    reason: FailureReason | None
    started_unix_s: float
    spent_s: float
    measurements: Mapping[str, Sequence[float]]
    build: int = 0
    realised: Mapping[str, Any] = field(default_factory=dict[str, Any])
    details: Mapping[str, Any] = field(default_factory=dict[str, Any])
    levels: tuple[int, ...] = ()


@dataclass(frozen=True)
class Experiment:
    """An experiment as stored: its specification, where it was run, and its trials.

    `trials` is a tuple, or a `trial_table.TrialTable` where there may be a million of them.
    """

    spec: ExperimentSpec
    provenance: Mapping[str, Any]
    created_unix_s: float
    trials: Sequence[Trial]
    stopped: StopReason | None = None


@dataclass(frozen=True)
class Caution:
    """Something that a reader must know beside a number: a stable code and a sentence."""

    code: str
    message: str

    def as_json(self) -> dict[str, str]:
        """The contract's object."""
        return {"code": self.code, "message": self.message}
