"""What an executor is: it runs parts of an experiment's plan somewhere, and gives their trials.

A part is some trials that stay together on one machine: the warm-ups of a session, or those of a
block. Whoever plans gives parts and takes trials, and does not know where they run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from steelyard.core.experiment_results import Trial
from steelyard.core.experiment_spec import ExperimentSpec
from steelyard.design.blocks import PlannedTrial
from steelyard.measure.trial_journal import JournalWriter

if TYPE_CHECKING:
    from steelyard.host.quiet import QuietState


def tell_nobody(_: object) -> None:
    """For what nobody wants to hear."""


@dataclass(frozen=True)
class Workplace:
    """What an executor is given besides the experiment.

    Parameters
    ----------
    outputs, logs : str
        Directories: for what trials leave while they run, and for logs that are kept. Neither is
        there yet.
    wait : bool
        Wait while another measurement holds the machine.
    say, tell_quiet : callable
        Told that it waits, and what was made quiet.
    """

    outputs: str
    logs: str
    wait: bool = False
    say: Callable[[str], None] = tell_nobody
    tell_quiet: Callable[[QuietState], None] = tell_nobody


class OpenExecutor(Protocol):
    """Runs parts of the plan of one experiment."""

    @property
    def builds(self) -> Sequence[Mapping[str, Any]]:
        """A line on each build that was made so far."""
        ...

    def submit(self, part: Sequence[PlannedTrial]) -> None:
        """Run these trials on one machine, in this order, after what was submitted before."""
        ...

    def take(self) -> Iterable[Trial]:
        """The trials that have ended; waits for one, but not much longer than a second."""
        ...

    def abandon(self) -> list[Trial]:
        """End what runs, forget what waits, and give the trials that had ended."""
        ...


class ReadyExecutor(Protocol):
    """An executor that knows its experiment, and holds what it takes to run it."""

    @property
    def provenance(self) -> dict[str, Any]:
        """What trials will run on, and which programs."""
        ...

    def open(self, journal: JournalWriter) -> AbstractContextManager[OpenExecutor]:
        """Begin to run. Each trial is a line of `journal` before it is given; leaving ends what
        runs.

        Raises
        ------
        UsageError, MissingCapabilityError
            A program is not there, or cannot be run as it is asked for.
        """
        ...


class Executor(Protocol):
    """A place where trials can be run."""

    @property
    def name(self) -> str:
        """What it is called."""
        ...

    @property
    def description(self) -> str:
        """Where it runs trials, in a sentence."""
        ...

    def ready(
        self, spec: ExperimentSpec, place: Workplace
    ) -> AbstractContextManager[ReadyExecutor]:
        """Take what the experiment needs; leaving gives it back.

        Raises
        ------
        BusyError, UsageError, MissingCapabilityError
            The experiment cannot be run there, or not now; nothing of it is left behind.
        """
        ...
