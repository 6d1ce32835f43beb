"""What a worker is brought to for a block, how far a block is that goes on after boots, and which
block of another worker repeats it."""

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Blocks that are there are brought to nothing, have no boots within, and no twins."""
    op.add_column("parts", sa.Column("levels", sa.Text(), server_default="{}", nullable=False))
    op.add_column("parts", sa.Column("ran", sa.Integer(), server_default="0", nullable=False))
    op.add_column("parts", sa.Column("twin", sa.Integer()))
