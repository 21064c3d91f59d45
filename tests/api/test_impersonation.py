"""Tokens that a server of the tenant takes of an account (row A22): marked, and never good for a change of credentials."""

from __future__ import annotations

from typing import Any

import pytest
from flask import Flask
from sqlalchemy import select
from werkzeug.test import Client as WsgiClient

from app.identity.platform.audit import audit
from app.identity.platform.store.unit import UnitOfWork
from tests.support.machines import machine
from tests.support.oauth_world import World
from tests.support.tenant_server import MANAGE, PASSWORD, TenantServer, answered, refused

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


def said(acme: TenantServer, uid: str) -> list[tuple[str, Any]]:
    """Return the event and actor of each audit row of an account."""
    with UnitOfWork(acme.services.database, acme.tenant_id).separate_transaction() as work:
        rows = work.all(select(audit.c.event, audit.c.facts).where(audit.c.uid == uid).order_by(audit.c.at))
    return [(row.event, row.facts.get("act")) for row in rows]


def refreshed(acme: TenantServer, held: dict[str, Any]) -> dict[str, Any]:
    return answered(acme.send("GET", f"{MANAGE}/access_token/refresh", refresh_token=held["refresh_token"]))


def test_token_info_names_who_acts(acme: TenantServer, uid: str) -> None:
    own, taken = acme.tokens(uid), acme.impersonates(uid)
    assert "act" not in answered(acme.send("GET", f"{AUTH}/access_token", bearer=own["access_token"]))
    for held in (taken, refreshed(acme, taken)):
        info = answered(acme.send("GET", f"{AUTH}/access_token", bearer=held["access_token"]))
        assert info["act"] == {"sub": f"{acme.name}@server"}


def test_introspection_names_who_acts(acme: TenantServer, uid: str, identity_app: Flask) -> None:
    there = World(acme.services, WsgiClient(identity_app), acme.tenant_id, acme.name, acme.api_key)
    orders = there.application("orders", resource_server=True)
    assert "act" not in orders.introspect(acme.tokens(uid)["access_token"])
    taken = acme.impersonates(uid)
    for held in (taken, refreshed(acme, taken)):
        told = orders.introspect(held["access_token"])
        assert (told["sub"], told["act"]) == (uid, {"sub": f"{acme.name}@server"})


def test_who_acts_for_somebody_changes_no_credentials(acme: TenantServer, uid: str) -> None:
    taken = acme.impersonates(uid)
    for held in (taken, refreshed(acme, taken)):
        for what, (method, path, body) in CHANGES.items():
            assert refused(acme.send(method, path, body, bearer=held["access_token"])) == (403, 1143), what


def test_what_is_done_with_it_says_so_in_the_audit(acme: TenantServer, uid: str) -> None:
    actor = f"{acme.name}@server"
    token = acme.impersonates(uid)["access_token"]
    assert said(acme, uid)[-1] == ("token.impersonated", actor)
    answered(acme.send("PUT", f"{AUTH}/account", {"FirstName": "Eve"}, bearer=token))
    answered(acme.send("GET", f"{AUTH}/access_token/invalidate", bearer=token))
    done = said(acme, uid)
    after = done[done.index(("token.impersonated", actor)) + 1 :]
    assert len(after) >= 2
    assert {act for _, act in after} == {actor}
    own = acme.tokens(uid)["access_token"]
    answered(acme.send("GET", f"{AUTH}/access_token/invalidate", bearer=own))
    assert said(acme, uid)[-1] == ("token.ended", None)


def test_machine_that_acts_is_named(acme: TenantServer, uid: str) -> None:
    bearer = machine(acme, "all")
    base = f"http://{acme.services.settings.api_hostname}"
    asked = {"apikey": acme.api_key, "uid": uid}
    answer = WsgiClient(acme.app).get(
        f"{MANAGE}/access_token", query_string=asked, base_url=base, headers={"Authorization": f"Bearer {bearer}"}
    )
    info = answered(acme.send("GET", f"{AUTH}/access_token", bearer=answered(answer)["access_token"]))
    assert info["act"]["sub"].endswith("@client")
