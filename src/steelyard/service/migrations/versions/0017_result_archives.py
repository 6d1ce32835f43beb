"""Archives of results of benchmark packages."""

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Keep what is known of each archive."""
    op.create_table(
        "result_archives",
        sa.Column("part_id", sa.Integer(), nullable=False),
        sa.Column("attempt", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("position", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("digest", sa.Text(), server_default="", nullable=False),
        sa.Column("size_bytes", sa.BigInteger(), nullable=False),
        sa.Column("suffix", sa.Text(), server_default="", nullable=False),
        sa.Column("reason", sa.Text(), server_default="", nullable=False),
        sa.Column("received_unix_s", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(
            ["part_id"],
            ["parts.id"],
            name=op.f("fk_result_archives_part_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("part_id", "attempt", "position", name=op.f("pk_result_archives")),
    )
    op.create_index("ix_result_archives_digest", "result_archives", ["digest"])
