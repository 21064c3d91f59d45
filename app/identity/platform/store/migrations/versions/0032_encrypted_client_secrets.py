"""The secret itself, encrypted, of an application that signs client assertions with it."""

from alembic import op
from sqlalchemy import Column, LargeBinary

revision = "0032"
down_revision = "0031"
oldest_code = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("applications", Column("sealed_secret", LargeBinary()))
    op.add_column("applications", Column("former_sealed_secret", LargeBinary()))


def downgrade() -> None:
    op.drop_column("applications", "former_sealed_secret")
    op.drop_column("applications", "sealed_secret")
