"""An accepted assertion or request is used once, however many arrive together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace

import pytest

from app.identity.platform.saml import spent_messages
from app.identity.platform.saml.expectations import AcceptedAssertion
from app.identity.platform.saml.request_gate import AcceptedLogoutRequest, accept_logout_request
from app.identity.platform.saml.response_gate import read_response
from app.identity.platform.saml.saml_rules import SamlRefusal, SamlRule
from app.identity.platform.services import IdentityServices
from tests.support.races import RACERS, at_once
from tests.support.saml import signers
from tests.support.saml.requests import ADDRESS, PEER, peer, post
from tests.support.saml.responses import expected, response
from tests.support.tenants.callers import call_of
from tests.support.tenants.tenant_server import NewTenantServer


def assertion() -> AcceptedAssertion:
    return read_response(response(), expected(), signers.NOW)


def logout_request() -> AcceptedLogoutRequest:
    return accept_logout_request(post("LogoutRequest"), {PEER: peer()}.get, address=ADDRESS, now=signers.NOW)


def spent(services: IdentityServices, tenant: str, message: AcceptedAssertion | AcceptedLogoutRequest) -> str:
    """Return the outcome of one transaction that spends the message; it expires a minute from now."""
    with call_of(services, tenant) as call:
        fresh = replace(message, expires_at=call.now.replace(microsecond=0) + (message.expires_at - signers.NOW))
        try:
            spent_messages.spend(call, fresh)
        except SamlRefusal as refusal:
            return refusal.rule
        call.work.commit()
        return "accepted"


@pytest.mark.both_databases
@pytest.mark.parametrize("message", [assertion, logout_request], ids=["assertion", "logout request"])
def test_one_of_many_concurrent_uses_succeeds(
    new_tenant_server: NewTenantServer, message: Callable[[], AcceptedAssertion | AcceptedLogoutRequest]
) -> None:
    tenant = new_tenant_server()
    accepted = message()
    outcomes = at_once([lambda: spent(tenant.services, tenant.name, accepted)] * RACERS)
    assert Counter(outcomes) == {"accepted": 1, SamlRule.REPLAY: RACERS - 1}


def test_same_id_of_other_issuer_or_tenant_is_another_message(new_tenant_server: NewTenantServer) -> None:
    tenant, other = new_tenant_server(), new_tenant_server()
    accepted = assertion()
    assert spent(tenant.services, tenant.name, accepted) == "accepted"
    assert spent(tenant.services, tenant.name, replace(accepted, issuer="https://other.example")) == "accepted"
    assert spent(other.services, other.name, accepted) == "accepted"
    assert spent(tenant.services, tenant.name, accepted) == SamlRule.REPLAY


def test_rolled_back_use_spends_nothing(new_tenant_server: NewTenantServer) -> None:
    """A sign-in that fails after the gate may be tried again with the same response."""
    tenant = new_tenant_server()
    accepted = assertion()
    with call_of(tenant.services, tenant.name) as call:
        spent_messages.spend(call, replace(accepted, expires_at=call.now + (accepted.expires_at - signers.NOW)))
    assert spent(tenant.services, tenant.name, accepted) == "accepted"
