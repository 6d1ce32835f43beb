"""Indexes for what the pages of experiments ask."""

from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Count parts by state, and find attempts by outcome, without reading all of them."""
    op.create_index("ix_parts_state", "parts", ["submission_id", "state"], unique=False)
    op.create_index("ix_attempts_outcome", "attempts", ["outcome", "part_id"], unique=False)
