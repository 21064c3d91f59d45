"""Webhooks of a tenant, and who manages them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from werkzeug.test import TestResponse

from tests.support.tenants.machines import ask, machine
from tests.support.tenants.tenant_server import TenantServer, answered

SCOPES = ("webhook:read", "webhook:create", "webhook:update", "webhook:delete", "profile:read")
TARGET = "https://hooks.example/in"
Body = dict[str, Any]


@dataclass(frozen=True)
class Webhooks:
    """A program that manages a tenant's webhooks, and a server with the API secret."""

    tenant: TenantServer

    @cached_property
    def token(self) -> str:
        return machine(self.tenant, *SCOPES)

    def program(self, method: str, path: str, body: Any = None, **query: Any) -> TestResponse:
        """Ask an operation with a machine token."""
        return ask(self.tenant, self.token, method, path, body, **query)

    def server(self, method: str, path: str, body: Any = None, **query: Any) -> TestResponse:
        """Ask an operation with the API secret."""
        return self.tenant.send(method, path, body, **query)

    def created(self, event: str = "Login", target: str = TARGET, **members: Any) -> Body:
        """Create a webhook, which must succeed."""
        return answered(self.program("POST", "/v2/manage/webhooks", {"Event": event, "TargetUrl": target, **members}))

    def listed(self) -> list[Body]:
        webhooks: list[Body] = answered(self.program("GET", "/v2/manage/webhooks"))["Data"]
        return webhooks
