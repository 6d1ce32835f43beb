"""Screenings that are followed by the full design of the factors that they propose."""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Keep whether an experiment is to follow, and which one does, or why none does."""
    column = sa.Column("follow_up", sa.Text(), server_default="", nullable=False)
    op.add_column("submissions", column)
