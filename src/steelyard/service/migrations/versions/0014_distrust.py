"""Faults that are proven are forgotten slowly."""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Count what each worker still has to make up for."""
    op.add_column(
        "workers", sa.Column("distrust", sa.Integer(), nullable=False, server_default="0")
    )
