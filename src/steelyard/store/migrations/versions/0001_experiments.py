"""Experiments, their sessions, trials and measurements."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "experiments",
        sa.Column("id", sa.Integer, nullable=False),
        sa.Column("identifier", sa.Text, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("created_unix_s", sa.Float, nullable=False),
        sa.Column("stopped", sa.Text),
        sa.Column("specification", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_experiments"),
        sa.UniqueConstraint("identifier", name="uq_experiments_identifier"),
    )
    op.create_table(
        "sessions",
        sa.Column("experiment_id", sa.Integer, nullable=False),
        sa.Column("place", sa.Integer, nullable=False),
        sa.Column("provenance", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("experiment_id", "place", name="pk_sessions"),
        _cascade("sessions", "experiment_id", "experiments"),
    )
    op.create_table(
        "trials",
        sa.Column("id", sa.Integer, nullable=False),
        sa.Column("experiment_id", sa.Integer, nullable=False),
        sa.Column("position", sa.Integer, nullable=False),
        sa.Column("block", sa.Integer, nullable=False),
        sa.Column("variant", sa.Integer, nullable=False),
        sa.Column("build", sa.Integer, nullable=False),
        sa.Column("warmup", sa.Boolean, nullable=False),
        sa.Column("status", sa.Text, nullable=False),
        sa.Column("reason", sa.Text),
        sa.Column("started_unix_s", sa.Float, nullable=False),
        sa.Column("spent_s", sa.Float, nullable=False),
        sa.Column("realised", sa.Text, nullable=False),
        sa.Column("details", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_trials"),
        sa.UniqueConstraint("experiment_id", "position", name="uq_trials_experiment_id"),
        _cascade("trials", "experiment_id", "experiments"),
    )
    op.create_table(
        "measurements",
        sa.Column("trial_id", sa.Integer, nullable=False),
        sa.Column("metric", sa.Text, nullable=False),
        sa.Column("values_f64le", sa.LargeBinary, nullable=False),
        sa.PrimaryKeyConstraint("trial_id", "metric", name="pk_measurements"),
        _cascade("measurements", "trial_id", "trials"),
    )


def _cascade(table: str, column: str, parent: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(
        [column], [f"{parent}.id"], name=f"fk_{table}_{column}", ondelete="CASCADE"
    )
