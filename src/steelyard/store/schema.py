"""The tables of the store. What they are made by is in migrations/; a test holds both equal."""

from __future__ import annotations

from sqlalchemy import (
    Boolean,
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
)

# One row for each time that the experiment was started or resumed.
sessions = Table(
    "sessions",
    metadata,
    Column("experiment_id", Integer, _belongs_to("experiments"), primary_key=True),
    Column("place", Integer, primary_key=True),
    Column("provenance", Text, nullable=False),
)

trials = Table(
    "trials",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("experiment_id", Integer, _belongs_to("experiments"), nullable=False),
    Column("position", Integer, nullable=False),
    Column("block", Integer, nullable=False),
    Column("variant", Integer, nullable=False),
    Column("build", Integer, nullable=False),
    Column("warmup", Boolean, nullable=False),
    Column("status", Text, nullable=False),
    Column("reason", Text),
    Column("started_unix_s", Float, nullable=False),
    Column("spent_s", Float, nullable=False),
    Column("realised", Text, nullable=False),
    Column("details", Text, nullable=False),
    Column("levels", Text, nullable=False, server_default="[]"),
    UniqueConstraint("experiment_id", "position"),
)

# All iterations of one metric of one trial, as little-endian IEEE 754 doubles: a row for each
# value would make a million rows of what is 8 MB.
measurements = Table(
    "measurements",
    metadata,
    Column("trial_id", Integer, _belongs_to("trials"), primary_key=True),
    Column("metric", Text, primary_key=True),
    Column("values_f64le", LargeBinary, nullable=False),
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
