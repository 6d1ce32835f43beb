"""Digests of what attempts measured, by which numbers that are sent twice are known."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Keep of each attempt that was committed a digest of its numbers."""
    op.add_column("attempts", sa.Column("digest", sa.Text(), server_default="", nullable=False))
    op.create_index("ix_attempts_digest", "attempts", ["digest"], unique=False)
