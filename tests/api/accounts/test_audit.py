"""Account operations write audit events; passwords and tokens never appear in them."""

from typing import Any

import pytest
from sqlalchemy import select

from app.identity.directory.accounts import account_store, accounts
from app.identity.platform.audit import audit
from app.identity.platform.store.unit_of_work import UnitOfWork
from tests.support.tenants.callers import call_of
from tests.support.tenants.tenant_server import MANAGE, PASSWORD, TenantServer, refused
from tests.support.visitors.plain_client import PlainClient


def audit_events(acme: TenantServer) -> list[tuple[str, str | None, dict[str, Any]]]:
    """Return the tenant's audit events in order: (event, uid, facts)."""
    work = UnitOfWork(acme.services.database, acme.tenant_id)
    try:
        rows = work.all(select(audit).where(audit.c.tenant_id == acme.tenant_id).order_by(audit.c.entry_id))
        return [(row.event, row.uid, row.facts) for row in rows]
    finally:
        work.rollback()


def test_every_change_is_audited(acme: TenantServer) -> None:
    uid = acme.create()["Uid"]
    acme.update(uid, {"FirstName": "Ada"})
    acme.update(uid, {"IsActive": False})
    acme.send("DELETE", f"{MANAGE}/{uid}")
    events = [event for event, of, _ in audit_events(acme) if of == uid and event.startswith("event.")]
    assert sorted(events) == sorted(
        f"event.{name}" for name in ("Register", "UpdateProfile", "UpdateProfile", "BlockAccount", "DeleteAccount")
    )


def test_change_without_webhook_is_audited_as_silent(acme: TenantServer) -> None:
    uid = acme.create()["Uid"]
    acme.update(uid, {"FirstName": "Ada"}, prevent_webhook="true")
    PlainClient(acme.app).put(
        f"{MANAGE}/{uid}",
        json={"FirstName": "Grace"},
        query_string={"apikey": acme.api_key, "apisecret": acme.api_secret},
        headers={"X-PreventWebhook": "true"},
        base_url=f"http://{acme.services.settings.api_hostname}",
    )
    silent = [facts["silent"] for event, _, facts in audit_events(acme) if event.startswith("event.")]
    assert silent == [False, True, True]


@pytest.mark.both_databases
def test_refused_api_secret_is_audited(acme: TenantServer) -> None:
    assert refused(acme.send("GET", f"{MANAGE}/x", apisecret="wrong")) == (401, 902)
    assert [event for event, _, _ in audit_events(acme)] == ["secret.refused"]


def test_audit_log_contains_no_password_and_no_token(acme: TenantServer) -> None:
    uid = acme.create()["Uid"]
    issued = acme.tokens(uid)
    acme.send("GET", f"{MANAGE}/access_token/refresh", refresh_token=issued["refresh_token"])
    text = str(audit_events(acme))
    assert not any(secret in text for secret in (PASSWORD, issued["access_token"], issued["refresh_token"]))


def test_first_login_is_true_in_first_response_only(acme: TenantServer) -> None:
    uid = acme.create()["Uid"]
    with call_of(acme.services, acme.name) as call:
        account = account_store.by_uid(call, uid)
        assert account is not None
        profile = accounts.signed_in_profile(call, account)
    assert (profile["FirstLogin"], profile["NoOfLogins"], profile["LastLoginDate"] is None) == (True, 1, False)
    assert acme.read(uid)["FirstLogin"] is False
