"""Concurrent callbacks with one state: exactly one is accepted, on both databases."""

from __future__ import annotations

from functools import partial

import pytest

from app.identity.authentication.federation.federated_sign_in import UnknownState
from app.identity.platform.services import IdentityServices
from tests.support.accounts.connecting import finished, led
from tests.support.fakes.identity_provider import provider
from tests.support.races import at_once
from tests.support.tenants.tenant_server import NewTenantServer, TenantServer

pytestmark = pytest.mark.both_databases("first")


def callback(tenant: TenantServer, answer: dict[str, str]) -> str | None:
    try:
        claimed, _ = finished(tenant, answer)
    except UnknownState:
        return None
    return claimed.subject


def test_concurrent_uses_of_state_have_one_winner(
    services: IdentityServices, new_tenant_server: NewTenantServer
) -> None:
    with provider(services) as upstream:
        tenant = new_tenant_server(connections={"elsewhere": upstream.openid()})
        answer = upstream.signs_in(led(tenant, "elsewhere"))
        subjects = at_once([partial(callback, tenant, answer)] * 8)
        assert [subject for subject in subjects if subject is not None] == ["ada-1815"]
        assert upstream.requests_to("/token") == 1
