"""Benchmark packages: which are kept, who sent them, which experiment runs which."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Know of packages; their files lie in a directory."""
    op.create_table(
        "packages",
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("account_id", sa.Integer(), nullable=False),
        sa.Column("size_bytes", sa.BigInteger(), nullable=False),
        sa.Column("member_count", sa.Integer(), nullable=False),
        sa.Column("created_unix_s", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(
            ["account_id"],
            ["accounts.id"],
            name=op.f("fk_packages_account_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("digest", "account_id", name=op.f("pk_packages")),
    )
    op.create_table(
        "submitted_packages",
        sa.Column("submission_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["submission_id"],
            ["submissions.id"],
            name=op.f("fk_submitted_packages_submission_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("submission_id", "name", name=op.f("pk_submitted_packages")),
    )
    op.create_index("ix_submitted_packages_digest", "submitted_packages", ["digest"])
    op.create_table(
        "rehearsals",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("batch", sa.Text(), nullable=False),
        sa.Column("account_id", sa.Integer(), nullable=False),
        sa.Column("worker_id", sa.Integer(), nullable=False),
        sa.Column("architecture", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("package", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("attempt", sa.Integer(), server_default="0", nullable=False),
        sa.Column("created_unix_s", sa.Float(), nullable=False),
        sa.Column("problem", sa.Text(), server_default="", nullable=False),
        sa.Column("output", sa.Text(), server_default="", nullable=False),
        sa.ForeignKeyConstraint(
            ["account_id"],
            ["accounts.id"],
            name=op.f("fk_rehearsals_account_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["worker_id"],
            ["workers.id"],
            name=op.f("fk_rehearsals_worker_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_rehearsals")),
    )
    op.create_index("ix_rehearsals_batch", "rehearsals", ["batch"])
    op.create_index("ix_rehearsals_next", "rehearsals", ["worker_id", "state"])
