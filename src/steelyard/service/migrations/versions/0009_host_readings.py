"""Readings of the reference benchmark on each worker."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Keep what each host took for the reference benchmark."""
    op.create_table(
        "host_readings",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("worker_id", sa.Integer(), nullable=False),
        sa.Column("unix_s", sa.Float(), nullable=False),
        sa.Column("benchmark", sa.Text(), nullable=False),
        sa.Column("value_s", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(
            ["worker_id"],
            ["workers.id"],
            name=op.f("fk_host_readings_worker_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_host_readings")),
    )
    op.create_index("ix_host_readings_worker_id", "host_readings", ["worker_id"])
