"""Experiments that go on until they are precise enough, and why they stopped."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Keep on which workers further blocks are run, and what ended an experiment."""
    for name in ("going_on", "stopped"):
        column = sa.Column(name, sa.Text(), server_default="", nullable=False)
        op.add_column("submissions", column)
