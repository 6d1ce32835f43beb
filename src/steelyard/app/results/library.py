"""The experiments of a store: list, load, delete, import and export.

Opening the library first takes in the journals that lie beside the store, so that whatever was
measured, in a session that ended or in one that was killed, is there.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from steelyard.core.decoding import decoding
from steelyard.core.errors import BusyError, DataError
from steelyard.core.experiment_check import check_experiment
from steelyard.core.experiment_results import Caution, Experiment
from steelyard.core.identifier import is_identifier
from steelyard.core.masked_experiment import masked_experiment
from steelyard.store.store_location import log_directory, store_path

if TYPE_CHECKING:
    import pyarrow

    from steelyard.store.database import Listed, Store


@dataclass(frozen=True)
class Exported:
    """An experiment that was written to a file, and what the file could not hold."""

    experiment: Experiment
    format: str
    cautions: tuple[Caution, ...]


@dataclass(frozen=True)
class Imported:
    """An experiment of a file, and what of the file could not be used."""

    experiment: Experiment
    cautions: tuple[Caution, ...]


class Library:
    """The experiments of one store, and those that are being measured into it.

    `cautions` tell of journals that could not be taken whole.
    """

    def __init__(
        self, store: Store, live: Iterable[Experiment] = (), cautions: Iterable[Caution] = ()
    ) -> None:
        self.store = store
        self.cautions = tuple(cautions)
        self._live = {experiment.spec.identifier: experiment for experiment in live}

    def listing(self) -> tuple[Listed, ...]:
        """All experiments, the one that was added last first.

        One that cannot be read is left out; `cautions` tell of it from then on.
        """
        damaged: list[Caution] = []
        stored = {found.spec.identifier: found for found in self.store.listing(damaged)}
        self.cautions = (*self.cautions, *(c for c in damaged if c not in self.cautions))
        for identifier in self._live:
            stored[identifier] = _listed_live(self.load(identifier))
        return tuple(stored[found] for found in self._identifiers() if found in stored)

    def _identifiers(self) -> list[str]:
        """Of all experiments, the one that was added last first: those that are not stored yet."""
        known = self.store.identifiers()
        live = sorted(self._live.values(), key=lambda e: e.created_unix_s, reverse=True)
        new = [e.spec.identifier for e in live if e.spec.identifier not in known]
        return [*new, *known]

    def find(self, prefix: str) -> str:
        """The whole identifier of the experiment that `prefix` names.

        ``latest`` is the one that was added last: measured, or imported.

        Raises
        ------
        UsageError
            None or several start so.
        """
        from steelyard.store.find_identifier import find_identifier

        return find_identifier(prefix, self._identifiers())

    def load(self, prefix: str) -> Experiment:
        """The experiment that `prefix` names, with what a running session has added so far."""
        from steelyard.store.merge import merge_experiments

        identifier = self.find(prefix)
        live = self._live.get(identifier)
        if live is None:
            return self.store.load(identifier)
        if identifier not in self.store.identifiers():
            return live
        return merge_experiments(self.store.load(identifier), live)

    def shown(self, prefix: str, hidden: Sequence[str] | None = ()) -> Experiment:
        """The same as it may be shown: without secrets, and without the values `hidden` in what
        programs wrote; all of it for None."""
        experiment = self.load(prefix)
        return experiment if hidden is None else masked_experiment(experiment, hidden)

    def answerable(self, prefix: str, hidden: Sequence[str] | None = ()) -> Experiment:
        """The same with a variant for each program and benchmark, where executions ran several."""
        from steelyard.analysis.comparison.by_benchmark import by_benchmark

        return by_benchmark(self.shown(prefix, hidden))

    def is_running(self, identifier: str) -> bool:
        """Whether a session is adding to the experiment now."""
        return identifier in self._live

    def save(self, experiment: Experiment) -> None:
        """Keep an experiment; one with the same identifier is continued by it."""
        self.store.save(experiment)

    def delete(self, prefixes: Iterable[str]) -> tuple[str, ...]:
        """Forget experiments, all of those named or none; the identifiers of them.

        Raises
        ------
        UsageError
            A name fits none or several.
        BusyError
            One of them is being measured.
        """
        identifiers = tuple(dict.fromkeys(self.find(prefix) for prefix in prefixes))
        for identifier in identifiers:
            if self.is_running(identifier):
                raise BusyError(
                    f"The experiment {identifier} is being measured. Stop that first; nothing "
                    "was deleted.",
                    field="experiment",
                )
        self.store.delete(identifiers)
        for identifier in filter(is_identifier, identifiers):  # Else it may be a path.
            shutil.rmtree(log_directory(self.store.path, identifier), ignore_errors=True)
        return identifiers

    def import_file(self, path: str, format_name: str | None = None) -> Imported:
        """Keep the experiment of a file; its format is found by its content unless named.

        Raises
        ------
        DataError
            The file is not what it should be, or another experiment has its identifier.
        """
        from steelyard.store.harness_experiment import left_out

        experiment = read_experiment(path, format_name)
        identifier = experiment.spec.identifier
        if identifier in self.store.identifiers():
            kept = self.store.load(identifier)
            if not _same(kept, experiment):
                raise DataError(
                    f"{path} holds the experiment {identifier}, which the store has with other "
                    f"content. `steelyard delete {identifier}` makes room for it.",
                    field="identifier",
                )
        else:
            self.save(experiment)
        return Imported(experiment, tuple(left_out(experiment)))

    def export_file(
        self,
        prefix: str,
        format_name: str,
        path: str,
        hidden: Sequence[str] | None = (),
        variant: str | None = None,
    ) -> Exported:
        """Write an experiment, or one variant of it, to a file that appears whole or not at all."""
        from steelyard.app.results.one_side import one_side
        from steelyard.store.file_format import writer_of
        from steelyard.store.formats import FORMATS

        chosen = FORMATS.get(format_name)
        whole = chosen.name == "steelyard-json"
        experiment = self.shown(prefix, hidden) if whole else self.answerable(prefix, hidden)
        if variant is not None:
            experiment = one_side(experiment, variant)
        return Exported(experiment, chosen.name, tuple(writer_of(chosen)(experiment, path)))


def measurements_table(experiment: Experiment) -> pyarrow.Table:
    """One row a measurement, in the columns of the table formats."""
    from steelyard.store.arrow_table import arrow_table

    return arrow_table(experiment)


def read_experiment(path: str, format_name: str | None = None) -> Experiment:
    """The experiment of a file, which is kept nowhere.

    Raises
    ------
    DataError
        The file is not what it should be.
    """
    from steelyard.store.file_format import detect_format, reader_of
    from steelyard.store.formats import FORMATS

    chosen = FORMATS.get(format_name) if format_name else detect_format(path, FORMATS)
    with decoding(f"{path} is not what {chosen.name} is"):
        experiment = reader_of(chosen)(path)
    try:
        check_experiment(experiment)
    except DataError as error:
        raise DataError(f"{path}: {error.message}", field=error.field) from None
    return experiment


@contextmanager
def open_library(store: str | None) -> Iterator[Library]:
    """The library of the store in the file `store`, with its ended journals taken in.

    Parameters
    ----------
    store : str or None
        None: the file that the environment names, else the user's own.

    Raises
    ------
    StoreError
        The store cannot be read or written; the message says what to do.
    """
    from steelyard.executors.local.left_files import left_line
    from steelyard.measure.journal_reader import read_journal, salvage_journal
    from steelyard.store.database import Store
    from steelyard.store.journals import absorb_journals

    opened = Store(store_path(store))
    absorbed = absorb_journals(
        opened, partial(read_journal, take=left_line), partial(salvage_journal, take=left_line)
    )
    yield Library(opened, absorbed.live, absorbed.cautions)


def _listed_live(experiment: Experiment) -> Listed:
    from steelyard.store.database import Listed

    kept = [trial for trial in experiment.trials if not trial.warmup]
    return Listed(
        spec=experiment.spec,
        created_unix_s=experiment.created_unix_s,
        stopped=None,
        trials=len(kept),
        failed=sum(trial.status == "failed" for trial in kept),
        running=True,
    )


def _same(left: Experiment, right: Experiment) -> bool:
    """Whether both are one experiment, though secrets may be left out of one of them."""
    return _plain(masked_experiment(left)) == _plain(masked_experiment(right))


def _plain(experiment: Experiment) -> Experiment:
    """With every sequence of values as a tuple, which an array is not equal to, and without what
    programs wrote, in which more may have been masked."""
    trials = tuple(
        replace(
            trial,
            measurements={k: tuple(v) for k, v in trial.measurements.items()},
            details={},
        )
        for trial in experiment.trials
    )
    return replace(experiment, trials=trials, provenance={})


def format_of_file_name(path: str) -> str:
    """The name of the format that the end of a file's name stands for.

    Raises
    ------
    UsageError
        It stands for none; the message lists the formats that can be written.
    """
    from steelyard.store.file_format import format_for_name
    from steelyard.store.formats import FORMATS

    return format_for_name(path, FORMATS).name
