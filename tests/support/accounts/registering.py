"""Programs of a tenant that register people over the interface."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from werkzeug.test import TestResponse

from tests.support.accounts.sotts import sott_of
from tests.support.races import at_once
from tests.support.tenants.tenant_server import PASSWORD, TenantServer

REGISTER, WITH_CAPTCHA = "/identity/v2/auth/register", "/identity/v2/auth/register/captcha"
ADA = "ada@example.test"
UNLIMITED = {"register_per_minute_per_address": 0}


def primary(address: str) -> list[dict[str, str]]:
    """Return an address as the registration model has it."""
    return [{"Type": "Primary", "Value": address}]


def register(
    tenant: TenantServer, email: str | None = ADA, *, query: dict[str, Any] | None = None, **members: Any
) -> TestResponse:
    """Register with a good token."""
    body = {"Password": PASSWORD, **({"Email": primary(email)} if email else {}), **members}
    parameters = {"sott": sott_of(tenant), **(query or {})}
    return tenant.send("POST", REGISTER, body, with_secret=False, **parameters)


def all_at_once(tenant: TenantServer, path: str, bodies: Sequence[dict[str, Any]], **query: Any) -> list[TestResponse]:
    """Send all bodies in the same moment."""
    return at_once([partial(tenant.send, "POST", path, body, with_secret=False, **query) for body in bodies])
