"""Records files of a theme that fail on a page: each once per version of the theme, and the tenant's contacts hear of a version once."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from sqlalchemy import Column, String

from app.contract.messages.models import MailKind
from app.contract.tenants.tenant_pages import ThemeFailure
from app.identity.messaging import messaging
from app.identity.messaging.message import MessageFacts
from app.identity.platform.context import Context
from app.identity.platform.store import upserts
from app.identity.platform.store.tables import Instant, tenant_table

theme_failures = tenant_table(
    "theme_failures",
    Column("digest", String(64), primary_key=True),  # of the version of the theme
    Column("template", String(100), primary_key=True),  # empty: the contacts were told of this version
    Column("reason", String(200), nullable=False),
    Column("failed_at", Instant, nullable=False),
    Column("expires_at", Instant, nullable=False),
)
REMEMBERED_FOR: Final = timedelta(days=365)
"""A version that still fails after this time is recorded again."""
_TOLD: Final = ""


def record(context: Context, failure: ThemeFailure) -> bool:
    """Record a failure and email the contacts, once however many processes report it; return whether it was new."""
    if not _is_first(context, failure, failure.template):
        return False
    facts = {"template": failure.template, "digest": failure.digest, "reason": failure.reason}
    context.audit.record("theme.failed", **facts)
    if _is_first(context, failure, _TOLD):
        _notify(context, failure)
    return True


def _is_first(context: Context, failure: ThemeFailure, template: str) -> bool:
    """Add the row of a file in a version of the theme; return whether this transaction did."""
    insert = upserts.insert(theme_failures, is_sqlite=context.services.database.is_sqlite).values(
        tenant_id=context.tenant.tenant_id,
        digest=failure.digest,
        template=template,
        reason=failure.reason,
        failed_at=context.now,
        expires_at=context.now + REMEMBERED_FOR,
    )
    added = insert.on_conflict_do_nothing().returning(theme_failures.c.template)
    return context.work.one(added) is not None


def _notify(context: Context, failure: ThemeFailure) -> None:
    settings = context.tenant.settings
    facts = MessageFacts(theme_file=failure.template, problem=failure.reason, failed_at=context.now)
    for address in settings.contacts.of("theme"):
        messaging.mail(
            context, MailKind.THEME_FAILED, address, account=None, facts=facts, language=settings.default_locale
        )
