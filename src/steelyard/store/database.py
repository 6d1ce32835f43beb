"""The store: experiments in, experiments out."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any

from sqlalchemy import Connection, delete, func, insert, select, update

from steelyard.core.errors import DataError, StoreError, UsageError
from steelyard.core.identifier import LENGTH
from steelyard.core.json_codec import experiment_spec_from_json
from steelyard.core.model import Experiment, ExperimentSpec, StopReason, Trial
from steelyard.store.connection import bring_up_to_date, open_engine, store_errors
from steelyard.store.location import check_header, journal_directory, make_directory, read_header
from steelyard.store.merge import new_sessions, provenance_of, sessions_of
from steelyard.store.rows import TrialReader, dump_json, measurement_rows, trial_row, unpack_values
from steelyard.store.schema import dimensionings, experiments, measurements, sessions, trials

LATEST = "latest"
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
    def _reading(self) -> Iterator[Connection]:
        with store_errors(self.path), self._engine.connect() as connection, connection.begin():
            yield connection

    @contextmanager
    def _writing(self) -> Iterator[Connection]:
        engine = self._engine.execution_options(writing=True)
        with store_errors(self.path), engine.connect() as connection, connection.begin():
            yield connection

    def save(self, experiment: Experiment) -> None:
        """Keep `experiment`; one with the same identifier is continued by it.

        Everything or nothing is kept, and doing it twice changes nothing: trials go by their
        position and sessions by what they are.
        """
        with self._writing() as connection:
            identity = _experiment_id(connection, experiment.spec.identifier)
            if identity is None:
                identity = _insert_experiment(connection, experiment)
            else:
                _continue_experiment(connection, identity, experiment)
            _insert_trials(connection, identity, experiment.trials)

    def listing(self) -> tuple[Listed, ...]:
        """All experiments, the newest first."""
        counted = (
            select(
                trials.c.experiment_id,
                func.count().label("trials"),
                func.count().filter(trials.c.status == "failed").label("failed"),
            )
            .where(~trials.c.warmup)
            .group_by(trials.c.experiment_id)
            .subquery()
        )
        query = (
            select(experiments, counted.c.trials, counted.c.failed)
            .outerjoin(counted, counted.c.experiment_id == experiments.c.id)
            .order_by(experiments.c.identifier.desc())
        )
        with self._reading() as connection:
            return tuple(
                Listed(
                    spec=_read_spec(self.path, row),
                    created_unix_s=row.created_unix_s,
                    stopped=row.stopped,
                    trials=row.trials or 0,
                    failed=row.failed or 0,
                )
                for row in connection.execute(query)
            )

    def identifiers(self) -> tuple[str, ...]:
        """The identifiers of all experiments, the newest first."""
        with self._reading() as connection:
            return _read_identifiers(connection)

    def load(self, prefix: str) -> Experiment:
        """The experiment whose identifier starts with `prefix`, or the ``latest``.

        Raises
        ------
        UsageError
            None or several start so.
        """
        with self._reading() as connection:
            identifier = find_identifier(prefix, _read_identifiers(connection))
            row = connection.execute(
                select(experiments).where(experiments.c.identifier == identifier)
            ).one()
            return Experiment(
                spec=_read_spec(self.path, row),
                provenance=provenance_of(_read_sessions(connection, row.id)),
                created_unix_s=row.created_unix_s,
                trials=_read_trials(connection, row.id),
                stopped=row.stopped,
            )

    def save_dimensioning(self, found: StoredDimensioning) -> None:
        """Keep what an initial experiment gave, in the place of one with the same key."""
        row = {**asdict(found), "identity": dump_json(found.identity)}
        row["result"] = dump_json(found.result)
        same = [dimensionings.c[name] == row[name] for name in DIMENSIONING_KEY]
        with self._writing() as connection:
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
        with self._reading() as connection:
            return tuple(
                StoredDimensioning(
                    *(getattr(row, name) for name in DIMENSIONING_KEY),
                    created_unix_s=row.created_unix_s,
                    identity=json.loads(row.identity),
                    result=json.loads(row.result),
                )
                for row in connection.execute(query)
            )

    def delete(self, identifiers: Iterable[str]) -> None:
        """Forget experiments with all that belongs to them, by their whole identifiers."""
        wanted = list(identifiers)
        with self._writing() as connection:
            connection.execute(delete(experiments).where(experiments.c.identifier.in_(wanted)))


def find_identifier(prefix: str, identifiers: Sequence[str]) -> str:
    """The one of `identifiers` that starts with `prefix`; ``latest`` is the greatest.

    Raises
    ------
    UsageError
        None or several do; the message says how to go on.
    """
    if not identifiers:
        raise UsageError(
            "The store holds no experiment yet. `steelyard measure` or `steelyard compare` "
            "makes one.",
            field="experiment",
        )
    if prefix.lower() == LATEST:
        return max(identifiers)
    found = [known for known in identifiers if prefix and known.startswith(prefix.upper())]
    if len(found) == 1:
        return found[0]
    if not found:
        raise UsageError(
            f"There is no experiment {prefix!r}. `steelyard list` names those that there are.",
            field="experiment",
        )
    shown = ", ".join(sorted(found)[:4])
    more = f" and {len(found) - 4} more" if len(found) > 4 else ""
    raise UsageError(
        f"{len(found)} experiments start with {prefix!r}: {shown}{more}. Give more of its "
        f"{LENGTH} characters.",
        field="experiment",
    )


def _experiment_id(connection: Connection, identifier: str) -> int | None:
    query = select(experiments.c.id).where(experiments.c.identifier == identifier)
    return connection.execute(query).scalar_one_or_none()


def _insert_experiment(connection: Connection, experiment: Experiment) -> int:
    result = connection.execute(
        insert(experiments)
        .values(
            identifier=experiment.spec.identifier,
            kind=experiment.spec.kind,
            created_unix_s=experiment.created_unix_s,
            stopped=experiment.stopped,
            specification=dump_json(experiment.spec),
        )
        .returning(experiments.c.id)
    )
    identity = result.scalar_one()
    _insert_sessions(connection, identity, sessions_of(experiment.provenance), first=0)
    return identity


def _continue_experiment(connection: Connection, identity: int, later: Experiment) -> None:
    created = select(experiments.c.created_unix_s).where(experiments.c.id == identity)
    known = _read_sessions(connection, identity)
    # Through JSON, as those that are stored have gone.
    given = json.loads(dump_json(sessions_of(later.provenance)))
    added = new_sessions(
        known, connection.execute(created).scalar_one(), given, later.created_unix_s
    )
    connection.execute(
        update(experiments)
        .where(experiments.c.id == identity)
        .values(stopped=later.stopped, specification=dump_json(later.spec))
    )
    _insert_sessions(connection, identity, added, first=len(known))


def _insert_sessions(
    connection: Connection, identity: int, added: Sequence[dict[str, Any]], first: int
) -> None:
    rows = [
        {"experiment_id": identity, "place": first + index, "provenance": dump_json(session)}
        for index, session in enumerate(added)
    ]
    if rows:
        connection.execute(insert(sessions), rows)


def _insert_trials(connection: Connection, identity: int, given: Sequence[Trial]) -> None:
    query = select(trials.c.position).where(trials.c.experiment_id == identity)
    known = set(connection.execute(query).scalars())
    new = [trial for trial in given if trial.position not in known]
    if not new:
        return
    last = connection.execute(select(func.max(trials.c.id))).scalar_one() or 0
    numbered = list(enumerate(new, start=last + 1))
    connection.execute(insert(trials), [trial_row(t, number, identity) for number, t in numbered])
    values = [row for number, trial in numbered for row in measurement_rows(trial, number)]
    if values:
        connection.execute(insert(measurements), values)


def _read_identifiers(connection: Connection) -> tuple[str, ...]:
    query = select(experiments.c.identifier).order_by(experiments.c.identifier.desc())
    return tuple(connection.execute(query).scalars())


def _read_spec(path: str, row: Any) -> ExperimentSpec:
    try:
        return experiment_spec_from_json(json.loads(row.specification))
    except (ValueError, DataError) as error:
        told = str(error).removesuffix(".")
        raise StoreError(
            f"The store {path} holds no readable specification of {row.identifier}: {told}. "
            f"`steelyard delete {row.identifier}` removes it."
        ) from None


def _read_sessions(connection: Connection, identity: int) -> list[dict[str, Any]]:
    query = (
        select(sessions.c.provenance)
        .where(sessions.c.experiment_id == identity)
        .order_by(sessions.c.place)
    )
    return [json.loads(found) for found in connection.execute(query).scalars()]


def _read_trials(connection: Connection, identity: int) -> tuple[Trial, ...]:
    taken: dict[int, dict[str, Sequence[float]]] = defaultdict(dict)
    query = (
        select(measurements)
        .join(trials, trials.c.id == measurements.c.trial_id)
        .where(trials.c.experiment_id == identity)
    )
    for trial_id, metric, data in connection.execute(query):
        taken[trial_id][metric] = unpack_values(data)
    reader = TrialReader()
    rows = connection.execute(
        select(trials).where(trials.c.experiment_id == identity).order_by(trials.c.position)
    )
    return tuple(reader.trial(row, taken.get(row.id, {})) for row in rows)
