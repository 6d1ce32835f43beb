"""The tables of the store. What they are made by is in migrations/; a test holds both equal."""

from __future__ import annotations

from sqlalchemy import (
    Column,
    Float,
    ForeignKey,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
)

metadata = MetaData(
    naming_convention={
        "pk": "pk_%(table_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "ix": "ix_%(table_name)s_%(column_0_name)s",
        "uq": "uq_%(table_name)s_%(column_0_name)s",
    }
)


def _belongs_to(table: str) -> ForeignKey:
    return ForeignKey(f"{table}.id", ondelete="CASCADE")


experiments = Table(
    "experiments",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("identifier", Text, nullable=False, unique=True),
    Column("kind", Text, nullable=False),
    Column("created_unix_s", Float, nullable=False),
    Column("stopped", Text),
    Column("specification", Text, nullable=False),
    # Of trials that are no warm-ups, for a list that reads none of them.
    Column("trial_count", Integer, nullable=False, server_default="0"),
    Column("failed_count", Integer, nullable=False, server_default="0"),
)

# One row for each time that the experiment was started or resumed.
sessions = Table(
    "sessions",
    metadata,
    Column("experiment_id", Integer, _belongs_to("experiments"), primary_key=True),
    Column("place", Integer, primary_key=True),
    Column("provenance", Text, nullable=False),
)

# Trials as columns, some thousands in a row: see trial_chunk.py.
trial_chunks = Table(
    "trial_chunks",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("experiment_id", Integer, _belongs_to("experiments"), nullable=False, index=True),
    Column("trial_count", Integer, nullable=False),
    Column("content", LargeBinary, nullable=False),
)

# What initial experiments gave, for each benchmark, content, platform, runtime (digests of what
# `identity` says in full) and metric. Kept also when the experiment is deleted.
dimensionings = Table(
    "dimensionings",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("benchmark", Text, nullable=False),
    Column("content", Text, nullable=False),
    Column("platform", Text, nullable=False),
    Column("runtime", Text, nullable=False),
    Column("metric", Text, nullable=False),
    Column("created_unix_s", Float, nullable=False),
    Column("identity", Text, nullable=False),
    Column("result", Text, nullable=False),
    UniqueConstraint("benchmark", "content", "platform", "runtime", "metric"),
)

# Revisions that values of tracks stand for. `position` is the place in the topological order of
# their repository, null where git does not know them; `parents` is a list as JSON.
revisions = Table(
    "revisions",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("repository", Text, nullable=False),
    Column("revision", Text, nullable=False),
    Column("position", Integer),
    Column("parents", Text, nullable=False, server_default="[]"),
    Column("committed_unix_s", Float),
    Column("subject", Text, nullable=False, server_default=""),
    UniqueConstraint("repository", "revision"),
)

# One benchmark's metric on one host along the revisions of a branch.
tracks = Table(
    "tracks",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("repository", Text, nullable=False),
    Column("branch", Text, nullable=False),
    Column("benchmark", Text, nullable=False),
    Column("metric", Text, nullable=False),
    Column("host", Text, nullable=False),
    Column("unit", Text, nullable=False),
    Column("direction", Text, nullable=False),
    UniqueConstraint("repository", "branch", "benchmark", "metric", "host"),
)

# What was measured of a track at a revision. `source` is an experiment's identifier or the digest
# of a file; `fingerprint` is a digest of the value itself, so that adding it twice changes nothing.
# `observations` are the values of single trials as little-endian doubles.
track_values = Table(
    "track_values",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("track_id", Integer, _belongs_to("tracks"), nullable=False),
    Column("revision_id", Integer, _belongs_to("revisions"), nullable=False),
    Column("first_revision", Text),
    # Where the source puts it along the track, for revisions without a repository.
    Column("place", Integer),
    Column("value", Float, nullable=False),
    Column("low", Float),
    Column("high", Float),
    Column("confidence", Float),
    Column("trial_count", Integer, nullable=False),
    Column("observations", LargeBinary),
    Column("measured_unix_s", Float),
    Column("source", Text, nullable=False),
    Column("fingerprint", LargeBinary, nullable=False),
    UniqueConstraint("track_id", "fingerprint"),
)

# What was done about a change of a track: acknowledged, put off until a time, confirmed or refuted
# by a run, told. The newest of a sort counts.
change_notes = Table(
    "change_notes",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("track_id", Integer, _belongs_to("tracks"), nullable=False, index=True),
    Column("revision", Text, nullable=False),
    Column("sort", Text, nullable=False),
    Column("created_unix_s", Float, nullable=False),
    Column("until_unix_s", Float),
    Column("experiment", Text),
    Column("note", Text, nullable=False, server_default=""),
)

# Searches for the revision of a change. `question` is a digest of what is asked: the same question
# goes on where it was.
bisections = Table(
    "bisections",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("question", Text, nullable=False, index=True),
    Column("created_unix_s", Float, nullable=False),
    Column("specification", Text, nullable=False),
    Column("result", Text),
)

bisection_steps = Table(
    "bisection_steps",
    metadata,
    Column("bisection_id", Integer, _belongs_to("bisections"), primary_key=True),
    Column("place", Integer, primary_key=True),
    Column("content", Text, nullable=False),
)
