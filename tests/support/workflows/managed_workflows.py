"""A program that keeps the workflows of a tenant."""

from __future__ import annotations

from typing import Any

from werkzeug.test import TestResponse

from tests.support.tenants.machines import ask, machine
from tests.support.tenants.tenant_server import TenantServer, answered
from tests.support.workflows.drawings import Drawing, sequence

PATH = "/v2/manage/workflows"
SCOPES = [f"workflow:{verb}" for verb in ("read", "create", "update", "delete")] + ["all"]


class Workflows:
    """A program that keeps a tenant's workflows."""

    def __init__(self, tenant: TenantServer) -> None:
        self.tenant, self.token = tenant, machine(tenant, *SCOPES)

    def send(self, method: str, path: str = "", body: Any = None, **query: Any) -> TestResponse:
        return ask(self.tenant, self.token, method, f"{PATH}{path}", body, **query)

    def save(self, data: Drawing, name: str = "Flow", **members: Any) -> TestResponse:
        return self.send("POST", "", {"Name": name, "Data": data, **members})

    def stored(self, data: Drawing | None = None, name: str = "Flow", **members: Any) -> dict[str, Any]:
        return answered(self.save(sequence() if data is None else data, name, **members))

    def change(self, made: dict[str, Any], data: Drawing | None = None, **members: Any) -> TestResponse:
        body = {"Name": made["Name"], "Data": sequence() if data is None else data, **members}
        return self.send("PUT", f"/{made['Id']}", body)
