"""Takes the hub's reports of themes that fail on a page."""

from __future__ import annotations

from app.contract.tenants import tenant_pages
from app.identity.messaging import messaging
from app.identity.platform.context import Context


@tenant_pages.theme_failed.implements
def record_theme_failure(context: Context, req: tenant_pages.ThemeFailure) -> tenant_pages.ThemeFailureRecorded:
    return tenant_pages.ThemeFailureRecorded(is_new=messaging.record_theme_failure(context, req))
