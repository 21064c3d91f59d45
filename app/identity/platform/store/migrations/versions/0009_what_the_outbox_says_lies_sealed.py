"""Outbox payloads are encrypted.

What waits in the clear is delivered all the same, and sealed at the next start of `serve` or `worker`. Before going back let the
outbox run empty: the version before cannot open what was sealed.
"""

from alembic import op
from sqlalchemy import Column, LargeBinary

revision = "0009"
down_revision = "0008"
oldest_code = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("outbox", Column("sealed", LargeBinary))


def downgrade() -> None:
    op.drop_column("outbox", "sealed")
