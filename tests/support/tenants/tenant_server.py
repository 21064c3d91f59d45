"""A tenant's own server: it holds the API key and the secret and calls the interface over HTTP. pytest loads it as a plugin."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import insert, select, update
from werkzeug.test import TestResponse

from app.contract.tenants.branding import Brand
from app.contract.tenants.settings import TenantSettings
from app.identity.credentials.tokens.token_store import access_tokens, refresh_tokens
from app.identity.directory.tenants.tables import tenants
from app.identity.directory.tenants.tenant_writes import secret_digest
from app.identity.platform.services import IdentityServices
from app.identity.platform.store.unit_of_work import UnitOfWork
from app.kit import randomness
from tests.support.services.identity_service import CHEAP
from tests.support.visitors.plain_client import PlainClient

PASSWORD = "Zebra-kettle-91"
MANAGE = "/identity/v2/manage/account"


@dataclass(frozen=True)
class TenantServer:
    """What one tenant's server may ask."""

    services: IdentityServices
    app: Flask
    tenant_id: str
    name: str
    api_key: str
    api_secret: str

    def send(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        bearer: str | None = None,
        with_secret: bool = True,
        headers: dict[str, str] | None = None,
        **query: Any,
    ) -> TestResponse:
        """Send a request to the API host; with `bearer` it comes from a person's browser, without the secret."""
        stored = {"apikey": self.api_key, "apisecret": self.api_secret if with_secret and bearer is None else None}
        parameters = {name: value for name, value in {**stored, **query}.items() if value is not None}
        headers = {**(headers or {}), **({"Authorization": f"Bearer {bearer}"} if bearer else {})}
        client = PlainClient(self.app, use_cookies=False)
        base = f"http://{self.services.settings.api_hostname}"
        sent = {"json": body} if body is not None else {}
        return client.open(path, method=method, query_string=parameters, base_url=base, headers=headers, **sent)

    def create(self, **members: Any) -> dict[str, Any]:
        """Create an account, which must succeed; without an email it gets one."""
        body = {"Password": PASSWORD, **members}
        if not body.keys() & {"Email", "UserName", "PhoneId"}:
            body["Email"] = [{"Type": "Primary", "Value": f"{secrets.token_hex(6)}@example.test"}]
        return answered(self.send("POST", MANAGE, body))

    def update(self, uid: str, body: dict[str, Any], **query: Any) -> dict[str, Any]:
        """Update an account, which must succeed."""
        return answered(self.send("PUT", f"{MANAGE}/{uid}", body, **query))

    def read(self, uid: str, **query: Any) -> dict[str, Any]:
        """Read an account, which must be there."""
        return answered(self.send("GET", f"{MANAGE}/{uid}", **query))

    def impersonates(self, uid: str) -> dict[str, Any]:
        """Get tokens of an account without its password."""
        return answered(self.send("GET", f"{MANAGE}/access_token", uid=uid))

    def tokens(self, uid: str) -> dict[str, Any]:
        """Get tokens of an account as from its own sign-in, without an actor."""
        stored = self.impersonates(uid)
        with UnitOfWork(self.services.database, self.tenant_id).separate_transaction() as work:
            for table, token in (
                (access_tokens, stored["access_token"]),
                (refresh_tokens, stored.get("refresh_token")),
            ):
                where = (table.c.tenant_id == self.tenant_id, table.c.token_hash == randomness.digest(token or ""))
                row = work.one(select(table.c.facts).where(*where))
                if row is not None:
                    own = {name: value for name, value in row.facts.items() if name != "act"}
                    work.run(update(table).where(*where).values(facts=own))
        return stored

    def change_settings(self, **settings: Any) -> None:
        """Change settings of the tenant, and let every copy of them grow old."""
        with UnitOfWork(self.services.database, self.tenant_id).separate_transaction() as work:
            where = tenants.c.tenant_id == self.tenant_id
            stored = work.one(select(tenants.c.settings, tenants.c.version).where(where))
            assert stored is not None
            values = {"settings": {**stored.settings, **settings}, "version": stored.version + 1}
            work.run(update(tenants).where(where).values(**values))
        self.services.directory.clear_cache()


class RefusedRequest(AssertionError):
    """A refusal of a request that must succeed."""

    def __init__(self, response: TestResponse) -> None:
        super().__init__(f"{response.status_code} {response.text}")
        self.response = response


def answered(response: TestResponse) -> dict[str, Any]:
    """Return the body of an answer that must be a success."""
    if response.status_code != 200:
        raise RefusedRequest(response)
    body: dict[str, Any] = response.get_json()
    return body


def refused(response: TestResponse) -> tuple[int, int]:
    """Return (status, error code)."""
    body = response.get_json()
    return response.status_code, body.get("ErrorCode", body.get("errorCode"))


NewTenantServer = Callable[..., TenantServer]


@pytest.fixture
def new_tenant_server(services: IdentityServices, identity_app: Flask) -> NewTenantServer:
    """Make a fresh tenant with these settings."""

    def make(**settings: Any) -> TenantServer:
        tenant_id, key, secret = randomness.uid(), randomness.guid(), randomness.guid()
        name = f"t{secrets.token_hex(5)}"
        stated = TenantSettings.model_validate({"argon2": CHEAP, **settings})
        row = {
            "tenant_id": tenant_id,
            "name": name,
            "api_key": key,
            "api_secret": services.encryption.encrypt(secret.encode(), f"{tenant_id} api_secret"),
            "api_secret_hash": secret_digest(secret),
            "version": 1,
            "settings": stated.model_dump(mode="json"),
            "brand": Brand().model_dump(mode="json"),
            "is_active": True,
            "created_at": services.clock.now(),
        }
        with UnitOfWork(services.database, tenant_id).separate_transaction() as work:
            work.run(insert(tenants), row)
        return TenantServer(services, identity_app, tenant_id, name, key, secret)

    return make


@pytest.fixture
def acme(new_tenant_server: NewTenantServer) -> TenantServer:
    return new_tenant_server()


@pytest.fixture
def globex(new_tenant_server: NewTenantServer) -> TenantServer:
    """Another tenant."""
    return new_tenant_server()
