"""Accounts that signed in through a provider whose tokens the tenant keeps."""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from typing import Any

from sqlalchemy import select
from werkzeug.test import TestResponse

from app.identity.assembly.table_modules import metadata
from app.identity.authentication.federation import token_handoff
from app.identity.directory.accounts import linked_identities, provider_tokens
from app.identity.directory.accounts.tables import accounts
from app.identity.platform.store.unit_of_work import UnitOfWork
from tests.support.accounts.connecting import finished, led
from tests.support.accounts.social_accounts import account_of, doing
from tests.support.credentials.devices import store_service_secrets
from tests.support.fakes.identity_provider import SECRET, FakeProvider
from tests.support.operation_cases.cases import AccountHolder, account_holder
from tests.support.tenants.tenant_server import NewTenantServer, TenantServer, answered

NAME = "globex"
KEEPS = {"keep_provider_tokens": True}


@dataclass
class SocialAccount:
    """An account with an identity at the provider, and an access token of the sign-in through it."""

    who: AccountHolder
    provider: FakeProvider
    name: str = NAME

    @property
    def tenant(self) -> TenantServer:
        return self.who.tenant

    def signs_in(self, **claims: Any) -> SocialAccount:
        """Sign in through the provider and take the token that the browser hands to a program."""
        claimed, _ = finished(self.tenant, self.provider.signs_in(led(self.tenant, self.name), **claims))
        with doing(self.tenant) as call:
            linked_identities.link(call, account_of(call, self.who.uid), claimed)
        self.who.stored_token = self.token_of(self.name)
        return self

    def token_of(self, name: str) -> str:
        """Return an access token of a session that began at a provider."""
        with doing(self.tenant) as call:
            text = token_handoff.request_token(call, account_of(call, self.who.uid), ("fed",), name)
        return str(answered(self.tenant.send("GET", "/api/v2/access_token", token=text))["access_token"])

    def refresh(self) -> TestResponse:
        return self.who.own("U89")

    def identity(self) -> dict[str, Any]:
        """Return the only identity of the stored profile."""
        (entry,) = self.tenant.read(self.who.uid)["Identities"]
        return dict(entry)

    def stored(self) -> dict[str, Any]:
        """Return the stored tokens, decrypted; empty without any."""
        with doing(self.tenant) as call:
            account = account_of(call, self.who.uid)
            (linked,) = linked_identities.of(account)
            found = provider_tokens.usable(call, account, linked.key)
            return vars(found.tokens) if found is not None else {}


def social_account(
    make: NewTenantServer,
    provider: FakeProvider,
    *,
    name: str = NAME,
    connection: dict[str, Any] | None = None,
    **settings: Any,
) -> SocialAccount:
    """Return an account that signed in through the provider, at a tenant that keeps its tokens."""
    configured = provider.openid(**KEEPS) if connection is None else connection
    who = account_holder(make, connections={name: configured}, **settings)
    store_service_secrets(who.tenant, connections={name: SECRET})
    return SocialAccount(who, provider, name).signs_in()


def entries(tenant: TenantServer) -> dict[str, Any]:
    """Return the stored, encrypted tokens of all accounts of a tenant by uid."""
    with UnitOfWork(tenant.services.database, tenant.tenant_id).separate_transaction() as work:
        rows = work.all(select(accounts.c.uid, accounts.c.private).where(accounts.c.tenant_id == tenant.tenant_id))
    return {row.uid: tokens for row in rows if (tokens := row.private.get(provider_tokens.KEY))}


def encrypted_texts(tokens: dict[str, Any]) -> list[str]:
    """Return the encrypted texts in the value of `entries`."""
    return [item["sealed"] for of_uid in tokens.values() for of_name in of_uid.values() for item in of_name.values()]


def stored_rows(tenant: TenantServer) -> str:
    """Return every row of the tenant as text, with bytes as base64."""
    with UnitOfWork(tenant.services.database, tenant.tenant_id).separate_transaction() as work:
        rows = [
            dict(row._mapping)
            for table in metadata.tables.values()
            if "tenant_id" in table.c
            for row in work.all(select(table).where(table.c.tenant_id == tenant.tenant_id))
        ]
    return json.dumps(
        rows, default=lambda item: base64.b64encode(item).decode() if isinstance(item, bytes) else str(item)
    )
