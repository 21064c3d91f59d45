"""A replaced refresh token still gets tokens for a few seconds: other tabs, and clients that lost a response, keep their sign-in."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from app.identity.platform.audit import audit
from app.identity.platform.services import IdentityServices
from tests.support.oauth.dpop import Prover
from tests.support.oauth.relying_party import Browser, Person, Pkce, RelyingParty, moved
from tests.support.oauth.world import World
from tests.support.races import at_once
from tests.support.tenants.tenant_server import MANAGE, NewTenantServer, answered, refused
from tests.support.visitors.phone_sign_in import rows


def tokens(client: RelyingParty | Prover, browser: Browser, person: Person) -> dict[str, Any]:
    pkce, application = Pkce(), client.client if isinstance(client, Prover) else client
    code = browser.code(application, person, code_challenge=pkce.challenge)
    stored: dict[str, Any] = client.redeem(code, code_verifier=pkce.verifier).get_json()
    return stored


def refreshed(client: RelyingParty, stored: dict[str, Any], **changed: str | None) -> dict[str, Any]:
    answer = client.refresh(stored["refresh_token"], **changed)
    assert answer.status_code == 200, answer.text
    return dict(answer.get_json())


def is_alive(client: RelyingParty, stored: dict[str, Any]) -> bool:
    return client.userinfo(stored["access_token"]).status_code == 200


def further_pairs(world: World) -> int:
    return sum(row.event == "refresh_token.repeated" for row in rows(world, audit.c.event))


@pytest.mark.both_databases
def test_two_tabs_of_a_public_client_both_get_pairs(
    world: World, phone: RelyingParty, browser: Browser, ada: Person
) -> None:
    stored = tokens(phone, browser, ada)
    answers = at_once([lambda: phone.refresh(stored["refresh_token"])] * 2)
    assert [answer.status_code for answer in answers] == [200, 200]
    first, second = (answer.get_json() for answer in answers)
    assert first["refresh_token"] != second["refresh_token"]
    for pair in (first, second):
        assert is_alive(phone, pair)
        assert is_alive(phone, refreshed(phone, pair))
    assert further_pairs(world) == 1


@pytest.mark.both_databases
def test_fourth_reuse_at_once_ends_the_family(world: World, phone: RelyingParty, browser: Browser, ada: Person) -> None:
    stored = tokens(phone, browser, ada)
    answers = at_once([lambda: phone.refresh(stored["refresh_token"])] * 20)
    pairs = [answer.get_json() for answer in answers if answer.status_code == 200]
    assert len(pairs) == 4, "the successor, and three further pairs"
    assert not any(is_alive(phone, pair) for pair in (stored, *pairs))
    assert {phone.refresh(pair["refresh_token"]).status_code for pair in pairs} == {400}
    assert further_pairs(world) == 3


@pytest.mark.parametrize(("seconds", "status"), [(9, 200), (11, 400)])
def test_reuse_interval_of_public_clients_is_ten_seconds(
    services: IdentityServices, phone: RelyingParty, browser: Browser, ada: Person, seconds: int, status: int
) -> None:
    stored = tokens(phone, browser, ada)
    successor = refreshed(phone, stored)
    with moved(services, seconds=seconds):
        assert phone.refresh(stored["refresh_token"]).status_code == status
        assert is_alive(phone, successor) is (status == 200)


def test_interval_counts_from_the_first_use(
    services: IdentityServices, phone: RelyingParty, browser: Browser, ada: Person
) -> None:
    stored = tokens(phone, browser, ada)
    refreshed(phone, stored)
    with moved(services, seconds=8):
        last = refreshed(phone, stored)
    with moved(services, seconds=12):
        assert phone.refresh(stored["refresh_token"]).status_code == 400
        assert not is_alive(phone, last)


@pytest.mark.parametrize(
    ("of_tenant", "own", "is_public", "status"),
    [
        (None, None, False, 400), (None, 5, False, 200), (30, None, False, 200), (30, 0, False, 400),
        (0, None, True, 400), (0, 60, True, 200), (None, 0, True, 400),
    ],
)  # fmt: skip
def test_interval_is_of_the_client_then_of_the_tenant(
    world: World, browser: Browser, ada: Person, of_tenant: int | None, own: int | None, is_public: bool, status: int
) -> None:
    world.change_settings(refresh_token_reuse_seconds=of_tenant)
    secret = None if is_public else "a secret of the application"
    client = world.application("app", secret=secret, refresh_token_reuse_seconds=own)
    stored = tokens(client, browser, ada)
    refreshed(client, stored)
    assert client.refresh(stored["refresh_token"]).status_code == status


def test_fapi_client_never_has_an_interval(world: World, browser: Browser, ada: Person) -> None:
    """Settings that an earlier version stored may contradict the profile; the profile wins."""
    world.change_settings(refresh_token_reuse_seconds=60)
    client = world.application("bank", refresh_token_reuse_seconds=60)
    stored = tokens(client, browser, ada)
    refreshed(client, stored)
    world.change(client, security_profile="fapi2")
    assert client.refresh(stored["refresh_token"]).status_code == 400


def test_further_pair_has_the_scope_of_its_request(phone: RelyingParty, browser: Browser, ada: Person) -> None:
    stored = tokens(phone, browser, ada)
    refreshed(phone, stored)
    assert refreshed(phone, stored, scope="openid")["scope"] == "openid"
    wide = phone.refresh(stored["refresh_token"], scope="openid phone address")
    assert (wide.status_code, wide.get_json()["error"]) == (400, "invalid_scope")
    assert refreshed(phone, stored)["scope"] == "openid profile email", "a refused request does not count"


@pytest.mark.both_databases
def test_other_client_and_tenant_cannot_reuse_it(
    world: World, phone: RelyingParty, foreign_shop: RelyingParty, browser: Browser, ada: Person
) -> None:
    stored = tokens(phone, browser, ada)
    successor = refreshed(phone, stored)
    other = world.application("other", secret=None, application_type="native")
    for item in (other, foreign_shop):
        assert item.refresh(stored["refresh_token"]).status_code == 400
    assert is_alive(phone, successor)
    assert further_pairs(world) == 0


def test_reuse_needs_the_key_that_the_token_is_bound_to(world: World, browser: Browser, ada: Person) -> None:
    client = world.application("app", secret=None, application_type="native", dpop_bound_access_tokens=True)
    owner, thief = Prover(client), Prover(client)
    stored = tokens(owner, browser, ada)
    assert owner.refresh(stored["refresh_token"]).status_code == 200
    for _ in range(4):
        assert thief.refresh(stored["refresh_token"]).status_code == 400
    assert further_pairs(world) == 0, "the audit log names pairs that were issued"
    further = owner.refresh(stored["refresh_token"])
    assert further.status_code == 200, "a refused request does not count"
    assert owner.userinfo(further.get_json()["access_token"]).status_code == 200


@pytest.mark.parametrize("which", ["replaced", "successor", "further"])
def test_revocation_of_any_ends_the_family(phone: RelyingParty, browser: Browser, ada: Person, which: str) -> None:
    replaced = tokens(phone, browser, ada)
    pairs = {"replaced": replaced, "successor": refreshed(phone, replaced), "further": refreshed(phone, replaced)}
    phone.back("revoke", {"token": pairs[which]["refresh_token"], **phone.client_credentials()})
    assert not any(is_alive(phone, pair) for pair in pairs.values())
    assert {phone.refresh(pair["refresh_token"]).status_code for pair in pairs.values()} == {400}


def test_introspection_of_replaced_tokens(world: World, phone: RelyingParty, browser: Browser, ada: Person) -> None:
    api = world.application("api", resource_server=True)
    replaced = tokens(phone, browser, ada)
    pairs = [replaced, refreshed(phone, replaced), refreshed(phone, replaced)]
    assert [api.introspect(pair["access_token"])["active"] for pair in pairs] == [True, True, True]
    assert refreshed(phone, pairs[1])
    assert phone.refresh(replaced["refresh_token"]).status_code == 200


def test_reuse_after_sign_out_is_refused(phone: RelyingParty, browser: Browser, ada: Person) -> None:
    stored = tokens(phone, browser, ada)
    refreshed(phone, stored)
    ada.close()
    assert phone.refresh(stored["refresh_token"]).status_code == 400


@pytest.mark.both_databases
def test_own_refresh_follows_the_tenant(new_tenant_server: NewTenantServer) -> None:
    tenant = new_tenant_server(refresh_token_reuse_seconds=10)
    issued = tenant.tokens(str(tenant.create(FirstName="Ada")["Uid"]))
    address = f"{MANAGE}/access_token/refresh"
    pairs = [answered(tenant.send("GET", address, refresh_token=issued["refresh_token"])) for _ in range(4)]
    assert len({pair["refresh_token"] for pair in pairs}) == 4
    assert refused(tenant.send("GET", address, refresh_token=issued["refresh_token"])) == (403, 1217)
    assert refused(tenant.send("GET", address, refresh_token=pairs[0]["refresh_token"])) == (403, 1217)


REFRESH = f"{MANAGE}/access_token/refresh"


@pytest.mark.both_databases
def test_own_replaced_token_is_revoked_as_its_successor(new_tenant_server: NewTenantServer) -> None:
    """While it may still get tokens, its holder must be able to end that."""
    tenant = new_tenant_server(refresh_token_reuse_seconds=10)
    issued = tenant.tokens(str(tenant.create(FirstName="Ada")["Uid"]))
    successor = answered(tenant.send("GET", REFRESH, refresh_token=issued["refresh_token"]))
    answered(tenant.send("GET", f"{REFRESH}/revoke", refresh_token=issued["refresh_token"]))
    for pair in (issued, successor):
        assert refused(tenant.send("GET", REFRESH, refresh_token=pair["refresh_token"])) == (403, 1217)
    assert refused(tenant.send("GET", f"{REFRESH}/revoke", refresh_token=issued["refresh_token"])) == (403, 1217)


@pytest.mark.parametrize("services", ["postgres"], indirect=True)  # SQLite has one writer at a time
@pytest.mark.parametrize(
    ("path", "of_request"),
    [
        (f"{REFRESH}/revoke", lambda pair: {"refresh_token": pair["refresh_token"]}),
        ("/api/v2/access_token/invalidate", lambda pair: {"access_token": pair["access_token"], "preventRefresh": "true"}),
    ],
    ids=["of refresh token", "of access token"],
)  # fmt: skip
def test_no_further_pair_outlives_a_revocation_meanwhile(
    new_tenant_server: NewTenantServer, path: str, of_request: Callable[[dict[str, Any]], dict[str, Any]]
) -> None:
    tenant = new_tenant_server(refresh_token_reuse_seconds=10)
    uid = str(tenant.create(FirstName="Ada")["Uid"])
    for _ in range(10):
        replaced = tenant.tokens(uid)
        successor = answered(tenant.send("GET", REFRESH, refresh_token=replaced["refresh_token"]))
        further = partial(tenant.send, "GET", REFRESH, refresh_token=replaced["refresh_token"])
        *pairs, revoked = at_once([*[further] * 3, partial(tenant.send, "GET", path, **of_request(successor))])
        answered(revoked)
        for pair in (item.get_json() for item in pairs if item.status_code == 200):
            assert refused(tenant.send("GET", REFRESH, refresh_token=pair["refresh_token"])) == (403, 1217)
