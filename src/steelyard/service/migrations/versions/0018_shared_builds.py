"""Builds that one worker makes for all of its platform."""

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Keep what is known of each build, and of those that are not shared."""
    op.create_table(
        "shared_builds",
        sa.Column("platform", sa.Text(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("worker_id", sa.Integer(), nullable=False),
        sa.Column("part_id", sa.Integer(), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("digest", sa.Text(), server_default="", nullable=False),
        sa.Column("size_bytes", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("used_unix_s", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(
            ["worker_id"],
            ["workers.id"],
            name=op.f("fk_shared_builds_worker_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("platform", "key", name=op.f("pk_shared_builds")),
    )
    op.create_index("ix_shared_builds_digest", "shared_builds", ["digest"])
    op.create_table(
        "unshared_builds",
        sa.Column("submission_id", sa.Integer(), nullable=False),
        sa.Column("platform", sa.Text(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("worker_id", sa.Integer(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("message", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["submission_id"],
            ["submissions.id"],
            name=op.f("fk_unshared_builds_submission_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["worker_id"],
            ["workers.id"],
            name=op.f("fk_unshared_builds_worker_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint(
            "submission_id", "platform", "key", name=op.f("pk_unshared_builds")
        ),
    )
