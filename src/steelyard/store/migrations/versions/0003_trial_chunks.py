"""Trials in chunks of columns, and the counts that a list shows beside the experiment."""

import sqlalchemy as sa
from alembic import op

from steelyard.store.trial_rows import ROWS, chunks_of_rows

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    for name in ("trial_count", "failed_count"):
        op.add_column(
            "experiments", sa.Column(name, sa.Integer, nullable=False, server_default="0")
        )
    op.create_table(
        "trial_chunks",
        sa.Column("id", sa.Integer, nullable=False),
        sa.Column("experiment_id", sa.Integer, nullable=False),
        sa.Column("trial_count", sa.Integer, nullable=False),
        sa.Column("content", sa.LargeBinary, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_trial_chunks"),
        sa.ForeignKeyConstraint(
            ["experiment_id"],
            ["experiments.id"],
            name="fk_trial_chunks_experiment_id",
            ondelete="CASCADE",
        ),
    )
    op.create_index("ix_trial_chunks_experiment_id", "trial_chunks", ["experiment_id"])
    raw = op.get_bind().connection.driver_connection
    assert raw is not None
    writing = raw.cursor()
    for chunk in chunks_of_rows(raw.execute(ROWS)):
        writing.execute(
            "INSERT INTO trial_chunks (experiment_id, trial_count, content) VALUES (?, ?, ?)", chunk
        )
    op.execute(
        "UPDATE experiments SET (trial_count, failed_count) = ("
        "SELECT count(*), count(*) FILTER (WHERE status = 'failed') FROM trials "
        "WHERE trials.experiment_id = experiments.id AND NOT warmup)"
    )
    op.drop_table("measurements")
    op.drop_table("trials")
