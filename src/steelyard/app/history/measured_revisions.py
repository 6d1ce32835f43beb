"""Revisions of a repository, built and measured against one another by the engine."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from steelyard.app.request.command_text import fill, split_command
from steelyard.app.request.experiment_request import build_experiment, build_metrics
from steelyard.app.request.request import Request
from steelyard.build.run_build import remove_directories, run_build
from steelyard.core.build_spec import BuildSpec
from steelyard.core.errors import BuildFailedError, TrialsFailedError
from steelyard.core.experiment_results import Experiment
from steelyard.core.experiment_spec import ExperimentSpec
from steelyard.core.stopping_spec import StoppingSpec
from steelyard.repository.revisions import Repository
from steelyard.repository.work_tree import kept_folder, work_tree
from steelyard.run.run_experiment import Place, run_experiment
from steelyard.store.store_location import journal_directory

USUAL_METRIC = "wall_time"


@dataclass(frozen=True)
class RevisionCommands:
    """How a revision is made and run.

    Parameters
    ----------
    run : str
        The command that is measured, in the directory of the build; ``{build}`` stands for it.
    build : str or None
        A command of the shell, run in a copy of the revision's files; None where nothing is built.
    metric : str or None
        What is measured of it; None takes the metric of the track where it can be measured, else
        the time.
    timeout_s, build_timeout_s : float or None
        After which a run or a build has failed.
    parallel : bool
        Revisions of a block run at the same time, on CPUs of their own.
    """

    run: str
    build: str | None = None
    metric: str | None = None
    timeout_s: float | None = None
    build_timeout_s: float | None = None
    parallel: bool = False


@dataclass(frozen=True)
class Judging:
    """How long revisions are compared: until the verdict is decided, or for a number of runs."""

    confidence: float
    margin_ratio: float
    budget_s: float | None = None
    runs: int | None = None


class RevisionRuns:
    """Builds revisions as they are asked for, and measures them.

    Builds are kept until the end; see `revision_runs`.
    """

    def __init__(
        self, repository: Repository, commands: RevisionCommands, place: Place, folder: str
    ) -> None:
        self.repository = repository
        self.commands = commands
        self.place = place
        self._folder = folder
        self._built: dict[str, str] = {}

    def built(self, revision: str) -> str:
        """The directory of a revision's build.

        Raises
        ------
        BuildFailedError
            It does not build.
        """
        if revision in self._built:
            return self._built[revision]
        directory = os.path.join(self._folder, revision)
        tree = os.path.join(self._folder, "tree")
        try:
            with work_tree(self.repository, revision, tree):
                argv = ("/bin/sh", "-c", self.commands.build or ":")
                spec = BuildSpec(argv, source=tree, timeout_s=self.commands.build_timeout_s)
                run_build(spec, 0, directory)
        except BuildFailedError:
            remove_directories(directory)
            raise
        self._built[revision] = directory
        return directory

    def forget(self, revision: str) -> None:
        """Give back the room of a revision's build."""
        directory = self._built.pop(revision, None)
        if directory is not None:
            remove_directories(directory)

    def compared(
        self, base: str, candidate: str, judging: Judging, note: str, metric: str = ""
    ) -> Experiment:
        """An experiment of both revisions in blocks, which the store keeps.

        Parameters
        ----------
        metric : str, optional
            That of the track, which is measured where nothing else is asked for.

        Raises
        ------
        BuildFailedError
            One of them does not build.
        TrialsFailedError
            No trial of one of them succeeded.
        """
        directories = [self.built(base), self.built(candidate)]
        names = (f"{base[:12]} (base)", f"{candidate[:12]} (candidate)")
        spec = self._spec(directories, names, judging, note)
        spec = replace(spec, metrics=build_metrics((self._metric(metric),)))
        experiment = run_experiment(spec, self.place)
        for index, revision in enumerate((base, candidate)):
            own = [t for t in experiment.trials if t.variant == index and not t.warmup]
            if not any(trial.status == "ok" for trial in own):
                raise TrialsFailedError(
                    f"No trial of {revision[:12]} succeeded. `steelyard show "
                    f"{experiment.spec.identifier}` lists why.",
                    field="--run",
                )
        return experiment

    def _metric(self, of_track: str) -> str:
        from steelyard.measure.metrics import METRICS

        if self.commands.metric is not None:
            return self.commands.metric
        return of_track if of_track in METRICS else USUAL_METRIC

    def _spec(
        self, directories: list[str], names: tuple[str, ...], judging: Judging, note: str
    ) -> ExperimentSpec:
        words = split_command(self.commands.run, "--run")
        request = Request(
            commands=(words,) * len(directories),
            names=names,
            order="parallel" if self.commands.parallel else "blocks",
            timeout_s=self.commands.timeout_s,
            stopping=StoppingSpec(
                until="decided", budget_s=judging.budget_s, runs=judging.runs, budget_blocks=3
            ),
            confidence=judging.confidence,
            margin_ratio=judging.margin_ratio,
            note=note,
        )
        spec = build_experiment(request)
        variants = tuple(
            replace(
                variant,
                launch=replace(
                    variant.launch,
                    argv=tuple(fill(w, (("build", directory),)) for w in variant.launch.argv),
                    working_directory=directory,
                ),
            )
            for variant, directory in zip(spec.variants, directories, strict=True)
        )
        return replace(spec, variants=variants)


@contextmanager
def revision_runs(
    repository: Repository, commands: RevisionCommands, place: Place
) -> Iterator[RevisionRuns]:
    """Builds and runs of revisions; what was built goes away in the end, also after a kill."""
    folder = os.path.join(journal_directory(place.store), f"revisions-{os.getpid()}.work")
    with kept_folder(repository, folder):
        yield RevisionRuns(repository, commands, place, folder)
