"""Webhooks of a tenant, at their three addresses."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from werkzeug.test import TestResponse

from tests.support.tenants.machines import ask, machine
from tests.support.tenants.tenant_server import TenantServer, answered

NEWER, OLDER, REST_HOOKS = "/v2/manage/webhooks", "/v2/manage/webhook", "/api/v2/webhook"
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

    def ask(self, method: str, path: str = "", body: Any = None, **query: Any) -> TestResponse:
        """Ask an operation below the address of webhooks, with a machine token."""
        return ask(self.tenant, self.token, method, f"{NEWER}{path}", body, **query)

    def older(self, method: str, path: str = "", body: Any = None, **query: Any) -> TestResponse:
        """Ask an operation below the older address, with the API secret."""
        return self.tenant.send(method, f"{OLDER}{path}", body, **query)

    def rest(self, method: str, path: str = "", body: Any = None, **query: Any) -> TestResponse:
        """Ask an operation of REST hooks."""
        return self.tenant.send(method, f"{REST_HOOKS}{path}", body, **query)

    def created(self, event: str = "Login", target: str = TARGET, **members: Any) -> Body:
        """Create a webhook, which must succeed."""
        return answered(self.ask("POST", "", {"Event": event, "TargetUrl": target, **members}))

    def listed(self) -> list[Body]:
        webhooks: list[Body] = answered(self.ask("GET"))["Data"]
        return webhooks
