"""The store: experiments in, experiments out."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from typing import Any, get_args

from sqlalchemy import Connection, delete, insert, select

from steelyard.core.errors import StoreError
from steelyard.core.experiment_check import check_spec, is_between
from steelyard.core.experiment_results import Caution, Experiment, StopReason
from steelyard.core.experiment_spec import ExperimentSpec
from steelyard.core.field_reader import FIELD_FAULTS
from steelyard.core.json_codec import experiment_spec_from_json
from steelyard.core.units import LAST_UNIX_S
from steelyard.store.connection import bring_up_to_date, open_engine, store_errors
from steelyard.store.find_identifier import find_identifier
from steelyard.store.kept_experiments import (
    _insert_trials,
    continue_experiment,
    experiment_id,
    insert_experiment,
    read_sessions,
    read_trials,
)
from steelyard.store.merge import provenance_of
from steelyard.store.schema import dimensionings, experiments
from steelyard.store.store_location import (
    check_header,
    journal_directory,
    make_directory,
    read_header,
)
from steelyard.store.trial_chunk import dump_json

DIMENSIONING_KEY = ("benchmark", "content", "platform", "runtime", "metric")


@dataclass(frozen=True)
class Listed:
    """What a list says of an experiment, without its trials.

    `trials` and `failed` count what was run, without warm-ups; `running` says that a live
    session is adding to it.
    """

    spec: ExperimentSpec
    created_unix_s: float
    stopped: StopReason | None
    trials: int
    failed: int
    running: bool = False


@dataclass(frozen=True)
class StoredDimensioning:
    """What an initial experiment gave.

    `benchmark`, `content`, `platform` and `runtime` are digests of what `identity` says in full.
    """

    benchmark: str
    content: str
    platform: str
    runtime: str
    metric: str
    created_unix_s: float
    identity: dict[str, Any]
    result: dict[str, Any]


class Store:
    """The experiments of one file.

    Parameters
    ----------
    path : str
        The file; it and its directory are made where they are missing.

    Raises
    ------
    StoreError
        From every method: the file cannot be read or written, is damaged, belongs to another
        program or to a newer Steelyard. The message says which and what to do.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        header = read_header(path)
        check_header(path, header)
        if not header:
            make_directory(journal_directory(path))
        self._engine = open_engine(path)
        self.read_only: bool = self._engine.get_execution_options()["read_only"]
        bring_up_to_date(self._engine, path)

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A connection that reads one state of the store."""
        with store_errors(self.path), self._engine.connect() as connection, connection.begin():
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A connection of which all is kept, or nothing: alone, others wait for it."""
        engine = self._engine.execution_options(writing=True)
        with store_errors(self.path), engine.connect() as connection, connection.begin():
            yield connection

    def save(self, experiment: Experiment) -> None:
        """Keep `experiment`; one with the same identifier is continued by it.

        Everything or nothing is kept, and doing it twice changes nothing: trials go by their
        position and sessions by what they are.
        """
        with self.writing() as connection:
            identity = experiment_id(connection, experiment.spec.identifier)
            if identity is None:
                identity = insert_experiment(connection, experiment)
            else:
                continue_experiment(connection, identity, experiment)
            _insert_trials(connection, identity, experiment.trials)

    def listing(self, cautions: list[Caution] | None = None) -> tuple[Listed, ...]:
        """All experiments, the one that was added last first.

        Parameters
        ----------
        cautions : list, optional
            Takes one for each experiment that cannot be read, and is left out; without the list,
            such an experiment is a `StoreError`.
        """
        found: list[Listed] = []
        with self.reading() as connection:
            for row in connection.execute(select(experiments).order_by(experiments.c.id.desc())):
                try:
                    found.append(_listed(self.path, row))
                except StoreError as error:
                    if cautions is None:
                        raise
                    cautions.append(Caution("damaged-experiment", error.message))
        return tuple(found)

    def identifiers(self) -> tuple[str, ...]:
        """The identifiers of all experiments, the one that was added last first."""
        with self.reading() as connection:
            return _read_identifiers(connection)

    def load(self, prefix: str) -> Experiment:
        """The experiment whose identifier starts with `prefix`, or the ``latest``.

        Raises
        ------
        UsageError
            None or several start so.
        """
        with self.reading() as connection:
            identifier = find_identifier(prefix, _read_identifiers(connection))
            row = connection.execute(
                select(experiments).where(experiments.c.identifier == identifier)
            ).one()
            about = _listed(self.path, row)
            with _damage(self.path, identifier, "trials"):
                return Experiment(
                    spec=about.spec,
                    provenance=provenance_of(read_sessions(connection, row.id)),
                    created_unix_s=about.created_unix_s,
                    trials=read_trials(connection, row.id, len(about.spec.variants)),
                    stopped=about.stopped,
                )

    def save_dimensioning(self, found: StoredDimensioning) -> None:
        """Keep what an initial experiment gave, in the place of one with the same key."""
        row = {**asdict(found), "identity": dump_json(found.identity)}
        row["result"] = dump_json(found.result)
        same = [dimensionings.c[name] == row[name] for name in DIMENSIONING_KEY]
        with self.writing() as connection:
            connection.execute(delete(dimensionings).where(*same))
            connection.execute(insert(dimensionings).values(**row))

    def dimensionings(
        self, benchmark: str | None = None, metric: str | None = None
    ) -> tuple[StoredDimensioning, ...]:
        """What initial experiments gave, the newest first; of one benchmark and metric if named."""
        query = select(dimensionings).order_by(dimensionings.c.created_unix_s.desc())
        if benchmark is not None:
            query = query.where(dimensionings.c.benchmark == benchmark)
        if metric is not None:
            query = query.where(dimensionings.c.metric == metric)
        found: list[StoredDimensioning] = []
        with self.reading() as connection:
            for row in connection.execute(query):
                # What is damaged is as none: the initial experiment can be run again.
                with suppress(*FIELD_FAULTS):
                    found.append(_dimensioning(row))
        return tuple(found)

    def delete(self, identifiers: Iterable[str]) -> None:
        """Forget experiments with all that belongs to them, by their whole identifiers."""
        wanted = list(identifiers)
        with self.writing() as connection:
            connection.execute(delete(experiments).where(experiments.c.identifier.in_(wanted)))


def _read_identifiers(connection: Connection) -> tuple[str, ...]:
    query = select(experiments.c.identifier).order_by(experiments.c.id.desc())
    return tuple(str(found) for found in connection.execute(query).scalars())


@contextmanager
def _damage(path: str, identifier: str, what: str) -> Iterator[None]:
    """Turn what decoding damaged rows raises into one message."""
    try:
        yield
    except FIELD_FAULTS as error:
        told = str(error).removesuffix(".") or type(error).__name__
        told = f"it lacks {told}" if isinstance(error, KeyError) else told
        raise StoreError(
            f"The store {path} holds no readable {what} of {identifier}: {told}. "
            f"`steelyard delete {identifier}` removes it.",
            field="--store",
        ) from None


def _listed(path: str, row: Any) -> Listed:
    with _damage(path, str(row.identifier), "specification"):
        spec = experiment_spec_from_json(json.loads(row.specification))
        check_spec(spec)
        if spec.identifier != row.identifier:
            raise ValueError(f"it is that of {spec.identifier}")
        if not is_between(row.created_unix_s, 0, LAST_UNIX_S):
            raise ValueError(f"it was created at {row.created_unix_s!r}")
        if row.stopped not in (None, *get_args(StopReason)):
            raise ValueError(f"it was stopped by {row.stopped!r}")
        count, failed = int(row.trial_count), int(row.failed_count)
    return Listed(spec, float(row.created_unix_s), row.stopped, count, failed)


def _dimensioning(row: Any) -> StoredDimensioning:
    identity, result = json.loads(row.identity), json.loads(row.result)
    if not isinstance(identity, dict) or not isinstance(result, dict):
        raise ValueError("it holds no objects")
    key = [str(getattr(row, name)) for name in DIMENSIONING_KEY]
    return StoredDimensioning(
        *key, created_unix_s=float(row.created_unix_s), identity=identity, result=result
    )
