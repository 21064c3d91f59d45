"""Revocation of a leaked signing key: `gatehouse key revoke`."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from joserfc import jws
from sqlalchemy import select

from app.contract.errors import MachineRefused
from app.identity import create_services
from app.identity.administration import key_revocation
from app.identity.credentials.tokens.token_store import access_tokens
from app.identity.directory.tenants.keys.signing_keys import LEAD, StoredSigningKeys
from app.identity.platform.audit import audit
from app.identity.platform.services import IdentityServices
from app.identity.platform.store.unit_of_work import UnitOfWork
from app.identity.protocols.oauth.tokens import issued_jwts, machine_tokens
from tests.support.oauth.relying_party import Browser, Person, RelyingParty, moved
from tests.support.oauth.world import World
from tests.support.services.identity_service import KEYS
from tests.support.tenants.callers import call_of

PATIENCE_SECONDS = 30
AUDIENCE = "http://api.localhost:8000/identity/v2/manage"


@pytest.fixture
def second_process(services: IdentityServices) -> Iterator[IdentityServices]:
    """Services of a second process, which runs the command beside the server."""
    created = create_services(services.settings, services.clock)
    assert isinstance(created.signing_keys, StoredSigningKeys)
    created.signing_keys._new_rsa_key = KEYS.__next__
    yield created
    created.database.dispose()


def revoke(services: IdentityServices, world: World, kid: str | None = None) -> key_revocation.RevokedSigningKey:
    with UnitOfWork(services.database, world.tenant_id).separate_transaction() as work:
        return key_revocation.revoke(services, work, kid)


def published(shop: RelyingParty) -> set[str]:
    return {key["kid"] for key in (shop.get("/service/oidc/jwks").json or {})["keys"]}


def kid_of(token: str) -> str:
    return str(jws.extract_compact(token.encode()).headers()["kid"])


def tokens_of(client: RelyingParty, browser: Browser, ada: Person) -> dict[str, Any]:
    return dict(client.redeem(browser.code(client, ada)).json or {})


def test_revoked_key_leaves_every_process_within_seconds(
    second_process: IdentityServices, world: World, shop: RelyingParty, browser: Browser, ada: Person
) -> None:
    leaked = kid_of(tokens_of(shop, browser, ada)["id_token"])
    assert published(shop) == {leaked}
    revoked = revoke(second_process, world)
    assert revoked.kid == leaked
    ends_at = time.monotonic() + PATIENCE_SECONDS
    while leaked in published(shop) and time.monotonic() < ends_at:
        time.sleep(0.05)
    assert published(shop) == {revoked.signs}
    assert kid_of(tokens_of(shop, browser, ada)["id_token"]) == revoked.signs


def test_rotated_key_is_published_everywhere_within_seconds(
    second_process: IdentityServices, world: World, shop: RelyingParty, browser: Browser, ada: Person
) -> None:
    signs = kid_of(tokens_of(shop, browser, ada)["id_token"])
    assert published(shop) == {signs}
    with UnitOfWork(second_process.database, world.tenant_id).separate_transaction() as work:
        next_kid = second_process.signing_keys.rotate(work)
    ends_at = time.monotonic() + PATIENCE_SECONDS
    while next_kid not in published(shop) and time.monotonic() < ends_at:
        time.sleep(0.05)
    assert published(shop) == {signs, next_kid}
    assert kid_of(tokens_of(shop, browser, ada)["id_token"]) == signs


@pytest.mark.both_databases
def test_tokens_signed_by_revoked_key_are_refused(
    services: IdentityServices,
    second_process: IdentityServices,
    world: World,
    machine_readable: RelyingParty,
    browser: Browser,
    ada: Person,
) -> None:
    stored = tokens_of(machine_readable, browser, ada)
    robot = world.application(
        "robot", application_type="m2m", grant_types=["client_credentials"], redirect_uris=[],
        audience_scopes={AUDIENCE: ["profile:read"]},
    )  # fmt: skip
    form = {"grant_type": "client_credentials", "audience": AUDIENCE, **robot.client_credentials()}
    machine = (robot.post("/service/oauth/token", form).json or {})["access_token"]
    with call_of(services, world.name) as call:
        leaked = services.signing_keys.current(call.work).signers["RS256"].key
        assert issued_jwts.read_id_token_hint(call, stored["id_token"])
        assert machine_tokens.verify(call, machine)
    revoked = revoke(second_process, world)
    services.directory.clear_cache()
    assert machine_readable.userinfo(stored["access_token"]).status_code == 401
    assert machine_readable.introspect(stored["access_token"]) == {"active": False}
    forged = jws.serialize_compact({"alg": "RS256", "kid": revoked.kid, "typ": "JWT"}, b'{"sub":"ada"}', leaked)
    with call_of(services, world.name) as call:
        assert issued_jwts.read_id_token_hint(call, stored["id_token"]) is None
        with pytest.raises(MachineRefused):
            machine_tokens.verify(call, machine)
        with pytest.raises(issued_jwts.InvalidJwt):
            issued_jwts.read(call, forged)


def test_opaque_tokens_survive_key_revocation(
    services: IdentityServices,
    second_process: IdentityServices,
    world: World,
    shop: RelyingParty,
    browser: Browser,
    ada: Person,
) -> None:
    stored = tokens_of(shop, browser, ada)
    revoke(second_process, world)
    services.directory.clear_cache()
    assert shop.userinfo(stored["access_token"]).status_code == 200
    assert shop.refresh(stored["refresh_token"]).status_code == 200


@pytest.mark.both_databases
def test_key_of_another_tenant_cannot_be_revoked(
    services: IdentityServices,
    second_process: IdentityServices,
    world: World,
    foreign_shop: RelyingParty,
    shop: RelyingParty,
) -> None:
    foreign, own = published(foreign_shop), published(shop)
    with pytest.raises(LookupError):
        revoke(second_process, world, *foreign)
    revoke(second_process, world, *own)
    services.directory.clear_cache()
    assert published(foreign_shop) == foreign


def test_next_key_signs_after_revocation_of_current_key(
    services: IdentityServices,
    second_process: IdentityServices,
    world: World,
    shop: RelyingParty,
    browser: Browser,
    ada: Person,
) -> None:
    first = kid_of(tokens_of(shop, browser, ada)["id_token"])
    with UnitOfWork(second_process.database, world.tenant_id).separate_transaction() as work:
        next_kid = second_process.signing_keys.rotate(work)
    assert revoke(second_process, world, first) == key_revocation.RevokedSigningKey(first, next_kid, 0)
    services.directory.clear_cache()
    assert kid_of(tokens_of(shop, browser, ada)["id_token"]) == next_kid


@pytest.mark.both_databases
def test_revocation_of_next_key_keeps_current_key(
    services: IdentityServices,
    second_process: IdentityServices,
    world: World,
    shop: RelyingParty,
    browser: Browser,
    ada: Person,
) -> None:
    first = kid_of(tokens_of(shop, browser, ada)["id_token"])
    with UnitOfWork(second_process.database, world.tenant_id).separate_transaction() as work:
        next_kid = second_process.signing_keys.rotate(work)
    assert revoke(second_process, world, next_kid).signs == first
    with moved(services, seconds=(LEAD + timedelta(days=3)).total_seconds()):
        services.directory.clear_cache()
        with call_of(services, world.name) as call:
            assert services.signing_keys.current(call.work).kids["RS256"] == first


def test_reloaded_tenant_keeps_cached_keys(services: IdentityServices, world: World, shop: RelyingParty) -> None:
    """The cached keys are published while the database is unreachable."""
    published(shop)
    with call_of(services, world.name) as call:
        cached = services.signing_keys.current(call.work)
        services.directory.clear_cache()
        assert services.directory.by_key(world.api_key)
        assert services.signing_keys.current(call.work) is cached


@pytest.mark.both_databases
def test_key_revocation_is_audited(
    second_process: IdentityServices,
    world: World,
    shop: RelyingParty,
    machine_readable: RelyingParty,
    browser: Browser,
    ada: Person,
) -> None:
    tokens_of(machine_readable, browser, ada)
    revoked = revoke(second_process, world)
    with UnitOfWork(second_process.database, world.tenant_id).separate_transaction() as work:
        where = (audit.c.tenant_id == world.tenant_id, audit.c.event == "signing_key.revoked")
        (entry,) = work.all(select(audit.c.facts).where(*where))
        left = work.all(select(access_tokens.c.client_id).where(access_tokens.c.tenant_id == world.tenant_id))
    assert entry.facts == {"kid": revoked.kid, "signs": revoked.signs, "alg": "RS256", "tokens": 1}
    assert machine_readable.client_id not in {row.client_id for row in left}
