"""Fixtures of the OAuth tests: two tenants with applications of every kind, and a person. pytest loads it as a plugin."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from wsgiref.types import WSGIApplication

import pytest
from sqlalchemy import delete, insert, select, update
from werkzeug.test import Client

from app.contract.applications.settings import ApplicationSettings
from app.contract.tenants.branding import Brand
from app.contract.tenants.settings import TenantSettings
from app.identity import create_app, create_service
from app.identity.credentials.credential_store import credentials
from app.identity.directory.accounts.tables import accounts, identifiers
from app.identity.directory.tenants import tenant_writes
from app.identity.directory.tenants.keys import client_secrets
from app.identity.directory.tenants.tables import applications, tenants
from app.identity.directory.tenants.urls import custom_hosts
from app.identity.platform.services import IdentityServices
from app.identity.platform.store.unit_of_work import UnitOfWork
from app.kit import randomness
from tests.support.oauth.relying_party import Browser, Person, RelyingParty
from tests.support.services.identity_service import CHEAP
from tests.support.visitors.plain_client import PlainClient

REDIRECTS = ("https://shop.example/cb", "https://shop.example/cb?tenant=1")


@dataclass(frozen=True)
class World:
    """One tenant, and what stands in it."""

    services: IdentityServices
    wsgi: Client
    tenant_id: str
    name: str
    api_key: str

    @property
    def api_secret(self) -> str:
        """The API secret, as the tenant's server has it."""
        where = tenants.c.tenant_id == self.tenant_id
        with UnitOfWork(self.services.database, self.tenant_id).separate_transaction() as work:
            encrypted = work.run(select(tenants.c.api_secret).where(where)).scalar_one()
        return self.services.encryption.decrypt(encrypted, f"{self.tenant_id} api_secret").decode()

    def change_settings(self, **settings: Any) -> None:
        """Change settings of the tenant, and let every copy of them grow old."""
        where = tenants.c.tenant_id == self.tenant_id
        with UnitOfWork(self.services.database, self.tenant_id).separate_transaction() as work:
            stored = work.run(select(tenants.c.settings).where(where)).scalar_one()
            work.run(
                update(tenants).where(where).values(settings={**stored, **settings}, version=tenants.c.version + 1)
            )
        self.services.directory.clear_cache()

    def change_brand(self, **brand: Any) -> None:
        """Give the tenant another brand, as `gatehouse apply` would."""
        body = Brand.model_validate(brand).model_dump(mode="json", exclude_unset=True)
        where = tenants.c.tenant_id == self.tenant_id
        with UnitOfWork(self.services.database, self.tenant_id).separate_transaction() as work:
            work.run(update(tenants).where(where).values(brand=body, version=tenants.c.version + 1))
        self.services.directory.clear_cache()

    def add_custom_domain(self) -> str:
        """Serve the tenant at a new verified domain of its own, which is returned."""
        host = f"login.{secrets.token_hex(5)}.example"
        with UnitOfWork(self.services.database, self.tenant_id).separate_transaction() as work:
            custom_hosts.add(work, host, self.services.clock.now())
            tenant_writes.change(work)
        self.services.directory.clear_cache()
        return host

    def delete_passkeys(self) -> None:
        """Lose them all, as nothing in the interface does."""
        with UnitOfWork(self.services.database, self.tenant_id).separate_transaction() as work:
            work.run(delete(credentials).where(credentials.c.tenant_id == self.tenant_id))

    def application(
        self, name: str, *, secret: str | None = "a secret of the application", client_id: str = "", **settings: Any
    ) -> RelyingParty:
        """Register an application and return it as the relying party it is."""
        method = "client_secret_post" if secret else "none"
        stored = {"name": name, "redirect_uris": REDIRECTS, "token_endpoint_auth_method": method, **settings}
        stated = ApplicationSettings.model_validate(stored)
        known = client_id or f"{name}-{secrets.token_hex(6)}"
        row = {
            "tenant_id": self.tenant_id,
            "client_id": known,
            "name": name.lower(),
            **client_secrets.columns(self.services.encryption, self.tenant_id, known, stated, secret or None),
            "settings": stated.model_dump(mode="json"),
            "created_at": self.services.clock.now(),
        }
        with UnitOfWork(self.services.database, self.tenant_id).separate_transaction() as work:
            work.run(insert(applications), row)
        own = name if stated.protocol == "oauth" else None
        return RelyingParty(
            self.services, self.wsgi, self.name, self.api_key, known, stated.redirect_uris[0] if stated.redirect_uris else "",
            name, secret, own, "oauth" if own else "oidc",
        )  # fmt: skip

    def change(self, client: RelyingParty, **settings: Any) -> None:
        """Change an application's settings, as `gatehouse apply` would."""
        where = (applications.c.tenant_id == self.tenant_id, applications.c.client_id == client.client_id)
        with UnitOfWork(self.services.database, self.tenant_id).separate_transaction() as work:
            row = work.run(select(applications.c.settings).where(*where)).one()
            work.run(update(applications).where(*where).values(settings={**row.settings, **settings}))
        self.services.directory.clear_cache()

    def forget_setting(self, client: RelyingParty, name: str) -> None:
        """Remove a setting of an application, as a configuration file would that never named it."""
        where = (applications.c.tenant_id == self.tenant_id, applications.c.client_id == client.client_id)
        with UnitOfWork(self.services.database, self.tenant_id).separate_transaction() as work:
            row = work.run(select(applications.c.settings).where(*where)).one()
            remaining = {item: value for item, value in row.settings.items() if item != name}
            work.run(update(applications).where(*where).values(settings=remaining))
        self.services.directory.clear_cache()

    def person(self, email: str, password: str = "correct horse 7", **profile: Any) -> Person:
        """Add an account."""
        uid, now = randomness.uid(), self.services.clock.now()
        row = {
            "tenant_id": self.tenant_id, "uid": uid, "profile_id": randomness.uid(), "email": email, "email_verified": True,
            "password_hash": self.services.hashing.hash(password, CHEAP), "emails": [{"Type": "Primary", "Value": email, "verified": True}],
            "profile": profile, "private": {}, "created_at": now, "modified_at": now,
        }  # fmt: skip
        known = {"tenant_id": self.tenant_id, "kind": "email", "value": email.lower(), "uid": uid, "is_verified": True}
        with UnitOfWork(self.services.database, self.tenant_id).separate_transaction() as work:
            work.run(insert(accounts), row)
            work.run(insert(identifiers), known)
        return Person(self.services, self.tenant_id, uid, email, password)

    def set_password_age(self, person: Person, *, days: int) -> None:
        """Let a person's password be that old."""
        changed = self.services.clock.now() - timedelta(days=days)
        where = (accounts.c.tenant_id == self.tenant_id, accounts.c.uid == person.uid)
        with UnitOfWork(self.services.database, self.tenant_id).separate_transaction() as work:
            work.run(update(accounts).where(*where).values(password_changed_at=changed))

    def browser(self) -> Browser:
        return Browser(self.services, self.wsgi, self.name)


_SERVED: dict[int, tuple[IdentityServices, WSGIApplication]] = {}


@pytest.fixture
def identity_app(services: IdentityServices) -> WSGIApplication:
    """Return the identity service over these services, created once."""
    if id(services) not in _SERVED:
        _SERVED[id(services)] = (services, create_app(create_service(services)))
    return _SERVED[id(services)][1]


NewWorld = Callable[..., World]


@pytest.fixture
def new_world(services: IdentityServices, identity_app: WSGIApplication) -> NewWorld:
    """Make a fresh tenant, with a name and settings of its own where given."""

    def make(name: str = "", **settings: Any) -> World:
        tenant_id, name, key = randomness.uid(), name or f"t{secrets.token_hex(5)}", randomness.guid()
        row = {
            "tenant_id": tenant_id, "name": name, "api_key": key, "version": 1, "is_active": True, "created_at": services.clock.now(),
            "api_secret": services.encryption.encrypt(randomness.guid().encode(), f"{tenant_id} api_secret"),
            "settings": TenantSettings(argon2=CHEAP, **settings).model_dump(mode="json"), "brand": Brand().model_dump(mode="json"),
        }  # fmt: skip
        with UnitOfWork(services.database, tenant_id).separate_transaction() as work:
            work.run(insert(tenants), row)
        return World(services, PlainClient(identity_app), tenant_id, name, key)

    return make


@pytest.fixture
def world(new_world: NewWorld) -> World:
    return new_world()


@pytest.fixture
def browser(world: World) -> Browser:
    return world.browser()


@pytest.fixture
def ada(world: World) -> Person:
    profile = {"FirstName": "Ada", "LastName": "Lovelace", "FullName": "Ada Lovelace", "BirthDate": "12-10-1815"}
    address = {
        "Type": "Home",
        "Address1": "12 St James's Square",
        "City": "London",
        "PostalCode": "SW1Y 4JH",
        "Country": "UK",
    }
    return world.person("ada@example.test", **profile, Addresses=[address])


@pytest.fixture
def shop(world: World) -> RelyingParty:
    return world.application(
        "Shop",
        client_id="shop",
        client_uri="https://shop.example/",
        post_logout_redirect_uris=["https://shop.example/bye"],
    )


@pytest.fixture
def foreign_shop(new_world: NewWorld) -> RelyingParty:
    """The same application at another tenant."""
    return new_world().application("Shop", client_id="shop")


@pytest.fixture
def phone(world: World) -> RelyingParty:
    return world.application(
        "phone",
        secret=None,
        application_type="native",
        redirect_uris=["http://127.0.0.1/cb", "http://[::1]/cb", "com.example.phone:/cb"],
    )


@pytest.fixture
def loopback_web(world: World) -> RelyingParty:
    return world.application("loopback", redirect_uris=["http://127.0.0.1:5000/cb"])


@pytest.fixture
def strict(world: World) -> RelyingParty:
    return world.application("strict", require_pkce=True)


@pytest.fixture
def older(world: World) -> RelyingParty:
    return world.application("older", allow_plain_pkce=True)


@pytest.fixture
def legacy(world: World) -> RelyingParty:
    return world.application("Legacy", protocol="oauth")


@pytest.fixture
def retired(world: World) -> RelyingParty:
    return world.application("retired", is_active=False)


@pytest.fixture
def asking(world: World) -> RelyingParty:
    return world.application("asking", require_consent=True)


@pytest.fixture
def machine_readable(world: World) -> RelyingParty:
    return world.application("signed", access_token_format="jwt")
