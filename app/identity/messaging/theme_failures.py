"""Records files of a theme that fail on a page or in a mail: each once per version, and the tenant's contacts hear of a version once."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Final

from sqlalchemy import Column, String, select

from app.contract.tenants.tenant_pages import ThemeFailure
from app.identity.platform.context import Context
from app.identity.platform.store import upserts
from app.identity.platform.store.tables import Instant, tenant_table

theme_failures = tenant_table(
    "theme_failures",
    Column("digest", String(64), primary_key=True),  # of the version of the theme
    Column("template", String(100), primary_key=True),  # empty: the contacts have the email about this version
    Column("reason", String(200), nullable=False),
    Column("failed_at", Instant, nullable=False),
    Column("expires_at", Instant, nullable=False),
)
REMEMBERED_FOR: Final = timedelta(days=365)
"""A version that still fails after this time is recorded again."""
_NOTIFIED: Final = ""


def record(context: Context, failure: ThemeFailure, notify: Callable[[str], None]) -> bool:
    """Record a failure, once however many processes report it; return whether it was new.

    Contacts that are set after a version failed hear of it when it fails again.

    Args:
        notify: emails an address that the version failed.
    """
    contacts = _contacts(context)
    # Before the row of the file: transactions with failures of several files wait for one another here, in one order.
    notifies = bool(contacts) and _is_first(context, failure, _NOTIFIED)
    is_new = _is_first(context, failure, failure.template)
    if is_new:
        facts = {"template": failure.template, "digest": failure.digest, "reason": failure.reason}
        context.audit.record("theme.failed", **facts)
    for address in contacts if notifies else ():
        notify(address)
    return is_new


def is_recorded(context: Context, failure: ThemeFailure) -> bool:
    """Return whether `record` would change nothing."""
    wanted = {failure.template, _NOTIFIED} if _contacts(context) else {failure.template}
    table = theme_failures.c
    where = (table.tenant_id == context.tenant.tenant_id, table.digest == failure.digest, table.template.in_(wanted))
    return len(context.work.all(select(table.template).where(*where))) == len(wanted)


def _contacts(context: Context) -> tuple[str, ...]:
    return context.tenant.settings.contacts.of("theme") if context.sends else ()


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
