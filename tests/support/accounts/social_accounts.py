"""Identities at providers, and the tokens that a browser hands to a program after the callback."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest

from app.identity.authentication.federation import token_handoff
from app.identity.directory.accounts import account_store, linked_identities
from app.identity.directory.accounts.account import Account
from app.identity.directory.identity_provider import ProviderIdentity
from app.identity.platform.context import Context
from tests.support.tenants.callers import call_of
from tests.support.tenants.tenant_server import TenantServer

CONNECTIONS = {"google": {"key": "g"}, "github": {"key": "h"}}
SOCIAL = {"connections": CONNECTIONS}
NO_CALLBACK = {**SOCIAL, "no_callback_login": True}
ADA = ProviderIdentity(
    "google", "108", "Ada@elsewhere.test", email_verified=True,
    profile={
        "FirstName": "Ada", "LastName": "Lovelace", "FullName": "Ada King", "ImageUrl": "https://pics.example/ada.png",
        "Uid": "x", "Roles": "admin",
    },
)  # fmt: skip


def new_identity(provider: str = "google") -> ProviderIdentity:
    """Return an identity at a provider that no tenant knows."""
    return replace(ADA, provider=provider, subject=secrets.token_hex(8))


@contextmanager
def doing(tenant: TenantServer) -> Iterator[Context]:
    """Give a context of the tenant whose work is committed, or rolled back without its records, as in a visit of a page."""
    with call_of(tenant.services, tenant.name) as call:
        try:
            yield call
        except Exception:
            call.work.rollback()
            with call.work.separate_transaction() as work:
                call.write_records(work)
            raise
        call.commit()


def account_of(call: Context, uid: str) -> Account:
    account = account_store.by_uid(call, uid)
    assert account is not None
    return account


def linked_to(tenant: TenantServer, uid: str, claimed: ProviderIdentity) -> ProviderIdentity:
    """Link an identity to an account, as the hosted pages do."""
    with doing(tenant) as call:
        linked_identities.link(call, account_of(call, uid), claimed)
    return claimed


def candidate(tenant: TenantServer, claimed: ProviderIdentity) -> str:
    """Return the candidate token that a browser hands to a program for linking."""
    with doing(tenant) as call:
        return token_handoff.create_candidate(call, claimed)


def request_token(tenant: TenantServer, uid: str) -> str:
    """Return the request token that a browser hands to a program after a sign-in."""
    with doing(tenant) as call:
        return token_handoff.request_token(call, account_of(call, uid), ("fed",), "google")


def guid() -> str:
    return secrets.token_hex(16)


def began(tenant: TenantServer, *, links: bool = False) -> str:
    """Return a client GUID with which a browser went to a provider."""
    stored = guid()
    with doing(tenant) as call:
        token_handoff.register_guid(call, stored, links=links)
    return stored


def signed_in_with(tenant: TenantServer, uid: str, stored: str = "") -> str:
    """Return a client GUID whose browser signed in."""
    stored = stored or began(tenant)
    with doing(tenant) as call:
        assert token_handoff.finish_sign_in(call, stored, account_of(call, uid), ("fed",), "google")
    return stored


def linking_guid(tenant: TenantServer, claimed: ProviderIdentity) -> str:
    """Return a client GUID whose browser came back with an identity to link."""
    stored = began(tenant, links=True)
    with doing(tenant) as call:
        assert token_handoff.finish_link(call, stored, claimed)
    return stored


def without_password(tenant: TenantServer, claimed: ProviderIdentity, *, email: str = "") -> str:
    """Create an account without a password, linked to this identity; without an address it has a username."""
    named = {"Email": [{"Type": "Primary", "Value": email}]} if email else {"UserName": f"u{secrets.token_hex(5)}"}
    uid = str(tenant.create(**named, EmailVerified=bool(email))["Uid"])
    with doing(tenant) as call:
        account_store.change(call, uid, {"password_hash": None})
    linked_to(tenant, uid, claimed)
    return uid


ONE_STORE = pytest.mark.parametrize("services", ["sqlite"], indirect=True)


VICTIM = "grace@example.test"


def identities(tenant: TenantServer, uid: str) -> list[str]:
    return [f"{item['Provider']} {item['ID']}" for item in tenant.read(uid)["Identities"] or ()]
