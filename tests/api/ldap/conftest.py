"""One directory server for the tests of a process, and a tenant that uses it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from werkzeug.test import TestResponse

from tests.support.services import slapd
from tests.support.services.slapd import PASSWORD, Slapd
from tests.support.tenants.machines import ask, machine
from tests.support.tenants.tenant_server import NewTenantServer, TenantServer, answered

Ask = Callable[..., Any]
SignIn = Callable[..., TestResponse]
PATH = "/v2/manage/custom-providers/ldap"
LOGIN = "/identity/v2/auth/login"


@pytest.fixture(scope="session")
def directory() -> Iterator[Slapd]:
    with Slapd.running() as server:
        yield server


@pytest.fixture
def tenant(new_tenant_server: NewTenantServer) -> TenantServer:
    return new_tenant_server()


@pytest.fixture
def send(tenant: TenantServer) -> Ask:
    """Return a function that sends a management request."""
    token = machine(tenant, "all")
    return lambda method, path, body=None: ask(tenant, token, method, path, body)


@pytest.fixture
def provider(directory: Slapd) -> dict[str, Any]:
    """Return the provider of the directory server, as a program creates it."""
    return slapd.provider_of(directory)


@pytest.fixture
def sign_in(tenant: TenantServer) -> SignIn:
    """Return a function that signs in with an email, or with what is given."""

    def sign_in(email: str | None = None, password: str = PASSWORD, **body: Any) -> TestResponse:
        named = {"email": email} if email else {}
        return tenant.send("POST", LOGIN, {**named, "password": password, **body}, with_secret=False)

    return sign_in


@pytest.fixture
def corp(send: Ask, provider: dict[str, Any]) -> Callable[..., None]:
    """Return a function that creates the provider, with changes."""

    def create(**changed: Any) -> None:
        answered(send("POST", PATH, {**provider, **changed}))

    return create
