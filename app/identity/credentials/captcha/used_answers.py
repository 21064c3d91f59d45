"""Used captcha responses, in the database, so that all processes see them, also after a restart."""

from __future__ import annotations

from datetime import timedelta

from sqlalchemy.dialects import postgresql, sqlite

from app.identity.credentials.captcha.tables import spent_captchas
from app.identity.platform.context import Context
from app.kit.randomness import digest

T = spent_captchas.c


def spend(context: Context, response: str, lifetime: timedelta) -> bool:
    """Record a use in a separate transaction, which survives an error. Return False if it was used before."""
    dialect = sqlite if context.services.database.is_sqlite else postgresql
    row = {
        "tenant_id": context.tenant.tenant_id,
        "captcha_hash": digest(response),
        "expires_at": context.now + lifetime,
    }
    added = dialect.insert(spent_captchas).values(row)
    added = added.on_conflict_do_nothing(index_elements=[T.tenant_id, T.captcha_hash])
    with context.work.separate_transaction() as own:
        return own.one(added.returning(T.captcha_hash)) is not None
