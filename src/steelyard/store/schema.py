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
