"""The experiments of a store, for Python programs."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from steelyard.api.weighed_experiment import Weighed


@dataclass(frozen=True)
class Stored:
    """What a list says of an experiment.

    Parameters
    ----------
    experiment : str
        Its identifier.
    kind : str
        ``measurement``, ``comparison`` ...
    created : datetime
        In UTC.
    variants : tuple of str
    trials, failed : int
        Without warm-ups.
    stopped : str or None
        Why it ended; None while it is running or where it was killed.
    running : bool
    """

    experiment: str
    kind: str
    created: datetime
    variants: tuple[str, ...]
    trials: int
    failed: int
    stopped: str | None
    running: bool


class ExperimentStore:
    """The experiments in the file `path`; None: the user's own."""

    def __init__(self, path: str | None = None) -> None:
        self.path = path

    def experiments(self) -> tuple[Stored, ...]:
        """All of them, the one that was added last first."""
        from steelyard.app.results.library import open_library

        with open_library(self.path) as library:
            return tuple(
                Stored(
                    listed.spec.identifier,
                    listed.spec.kind,
                    datetime.fromtimestamp(listed.created_unix_s, UTC),
                    tuple(variant.name for variant in listed.spec.variants),
                    listed.trials,
                    listed.failed,
                    listed.stopped,
                    listed.running,
                )
                for listed in library.listing()
            )

    def load(self, experiment: str = "latest", metric: str | None = None) -> Weighed:
        """One of them with its answer; secrets are masked.

        Parameters
        ----------
        experiment : str
            Its identifier, the first characters of it, or ``latest``.
        metric : str, optional
            What to report on instead of its first metric.

        Raises
        ------
        UsageError
            There is none of this name, or it has no such metric.
        """
        from steelyard.app.experiment.weigh import Weighing
        from steelyard.app.results.library import open_library
        from steelyard.app.results.stored_answer import answered

        with open_library(self.path) as library:
            loaded = library.answerable(experiment)
        return Weighed(Weighing(loaded, answered(loaded, metric)), self.path)


def open_store(path: str | None = None) -> ExperimentStore:
    """The experiments in the file `path`; without one, those that the command line lists."""
    return ExperimentStore(path)
