"""Passwords of people, the browsers in which they are signed in, and invitations."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Let people sign in."""
    op.add_column("accounts", sa.Column("password", sa.Text(), server_default="", nullable=False))
    op.create_table(
        "sign_ins",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("account_id", sa.Integer(), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("created_unix_s", sa.Float(), nullable=False),
        sa.Column("expires_unix_s", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(
            ["account_id"], ["accounts.id"], name=op.f("fk_sign_ins_account_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_sign_ins")),
        sa.UniqueConstraint("digest", name=op.f("uq_sign_ins_digest")),
    )
    op.create_index("ix_sign_ins_account", "sign_ins", ["account_id"], unique=False)
    op.create_table(
        "failed_sign_ins",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name_digest", sa.Text(), nullable=False),
        sa.Column("client_digest", sa.Text(), nullable=False),
        sa.Column("unix_s", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_failed_sign_ins")),
    )
    op.create_index("ix_failed_sign_ins_unix_s", "failed_sign_ins", ["unix_s"], unique=False)
    op.create_table(
        "invitations",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("account_id", sa.Integer(), nullable=True),
        sa.Column("expires_unix_s", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(
            ["account_id"],
            ["accounts.id"],
            name=op.f("fk_invitations_account_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_invitations")),
        sa.UniqueConstraint("digest", name=op.f("uq_invitations_digest")),
    )
