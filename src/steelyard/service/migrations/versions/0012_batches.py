"""Experiments that belong together: where a build of one fails, all of them end."""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Keep the identifier of the batch that an experiment is of; empty where it is of none."""
    column = sa.Column("batch", sa.Text(), server_default="", nullable=False)
    op.add_column("submissions", column)
