"""A tenant's server that manages themes and their versions."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any

from werkzeug.test import TestResponse

from app.identity.administration.theme_versions.schedule import ACTOR, ThemeSchedule
from app.identity.directory.tenants import tenant_writes
from app.identity.platform import audit
from app.identity.platform.store.unit_of_work import UnitOfWork
from tests.support.tenants.machines import ask, machine
from tests.support.tenants.tenant_server import TenantServer, answered

THEMES = "/v2/manage/hosted-pages/themes"


@dataclass(frozen=True)
class Themes:
    tenant: TenantServer

    @cached_property
    def token(self) -> str:
        return machine(self.tenant, *(f"template:{action}" for action in ("read", "create", "update", "delete")))

    def send(self, method: str, path: str = "", body: Any = None) -> TestResponse:
        return ask(self.tenant, self.token, method, f"{THEMES}{path}", body)

    def stored(self, name: str = "Autumn", *, is_active: bool = True, **brand: Any) -> str:
        """Create a theme, by default the active one, and return its id."""
        made = answered(self.send("POST", body={"Name": name, "Brand": {"DisplayName": name, **brand}}))
        if is_active:
            answered(self.send("PUT", f"/{made['Id']}/activate"))
        return str(made["Id"])

    def draft(self, theme: str, display_name: str, **members: Any) -> TestResponse:
        return self.send("PUT", f"/{theme}/draft", {"Brand": {"DisplayName": display_name}, **members})

    def drafted(self, theme: str, display_name: str, **members: Any) -> int:
        """Save a draft and return its number."""
        return int(answered(self.draft(theme, display_name, **members))["Version"])

    def publish(self, theme: str, version: int, **members: Any) -> TestResponse:
        return self.send("PUT", f"/{theme}/versions/{version}/publish", members)

    def listed(self, theme: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = answered(self.send("GET", f"/{theme}/versions"))["Data"]
        return found

    def published(self, theme: str) -> int:
        """Return the number of the published version."""
        (found,) = [item["Version"] for item in self.listed(theme) if item["IsPublished"]]
        return int(found)

    def shown(self) -> str:
        """Return the display name of the brand that the tenant's pages have."""
        work = UnitOfWork(self.tenant.services.database, self.tenant.tenant_id)
        try:
            row = tenant_writes.own(work)
            return str(row.brand.get("display_name", "")) if row is not None else ""
        finally:
            work.rollback()

    def audited(self, event: str) -> list[dict[str, Any]]:
        """Return the facts of the audit entries of an event, the newest first."""
        work = UnitOfWork(self.tenant.services.database, self.tenant.tenant_id)
        try:
            return [entry.facts for entry in audit.latest(work, 1_000) if entry.event == event]
        finally:
            work.rollback()

    def later(self, **time: int) -> datetime:
        return self.tenant.services.clock.now() + timedelta(**time)

    def work_at(self, **time: int) -> None:
        """Let a worker of its own publish what is due then, of every tenant of the database."""
        ThemeSchedule(self.tenant.services.database, lambda: self.tenant.services).turn(self.later(**time))

    def due(self, **time: int) -> list[int]:
        """Return the versions of this tenant that a worker publishes then, in their order."""
        before = len(self._by_schedule())
        self.work_at(**time)
        return [facts["version"] for facts in self._by_schedule()[before:]]

    def _by_schedule(self) -> list[dict[str, Any]]:
        return [facts for facts in reversed(self.audited("theme_versions.published")) if facts["by"] == ACTOR]
