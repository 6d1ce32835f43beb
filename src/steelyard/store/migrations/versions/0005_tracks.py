"""Tracks along revisions, what was done about their changes, and searches for revisions."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    _create_revisions()
    _create_tracks()
    _create_values()
    _create_notes()
    _create_bisections()


def _create_revisions() -> None:
    op.create_table(
        "revisions",
        sa.Column("id", sa.Integer, nullable=False),
        sa.Column("repository", sa.Text, nullable=False),
        sa.Column("revision", sa.Text, nullable=False),
        sa.Column("position", sa.Integer),
        sa.Column("parents", sa.Text, nullable=False, server_default="[]"),
        sa.Column("committed_unix_s", sa.Float),
        sa.Column("subject", sa.Text, nullable=False, server_default=""),
        sa.PrimaryKeyConstraint("id", name="pk_revisions"),
        sa.UniqueConstraint("repository", "revision", name="uq_revisions_repository"),
    )


def _create_tracks() -> None:
    names = ("repository", "branch", "benchmark", "metric", "host")
    op.create_table(
        "tracks",
        sa.Column("id", sa.Integer, nullable=False),
        *(sa.Column(name, sa.Text, nullable=False) for name in (*names, "unit", "direction")),
        sa.PrimaryKeyConstraint("id", name="pk_tracks"),
        sa.UniqueConstraint(*names, name="uq_tracks_repository"),
    )


def _create_values() -> None:
    op.create_table(
        "track_values",
        sa.Column("id", sa.Integer, nullable=False),
        sa.Column("track_id", sa.Integer, nullable=False),
        sa.Column("revision_id", sa.Integer, nullable=False),
        sa.Column("first_revision", sa.Text),
        sa.Column("place", sa.Integer),
        sa.Column("value", sa.Float, nullable=False),
        *(sa.Column(name, sa.Float) for name in ("low", "high", "confidence")),
        sa.Column("trial_count", sa.Integer, nullable=False),
        sa.Column("observations", sa.LargeBinary),
        sa.Column("measured_unix_s", sa.Float),
        sa.Column("source", sa.Text, nullable=False),
        sa.Column("fingerprint", sa.LargeBinary, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_track_values"),
        sa.UniqueConstraint("track_id", "fingerprint", name="uq_track_values_track_id"),
        _cascade("track_values", "track_id", "tracks"),
        _cascade("track_values", "revision_id", "revisions"),
    )


def _create_notes() -> None:
    op.create_table(
        "change_notes",
        sa.Column("id", sa.Integer, nullable=False),
        sa.Column("track_id", sa.Integer, nullable=False),
        sa.Column("revision", sa.Text, nullable=False),
        sa.Column("sort", sa.Text, nullable=False),
        sa.Column("created_unix_s", sa.Float, nullable=False),
        sa.Column("until_unix_s", sa.Float),
        sa.Column("experiment", sa.Text),
        sa.Column("note", sa.Text, nullable=False, server_default=""),
        sa.PrimaryKeyConstraint("id", name="pk_change_notes"),
        _cascade("change_notes", "track_id", "tracks"),
    )
    op.create_index("ix_change_notes_track_id", "change_notes", ["track_id"])


def _create_bisections() -> None:
    op.create_table(
        "bisections",
        sa.Column("id", sa.Integer, nullable=False),
        sa.Column("question", sa.Text, nullable=False),
        sa.Column("created_unix_s", sa.Float, nullable=False),
        sa.Column("specification", sa.Text, nullable=False),
        sa.Column("result", sa.Text),
        sa.PrimaryKeyConstraint("id", name="pk_bisections"),
    )
    op.create_index("ix_bisections_question", "bisections", ["question"])
    op.create_table(
        "bisection_steps",
        sa.Column("bisection_id", sa.Integer, nullable=False),
        sa.Column("place", sa.Integer, nullable=False),
        sa.Column("content", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("bisection_id", "place", name="pk_bisection_steps"),
        _cascade("bisection_steps", "bisection_id", "bisections"),
    )


def _cascade(table: str, column: str, parent: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(
        [column], [f"{parent}.id"], name=f"fk_{table}_{column}", ondelete="CASCADE"
    )
