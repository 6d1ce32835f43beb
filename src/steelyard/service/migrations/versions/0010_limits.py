"""Limits of experiments: how long they may take, and how much time of workers they may cost."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Keep both limits, in seconds; none where they are absent."""
    for name in ("time_limit_s", "cost_limit_s"):
        op.add_column("submissions", sa.Column(name, sa.Float(), nullable=True))
