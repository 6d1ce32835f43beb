"""Digests of what each trial measured, by which a part of a copied result is known too."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Keep of each trial a digest of its numbers."""
    column = sa.Column("digest", sa.Text(), server_default="", nullable=False)
    op.add_column("committed_trials", column)
    op.create_index("ix_committed_trials_digest", "committed_trials", ["digest"], unique=False)
