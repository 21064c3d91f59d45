"""Accounts that a configuration file made: they bear a mark, so that a file removes only what a file made."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import select

from app.identity.directory.accounts.tables import accounts
from app.identity.platform.store.unit import UnitOfWork

MARK = "from_file"
A = accounts.c
_COLUMNS = (A.uid, A.email, A.username, A.phone, A.email_verified, A.phone_verified, A.is_active, A.profile)


def accounts_from_file(work: UnitOfWork) -> Sequence[Any]:
    """Return the tenant's marked accounts, in the order they were made; reads every account of the tenant."""
    where = (A.tenant_id == work.tenant_id, A.private[MARK].as_boolean())
    return work.all(select(*_COLUMNS).where(*where).order_by(A.created_at, A.uid))
