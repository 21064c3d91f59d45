"""Workflows that a tenant's sign-ins follow."""

from __future__ import annotations

from typing import Any

from tests.support.oauth.world import World
from tests.support.tenants.audit_entries import entries_of
from tests.support.tenants.machines import ask, machine
from tests.support.tenants.tenant_server import TenantServer, answered
from tests.support.workflows.drawings import Drawing, branching, drawing, entering, node

PATH = "/v2/manage/workflows"
DENIAL = {"en": "Partners sign in elsewhere.", "de": "Partner melden sich woanders an."}


def stored(tenant: TenantServer, data: Drawing, name: str = "Flow") -> dict[str, Any]:
    """Store a workflow, which must be able to run."""
    made = answered(ask(tenant, machine(tenant, "all"), "POST", PATH, {"Name": name, "Data": data}))
    assert made["IsRunnable"], made["Problems"]
    return made


def put_in_force(tenant: TenantServer, data: Drawing, name: str = "Flow") -> dict[str, Any]:
    """Store a workflow, and make it the tenant's default."""
    made = stored(tenant, data, name)
    tenant.change_settings(default_workflow=name)
    return made


def changed(tenant: TenantServer, made: dict[str, Any], data: Drawing) -> dict[str, Any]:
    """Save another version of a workflow."""
    body = {"Name": made["Name"], "Data": data}
    made = answered(ask(tenant, machine(tenant, "all"), "PUT", f"{PATH}/{made['Id']}", body))
    tenant.services.directory.clear_cache()
    return made


def deleted(tenant: TenantServer, made: dict[str, Any]) -> None:
    """Delete a workflow that is not in force."""
    answered(ask(tenant, machine(tenant, "all"), "DELETE", f"{PATH}/{made['Id']}"))
    tenant.services.directory.clear_cache()


def denying(expression: str = "account.created_days_ago < 7", **texts: str) -> Drawing:
    """Return a workflow that refuses people by a condition."""
    return branching(expression, **(texts or DENIAL))


def signing_in_by(*methods: str) -> Drawing:
    """Return a workflow that takes these methods."""
    return entering("Login", methods=list(methods))


def asking_for_factor(expression: str, *factors: str) -> Drawing:
    """Return a workflow that requires a second factor where the condition is true."""
    nodes = [
        node("start", "Start"), node("login", "Login"), node("if", "Condition", expression=expression),
        node("mfa", "MFA", factors=list(factors)), node("end", "SuccessFinalNode"),
    ]  # fmt: skip
    return drawing(nodes, "start -> login", "login -> if", "if.true -> mfa", "if.false -> end", "mfa -> end")


def server_of(world: World) -> TenantServer:
    """Return the server of a tenant that a test has as applications see it."""
    app: Any = world.wsgi.application
    return TenantServer(world.services, app, world.tenant_id, world.name, world.api_key, world.api_secret)


def runs(tenant: TenantServer) -> list[dict[str, Any]]:
    """Return the facts of the audit entries of each run, the oldest first."""
    return [facts for _, facts in entries_of(tenant, "workflow.run")]
