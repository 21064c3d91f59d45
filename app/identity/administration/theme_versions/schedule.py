"""Publishes the versions of themes whose time came; several workers may do it beside each other, and each version once."""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final

from app.contract import errors
from app.identity.administration.theme_versions import publication, version_store
from app.identity.directory.tenants import tenant_store, tenant_writes
from app.identity.directory.tenants.tenant_store import LOOKUP_TENANT
from app.identity.directory.tenants.urls import custom_hosts
from app.identity.platform import powers
from app.identity.platform.context import Context
from app.identity.platform.services import IdentityServices
from app.identity.platform.store.database import Database, StoreUnavailable
from app.identity.platform.store.unit_of_work import UnitOfWork, is_distributed
from app.kit.operations.errors import ApiError

ACTOR: Final = "schedule"
"""`act` in the audit entries of scheduled publications."""
INTERVAL: Final = timedelta(seconds=5)
_TENANTS_PER_TURN: Final = 25

log = logging.getLogger("gatehouse.themes")


class ThemeSchedule:
    """Publishes what is due, once in each interval.

    Args:
        services: returns the services; called only when something is due.
    """

    def __init__(self, database: Database, services: Callable[[], IdentityServices]) -> None:
        self._database = database
        self._services = services
        self._next_at: datetime | None = None

    def turn(self, now: datetime) -> int:
        """Publish the due versions of some tenants. Return how many were published."""
        if self._next_at is not None and now < self._next_at:
            return 0
        self._next_at = now + INTERVAL
        work = UnitOfWork(self._database, LOOKUP_TENANT)
        try:
            due = tenant_writes.ids_with_due_theme(work, now, _TENANTS_PER_TURN)
        finally:
            work.rollback()
        return sum(self._publish_all(tenant_id, now) for tenant_id in due)

    def _publish_all(self, tenant_id: str, now: datetime) -> int:
        """Publish the due versions of a tenant, each in its own transaction; what fails for our fault is tried again."""
        count = 0
        try:
            while (is_published := publish_first(self._services(), tenant_id, now)) is not None:
                count += is_published
        except StoreUnavailable:
            if not is_distributed(self._database):
                raise
        except Exception:
            log.exception("theme_schedule.failed", extra={"tenant_id": tenant_id})
        return count


def publish_first(services: IdentityServices, tenant_id: str, now: datetime) -> bool | None:
    """Publish the version of a tenant that is due first. Return whether it was published, None if none is due.

    One that this release refuses, or that is gone, waits no longer, and is audited.
    """
    work = UnitOfWork(services.database, tenant_id)
    try:
        work.begin()
        row = tenant_writes.lock(work)
        due = version_store.first_due(work, now) if row is not None else None
        if row is None or due is None:
            return None
        context = Context.outside_requests(services, tenant_store.of_row(row, custom_hosts.of_tenant(work)), work)
        context.program_scopes = frozenset({powers.ALL})
        context.audit.actor = ACTOR
        is_published = _publish(context, *due)
        context.commit()
        return is_published
    finally:
        work.rollback()


def _publish(context: Context, theme_id: str, version: int) -> bool:
    """Publish a version. Return whether this release accepts it."""
    try:
        publication.publish(context, theme_id, version)
    except (errors.UnknownTheme, errors.UnknownThemeVersion, errors.BadField) as refusal:
        version_store.set_publish_at(context.work, theme_id, version, None)
        context.audit.record("theme_versions.refused", id=theme_id, version=version, reason=_reason(refusal))
        log.warning("theme_versions.refused", extra={"theme_id": theme_id, "version": version})
        return False
    return True


def _reason(refusal: ApiError) -> str:
    return f"{refusal.message}: {refusal.description}"[:500]
