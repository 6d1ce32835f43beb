"""Workers of a cluster, which are started and booted for what waits for them."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Say of workers which cluster they are of, and of experiments how often hosts are booted."""
    op.add_column("workers", sa.Column("cluster", sa.Text(), server_default="", nullable=False))
    op.add_column("workers", sa.Column("asked_unix_s", sa.Float(), nullable=True))
    op.add_column("workers", sa.Column("booted_for", sa.Text(), server_default="", nullable=False))
    op.add_column(
        "submissions", sa.Column("reboot", sa.Text(), server_default="never", nullable=False)
    )
