"""The key that signs a tenant's webhooks: of its own, published apart from the keys of tokens, rotated and revoked as they are."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from datetime import timedelta

import pytest

from app.identity.administration import key_revocation
from app.identity.directory.tenants.keys.signing_algorithms import WEBHOOKS
from app.identity.directory.tenants.keys.signing_keys import LEAD
from app.identity.platform.services import IdentityServices, KeySet
from app.identity.platform.store.unit_of_work import UnitOfWork
from tests.support.oauth.world import World
from tests.support.services.identity_service import pass_time
from tests.support.tenants.webhook_deliveries import WebhookDeliveries


@pytest.fixture
def work(services: IdentityServices, world: World) -> Iterator[UnitOfWork]:
    with UnitOfWork(services.database, world.tenant_id).separate_transaction() as work:
        yield work


def keys_of(services: IdentityServices, work: UnitOfWork) -> KeySet:
    services.signing_keys.clear_cache()
    return services.signing_keys.current(work, WEBHOOKS)


def kids(keys: KeySet) -> list[str]:
    return [key["kid"] for key in keys.webhooks]


@pytest.mark.both_databases
def test_webhook_key_is_no_key_of_tokens(services: IdentityServices, work: UnitOfWork) -> None:
    keys = keys_of(services, work)

    assert kids(keys) == [keys.signers[WEBHOOKS].kid]
    assert {key["crv"] for key in keys.webhooks} == {"Ed25519"}
    assert not any("d" in key for key in keys.webhooks)
    assert set(kids(keys)).isdisjoint(key["kid"] for key in keys.public)
    assert kids(keys)[0].encode() not in keys.jwks
    assert kids(keys_of(services, work)) == kids(keys), "the stored one"


def test_rotated_webhook_key_signs_after_its_lead(services: IdentityServices, work: UnitOfWork) -> None:
    former = keys_of(services, work).signers[WEBHOOKS].kid
    rotated = services.signing_keys.rotate(work, WEBHOOKS)
    during = keys_of(services, work)

    assert (during.signers[WEBHOOKS].kid, set(kids(during))) == (former, {former, rotated})

    pass_time(services, seconds=(LEAD + timedelta(minutes=1)).total_seconds())
    assert keys_of(services, work).signers[WEBHOOKS].kid == rotated


def test_revoked_webhook_key_ends_no_token(services: IdentityServices, work: UnitOfWork) -> None:
    keys = keys_of(services, work)
    revoked = key_revocation.revoke(services, work, keys.signers[WEBHOOKS].kid)
    after = keys_of(services, work)

    assert (kids(after), revoked.tokens) == ([revoked.signs], 0)
    assert after.kids["RS256"] == keys.kids["RS256"]


def test_published_keys_are_public_in_both_forms(deliveries: WebhookDeliveries) -> None:
    (key,) = deliveries.published_keys()

    assert (key["kty"], key["crv"], key["use"], key["alg"]) == ("OKP", "Ed25519", "sig", "Ed25519")
    assert base64.b64decode(key["whpk"].removeprefix("whpk_")) == base64.urlsafe_b64decode(f"{key['x']}==")
    assert "d" not in key
    assert deliveries.published_keys() == [key], "from the cache"
