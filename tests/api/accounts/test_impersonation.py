"""Access tokens that a tenant's server issues for an account: they name the actor and cannot change credentials."""

from __future__ import annotations

from typing import Any

import pytest
from flask import Flask
from sqlalchemy import select
from werkzeug.test import Client as WsgiClient

from app.identity.platform.audit import audit
from app.identity.platform.store.unit_of_work import UnitOfWork
from tests.support.oauth.world import World
from tests.support.tenants.machines import machine
from tests.support.tenants.tenant_server import MANAGE, PASSWORD, TenantServer, answered, refused

AUTH = "/identity/v2/auth"
NEW = "Quartz-lantern-58"
CHANGES: dict[str, tuple[str, str, dict[str, Any] | None]] = {
    "password": ("PUT", f"{AUTH}/password/change", {"oldPassword": PASSWORD, "newPassword": NEW}),
    "password in the profile": ("PUT", f"{AUTH}/account", {"Password": NEW}),
    "username": ("PUT", f"{AUTH}/username", {"UserName": "eve"}),
    "another address": ("POST", f"{AUTH}/email", {"Type": "Second", "Email": "eve@example.test"}),
    "phone number": ("PUT", f"{AUTH}/phone", {"Phone": "+4915112345678"}),
    "backup codes": ("GET", f"{AUTH}/account/2fa/backupcode", None),
    "authenticator app": ("GET", f"{AUTH}/account/2fa", None),
    "no authenticator app": ("DELETE", f"{AUTH}/account/2fa/totp", None),
    "PIN": ("PUT", f"{AUTH}/pin/change", {"OldPIN": "1234", "NewPIN": "5678"}),
    "passkey": ("GET", f"{AUTH}/account/register/passkey/begin", None),
    "deletion": ("DELETE", f"{AUTH}/account", None),
}


@pytest.fixture
def uid(acme: TenantServer) -> str:
    return str(acme.create(FirstName="Ada")["Uid"])


def audit_actors(acme: TenantServer, uid: str) -> list[tuple[str, Any]]:
    """Return the event and actor of each audit entry of the account."""
    with UnitOfWork(acme.services.database, acme.tenant_id).separate_transaction() as work:
        rows = work.all(select(audit.c.event, audit.c.facts).where(audit.c.uid == uid).order_by(audit.c.at))
    return [(row.event, row.facts.get("act")) for row in rows]


def refreshed(acme: TenantServer, stored: dict[str, Any]) -> dict[str, Any]:
    return answered(acme.send("GET", f"{MANAGE}/access_token/refresh", refresh_token=stored["refresh_token"]))


def test_token_info_names_actor(acme: TenantServer, uid: str) -> None:
    own, impersonated = acme.tokens(uid), acme.impersonates(uid)
    assert "act" not in answered(acme.send("GET", f"{AUTH}/access_token", bearer=own["access_token"]))
    for item in (impersonated, refreshed(acme, impersonated)):
        info = answered(acme.send("GET", f"{AUTH}/access_token", bearer=item["access_token"]))
        assert info["act"] == {"sub": f"{acme.name}@server"}


def test_introspection_names_actor(acme: TenantServer, uid: str, identity_app: Flask) -> None:
    world = World(acme.services, WsgiClient(identity_app), acme.tenant_id, acme.name, acme.api_key)
    orders = world.application("orders", resource_server=True)
    assert "act" not in orders.introspect(acme.tokens(uid)["access_token"])
    impersonated = acme.impersonates(uid)
    for item in (impersonated, refreshed(acme, impersonated)):
        introspection = orders.introspect(item["access_token"])
        assert (introspection["sub"], introspection["act"]) == (uid, {"sub": f"{acme.name}@server"})


def test_impersonated_token_cannot_change_credentials(acme: TenantServer, uid: str) -> None:
    impersonated = acme.impersonates(uid)
    for item in (impersonated, refreshed(acme, impersonated)):
        for credential, (method, path, body) in CHANGES.items():
            assert refused(acme.send(method, path, body, bearer=item["access_token"])) == (403, 1143), credential


@pytest.mark.both_databases
def test_audit_entries_of_impersonated_token_name_actor(acme: TenantServer, uid: str) -> None:
    actor = f"{acme.name}@server"
    token = acme.impersonates(uid)["access_token"]
    assert audit_actors(acme, uid)[-1] == ("token.impersonated", actor)
    answered(acme.send("PUT", f"{AUTH}/account", {"FirstName": "Eve"}, bearer=token))
    answered(acme.send("GET", f"{AUTH}/access_token/invalidate", bearer=token))
    entries = audit_actors(acme, uid)
    after = entries[entries.index(("token.impersonated", actor)) + 1 :]
    assert len(after) >= 2
    assert {act for _, act in after} == {actor}
    own = acme.tokens(uid)["access_token"]
    answered(acme.send("GET", f"{AUTH}/access_token/invalidate", bearer=own))
    assert audit_actors(acme, uid)[-1] == ("token.ended", None)


def test_machine_client_is_named_as_actor(acme: TenantServer, uid: str) -> None:
    bearer = machine(acme, "all")
    base = f"http://{acme.services.settings.api_hostname}"
    parameters = {"apikey": acme.api_key, "uid": uid}
    answer = WsgiClient(acme.app).get(
        f"{MANAGE}/access_token", query_string=parameters, base_url=base, headers={"Authorization": f"Bearer {bearer}"}
    )
    info = answered(acme.send("GET", f"{AUTH}/access_token", bearer=answered(answer)["access_token"]))
    assert info["act"]["sub"].endswith("@client")
