"""Where trials stand at user-named repetition levels, and what initial experiments gave."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

_KEY = ("benchmark", "content", "platform", "runtime", "metric")


def upgrade() -> None:
    levels = sa.Column("levels", sa.Text, nullable=False, server_default="[]")
    op.add_column("trials", levels)
    op.create_table(
        "dimensionings",
        sa.Column("id", sa.Integer, nullable=False),
        *(sa.Column(name, sa.Text, nullable=False) for name in _KEY),
        sa.Column("created_unix_s", sa.Float, nullable=False),
        sa.Column("identity", sa.Text, nullable=False),
        sa.Column("result", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_dimensionings"),
        sa.UniqueConstraint(*_KEY, name="uq_dimensionings_benchmark"),
    )
