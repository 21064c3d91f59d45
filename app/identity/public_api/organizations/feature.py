"""The check that a tenant has organizations, before each handler of theirs."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from app.contract import errors
from app.identity.platform.context import Context
from app.kit.operations.wire import Wire

Req = TypeVar("Req", bound=Wire)
Res = TypeVar("Res", bound=Wire)


def requires_organizations(handler: Callable[[Context, Req], Res]) -> Callable[[Context, Req], Res]:
    """Wrap a handler: it raises OrganizationsOff where the tenant has the feature disabled."""

    def checked(context: Context, req: Req) -> Res:
        if not context.tenant.settings.organizations.enabled:
            raise errors.OrganizationsOff
        return handler(context, req)

    return checked
