"""The first statement of a PostgreSQL transaction, which begins it in the same round trip."""

from typing import NamedTuple


class FirstStatement(NamedTuple):
    """How a PostgreSQL transaction begins."""

    tenant_id: str
    begins: bool
    """False: the transaction ends with this statement."""
