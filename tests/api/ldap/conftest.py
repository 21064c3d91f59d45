"""One directory server for the tests of a process, and a tenant that uses it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.support.services import slapd
from tests.support.services.slapd import Slapd
from tests.support.tenants.machines import ask, machine
from tests.support.tenants.tenant_server import NewTenantServer, TenantServer

Ask = Callable[..., Any]


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
