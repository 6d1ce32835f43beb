"""How many trials of each experiment are committed, which lists need not count."""

import sqlalchemy as sa
from alembic import op

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Keep the count, of what was committed before, too."""
    column = sa.Column("committed_count", sa.Integer(), server_default="0", nullable=False)
    op.add_column("submissions", column)
    op.execute(
        "UPDATE submissions SET committed_count = (SELECT count(*) FROM committed_trials "
        "WHERE committed_trials.submission_id = submissions.id AND committed_trials.position >= 0)"
    )
