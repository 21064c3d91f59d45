"""Forged and malformed responses of an OpenID provider are refused (OpenID Connect Core section 3.1.3.7, RFC 9207)."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from joserfc import jwe
from joserfc.jwk import ECKey, RSAKey

from app.contract.federation.connection_checks import ConnectionCheck
from app.identity.authentication.federation.federated_sign_in import ConnectionBroken
from tests.support.accounts.connecting import finished, led
from tests.support.accounts.connection_failures import traces_of
from tests.support.fakes.forged_answers import FORGERIES
from tests.support.fakes.identity_provider import SECRET, FakeProvider, key
from tests.support.services.identity_service import on_one_database
from tests.support.tenants.tenant_server import NewTenantServer, TenantServer

pytestmark = on_one_database
NAME = "elsewhere"


@pytest.fixture
def acme(new_tenant_server: NewTenantServer, fake_provider: FakeProvider) -> TenantServer:
    """Return a tenant with a connection to the provider."""
    made = new_tenant_server()
    fake_provider.known_to(made, NAME)
    return made


@pytest.mark.parametrize(("check", "forge", "reason"), FORGERIES.values(), ids=FORGERIES)
def test_invalid_provider_response_is_refused(
    acme: TenantServer,
    fake_provider: FakeProvider,
    check: ConnectionCheck,
    forge: Callable[[FakeProvider], None],
    reason: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    address = led(acme, NAME)
    forge(fake_provider)
    answer = fake_provider.signs_in(address)
    with pytest.raises(ConnectionBroken):
        finished(acme, answer)
    assert fake_provider.requests_to("/else") == 0
    assert reason in caplog.text
    assert [trace.failed_check for trace in traces_of(acme)] == [check]
    assert not any(secret in caplog.text for secret in (SECRET, answer["code"], answer["state"], "eyJ"))


ENCRYPTED = {
    "RSA-OAEP-256": ({"alg": "RSA-OAEP-256", "enc": "A256GCM"}, key(1)),
    "ECDH-ES": ({"alg": "ECDH-ES", "enc": "A128GCM"}, ECKey.generate_key("P-256")),
    "compressed": ({"alg": "RSA-OAEP-256", "enc": "A256GCM", "zip": "DEF"}, key(1)),
    "RSA1_5": ({"alg": "RSA1_5", "enc": "A128GCM"}, key(1)),
}
"""Encrypted tokens (RFC 7516): nothing here decrypts any."""


@pytest.mark.filterwarnings("ignore:JWE algorithm")
@pytest.mark.parametrize(("header", "recipient"), ENCRYPTED.values(), ids=ENCRYPTED)
def test_encrypted_id_token_is_refused(
    acme: TenantServer, fake_provider: FakeProvider, header: dict[str, str], recipient: RSAKey | ECKey
) -> None:
    registry = jwe.JWERegistry(algorithms=[*header.values()])
    fake_provider.id_token = jwe.encrypt_compact(header, b"a signed JWT", recipient, registry=registry)
    answer = fake_provider.signs_in(led(acme, NAME))
    with pytest.raises(ConnectionBroken):
        finished(acme, answer)
    (trace,) = traces_of(acme)
    assert trace.failed_check == ConnectionCheck.TOKEN_FORMAT
