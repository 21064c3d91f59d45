"""The way to a provider and back, without pages."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qsl, urlsplit

from app.identity.authentication.federation import federated_sign_in, offered_connections
from app.identity.authentication.federation.offered_connections import OfferedConnection
from app.identity.directory.identity_provider import ProviderIdentity
from app.identity.platform import continuation_tokens
from app.identity.platform.context import Context
from app.identity.platform.continuation_tokens import ContinuationPurpose, ContinuationToken
from tests.support.accounts.social_accounts import doing
from tests.support.tenants.tenant_server import TenantServer


def led(tenant: TenantServer, name: str, **how: Any) -> str:
    """Begin a sign-in, and return where the browser is led."""
    with doing(tenant) as call:
        lead = federated_sign_in.begin(call, offered_connections.find(call, name), "attempt-1", **how)
    assert isinstance(lead, str)  # no form of a provider that takes no redirect
    return lead


def finished(tenant: TenantServer, answer: dict[str, str]) -> tuple[ProviderIdentity, OfferedConnection]:
    """Come back with these parameters."""
    with doing(tenant) as call:
        return federated_sign_in.finish(call, answer.get("state", ""), state_token(call, answer), answer)


def state_token(call: Context, answer: dict[str, str]) -> ContinuationToken | None:
    """Return what is stored of the state of a callback."""
    return continuation_tokens.find(call, ContinuationPurpose.CONNECTION, answer.get("state", "").rpartition(".")[2])


def query_of(address: str) -> dict[str, str]:
    """Return the parameters of an address."""
    return dict(parse_qsl(urlsplit(address).query))
