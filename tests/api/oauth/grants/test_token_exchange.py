"""Token exchange (RFC 8693) and the interface's own exchange_token: nothing widens a token, and each exchange names who acts."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from werkzeug.test import TestResponse

from app.contract.applications.file import EXCHANGE_TOKEN, TOKEN_EXCHANGE
from app.identity.protocols.oauth.tokens import subject_tokens
from app.identity.protocols.oauth.tokens.subject_tokens import ACCESS_TOKEN, ID_TOKEN, JWT, REFRESH_TOKEN, SubjectToken
from tests.support.oauth.relying_party import Person, RelyingParty, claims_in, moved
from tests.support.oauth.token_exchange import (
    STOCK,
    Tokens,
    change_token,
    error,
    exchanged,
    good,
    signed_in,
)
from tests.support.oauth.world import NewWorld, World


def test_service_gets_narrower_token_that_names_it(
    world: World, frontend: RelyingParty, orders: RelyingParty, ada: Person
) -> None:
    stored = signed_in(world, frontend, ada)
    body = good(exchanged(orders, stored["access_token"], audience=STOCK, scope="email"))
    assert (body["issued_token_type"], body["token_type"], body["scope"]) == (ACCESS_TOKEN, "Bearer", "email")
    assert {"refresh_token", "id_token"}.isdisjoint(body)
    claims = claims_in(body["access_token"])
    assert (claims["sub"], claims["aud"], claims["client_id"]) == (ada.uid, STOCK, "orders")
    assert claims["act"] == {"sub": "orders@client"}
    assert claims["exp"] <= claims_in(stored["access_token"])["exp"]
    assert orders.introspect(body["access_token"])["act"] == {"sub": "orders@client"}


def test_own_token_is_narrowed_without_an_actor(world: World, ada: Person) -> None:
    shop = world.application("own", grant_types=["authorization_code", "refresh_token", TOKEN_EXCHANGE])
    stored = signed_in(world, shop, ada, scope="openid profile email offline_access")
    body = good(exchanged(shop, stored["access_token"], scope="openid"))
    assert body["scope"] == "openid"
    assert "act" not in shop.introspect(body["access_token"])
    complete = good(exchanged(shop, stored["refresh_token"], REFRESH_TOKEN))
    assert complete["scope"] == "openid profile email", "never offline_access"
    assert shop.refresh(stored["refresh_token"]).status_code == 200, "the exchange does not spend it"


def test_own_token_keeps_its_actors(world: World, frontend: RelyingParty, orders: RelyingParty, ada: Person) -> None:
    token = signed_in(world, frontend, ada)["access_token"]
    body = good(exchanged(orders, good(exchanged(orders, token))["access_token"]))
    assert orders.introspect(body["access_token"])["act"] == {"sub": "orders@client"}


def test_scope_and_audience_are_never_wider(
    world: World, frontend: RelyingParty, orders: RelyingParty, ada: Person
) -> None:
    token = signed_in(world, frontend, ada, scope="openid profile")["access_token"]
    assert error(exchanged(orders, token, scope="openid email")) == (400, "invalid_scope")
    assert error(exchanged(orders, token, scope="phone")) == (400, "invalid_scope")
    for missing in ({}, {"scope": ""}, {"scope": " "}):
        assert good(exchanged(orders, token, **missing))["scope"] == "openid profile"
    assert error(exchanged(orders, token, audience="front")) == (400, "invalid_target")
    assert error(exchanged(orders, token, audience=world.services.settings.base_url)) == (400, "invalid_target")
    assert error(exchanged(orders, token, audience=STOCK, resource="https://other.example")) == (400, "invalid_target")
    machine = f"{world.services.settings.base_url}/v2/manage"
    world.change(orders, exchange_audiences=[STOCK, machine])
    assert error(exchanged(orders, token, audience=machine)) == (400, "invalid_target")


def test_account_access_needs_both_applications(
    world: World, frontend: RelyingParty, orders: RelyingParty, ada: Person
) -> None:
    world.change(frontend, interface_access="full")
    token = signed_in(world, frontend, ada)["access_token"]
    assert "account:" not in good(exchanged(orders, token))["scope"]
    world.change(orders, interface_access="read")
    assert good(exchanged(orders, token))["scope"].split()[-1] == "account:read"


def test_tokens_of_other_applications_are_refused(
    world: World, orders: RelyingParty, shop: RelyingParty, ada: Person
) -> None:
    stored = signed_in(world, shop, ada)
    for token, kind in (
        (stored["access_token"], ACCESS_TOKEN),
        (stored["id_token"], ID_TOKEN),
        (stored["refresh_token"], REFRESH_TOKEN),
    ):
        assert error(exchanged(orders, token, kind)) == (400, "invalid_request")
    world.change(shop, may_act=["orders"])
    assert exchanged(orders, stored["access_token"]).status_code == 200
    assert error(exchanged(orders, stored["refresh_token"], REFRESH_TOKEN)) == (400, "invalid_request")


def test_audience_of_a_token_may_exchange_it(
    world: World, frontend: RelyingParty, orders: RelyingParty, ada: Person
) -> None:
    stock = world.application("stock", client_id="stock", redirect_uris=[], grant_types=[TOKEN_EXCHANGE])
    world.change(orders, exchange_audiences=["stock"])
    first = good(exchanged(orders, signed_in(world, frontend, ada)["access_token"], audience="stock"))["access_token"]
    body = good(exchanged(stock, first))
    assert stock.introspect(body["access_token"])["act"] == {"sub": "stock@client", "act": {"sub": "orders@client"}}


def test_chain_of_actors_is_bounded(world: World, frontend: RelyingParty, orders: RelyingParty, ada: Person) -> None:
    token = signed_in(world, frontend, ada)["access_token"]
    act: Tokens = {"sub": "a"}
    for _ in range(3):
        act = {"sub": "a", "act": act}
    change_token(world, token, facts={"act": act})
    assert error(exchanged(orders, token)) == (400, "invalid_request")
    change_token(world, token, facts={"act": act["act"]})
    assert exchanged(orders, token).status_code == 200


def test_actor_token_names_the_actor(world: World, frontend: RelyingParty, orders: RelyingParty, ada: Person) -> None:
    bob = world.person("bob@example.test")
    actor = signed_in(world, frontend, bob)
    subject = signed_in(world, frontend, ada)["access_token"]
    for text, kind in ((actor["access_token"], JWT), (actor["id_token"], ID_TOKEN)):
        body = good(exchanged(orders, subject, actor_token=text, actor_token_type=kind))
        assert claims_in(body["access_token"])["act"] == {"sub": bob.uid}
    refusals = (
        {"actor_token": actor["access_token"]},
        {"actor_token_type": ACCESS_TOKEN},
        {"actor_token": "nothing", "actor_token_type": ACCESS_TOKEN},
        {"actor_token": body["access_token"], "actor_token_type": ACCESS_TOKEN},
    )
    assert {error(exchanged(orders, subject, **refusal)) for refusal in refusals} == {(400, "invalid_request")}


def test_id_token_grants_openid_alone_while_its_session_lives(
    world: World, frontend: RelyingParty, orders: RelyingParty, ada: Person
) -> None:
    browser = world.browser()
    stored = good(frontend.redeem(browser.code(frontend, ada)))
    assert good(exchanged(orders, stored["id_token"], ID_TOKEN))["scope"] == "openid"
    assert error(exchanged(orders, stored["id_token"])) == (400, "invalid_request"), "it is no access token"
    assert error(exchanged(orders, stored["access_token"], ID_TOKEN)) == (400, "invalid_request")
    with moved(world.services, hours=2):
        assert error(exchanged(orders, stored["id_token"], ID_TOKEN)) == (400, "invalid_request")


def test_dead_bound_or_malformed_tokens_are_refused(
    world: World, frontend: RelyingParty, orders: RelyingParty, ada: Person
) -> None:
    token = signed_in(world, frontend, ada)["access_token"]
    head, body, mark = token.split(".")
    for text in ("", "x", "a.b.c", f"{head}.{body}.", f"{head}.{body}.{mark[:-2]}", "x" * 20_000):
        assert error(exchanged(orders, text)) == (400, "invalid_request")
    assert error(exchanged(orders, token, "urn:ietf:params:oauth:token-type:saml2"))[1] == "invalid_request"
    assert error(exchanged(orders, token, requested_token_type=REFRESH_TOKEN))[1] == "invalid_request"
    assert error(exchanged(orders, token, subject_token_type=None))[1] == "invalid_request"
    assert exchanged(orders, token, JWT, requested_token_type=JWT).status_code == 200
    with moved(world.services, days=1):
        assert error(exchanged(orders, token))[1] == "invalid_request"
    change_token(world, token, facts={"cnf": {"jkt": "x"}})
    assert error(exchanged(orders, token))[1] == "invalid_request"
    change_token(world, token, facts={"cnf": None, "org_id": "org_other"})
    assert error(exchanged(orders, token))[1] == "invalid_request"
    other = signed_in(world, frontend, ada)["access_token"]
    assert frontend.back("revoke", {"token": other, **frontend.client_credentials()}).status_code == 200
    assert error(exchanged(orders, other))[1] == "invalid_request"


def test_closed_account_is_refused(world: World, frontend: RelyingParty, orders: RelyingParty, ada: Person) -> None:
    token = signed_in(world, frontend, ada)["access_token"]
    ada.close()
    assert error(exchanged(orders, token)) == (400, "invalid_request")


@pytest.mark.both_databases
def test_foreign_tenants_token_is_refused(
    world: World, new_world: NewWorld, orders: RelyingParty, foreign_shop: RelyingParty
) -> None:
    other = new_world()
    client = other.application("front", client_id="front", may_act=["orders"])
    stored = signed_in(other, client, other.person("ada@example.test"))
    assert error(exchanged(orders, stored["access_token"])) == (400, "invalid_request")
    assert error(exchanged(orders, stored["id_token"], ID_TOKEN)) == (400, "invalid_request")


def test_only_registered_confidential_clients_exchange(
    world: World, frontend: RelyingParty, shop: RelyingParty, ada: Person
) -> None:
    token = signed_in(world, shop, ada)["access_token"]
    assert error(exchanged(shop, token)) == (403, "unauthorized_client")
    public = world.application("public", secret=None, grant_types=[TOKEN_EXCHANGE], redirect_uris=[])
    assert error(exchanged(public, token)) == (403, "unauthorized_client")


def test_end_of_session_ends_exchanged_tokens(
    world: World, frontend: RelyingParty, orders: RelyingParty, ada: Person
) -> None:
    browser = world.browser()
    stored = good(frontend.redeem(browser.code(frontend, ada)))
    token = good(exchanged(orders, stored["access_token"]))["access_token"]
    assert orders.introspect(token)["active"] is True
    browser.sign_out(client_id=frontend.client_id, confirmed=True)
    assert orders.introspect(token) == {"active": False}
    assert error(exchanged(orders, stored["access_token"]))[1] == "invalid_request"
    assert error(exchanged(orders, stored["id_token"], ID_TOKEN))[1] == "invalid_request"


def test_sign_out_between_the_token_and_its_session_leaves_none(
    world: World, frontend: RelyingParty, orders: RelyingParty, ada: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    browser = world.browser()
    stored = good(frontend.redeem(browser.code(frontend, ada)))
    read = subject_tokens.read

    def read_then_signed_out(*arguments: Any) -> SubjectToken:
        found = read(*arguments)
        browser.sign_out(client_id=frontend.client_id, confirmed=True)
        return found

    monkeypatch.setattr(subject_tokens, "read", read_then_signed_out)
    assert error(exchanged(orders, stored["access_token"])) == (400, "invalid_request")


def test_token_that_outlives_its_session_is_exchanged_after_it(world: World, orders: RelyingParty, ada: Person) -> None:
    client = world.application("lasting", client_id="lasting", may_act=["orders"], tokens_outlive_session=True)
    browser = world.browser()
    stored = good(client.redeem(browser.code(client, ada)))
    browser.sign_out(client_id=client.client_id, confirmed=True)
    token = good(exchanged(orders, stored["access_token"]))["access_token"]
    assert orders.introspect(token)["active"] is True


# exchange_token of the interface


def logged_in(world: World, ada: Person) -> str:
    answer = world.wsgi.post(
        "/identity/v2/auth/login",
        json={"email": ada.email, "password": ada.password},
        query_string={"apikey": world.api_key},
        base_url=f"http://{world.services.settings.api_hostname}",
    )
    assert answer.status_code == 200, answer.text
    return str((answer.json or {})["access_token"])


@pytest.fixture
def app(world: World) -> RelyingParty:
    return world.application("mobile", secret=None, grant_types=[EXCHANGE_TOKEN, "refresh_token"], redirect_uris=[])


def swapped(
    client: RelyingParty, token: str | None, host: str = "vendor.example", **changed: str | None
) -> TestResponse:
    form = {"grant_type": f"http://{host}/oauth/grant-type/exchange_token", "token": token}
    return client.back("token", {**form, **client.client_credentials(), **changed})


def test_interface_token_becomes_tokens_of_the_client(world: World, app: RelyingParty, ada: Person) -> None:
    token = logged_in(world, ada)
    body = good(swapped(app, token, scope="openid email"))
    assert claims_in(body["id_token"])["sub"] == ada.uid
    assert (body["scope"], body["token_type"], body["expire_in"]) == ("openid email", "Bearer", str(body["expires_in"]))
    assert (app.userinfo(body["access_token"]).json or {})["email"] == ada.email
    assert good(app.refresh(body["refresh_token"]))["scope"] == "openid email"
    assert swapped(app, token, "gatehouse").status_code == 200, "any host names the grant"


def test_exchange_token_of_an_oauth_application(world: World, ada: Person) -> None:
    older = world.application("Older", protocol="oauth", grant_types=[EXCHANGE_TOKEN], redirect_uris=[])
    body = good(swapped(older, logged_in(world, ada)))
    assert "id_token" not in body
    assert older.introspect(body["access_token"])["sub"] == ada.uid


def test_exchange_token_refuses_other_tokens(
    world: World, app: RelyingParty, shop: RelyingParty, foreign_shop: RelyingParty, ada: Person, new_world: NewWorld
) -> None:
    token = logged_in(world, ada)
    own = signed_in(world, shop, ada)
    other = new_world()
    foreign = logged_in(other, other.person("ada@example.test"))
    for text in ("x", own["access_token"], own["refresh_token"], own["id_token"], foreign, "x" * 20_000):
        assert error(swapped(app, text)) == (400, "invalid_grant")
    assert error(swapped(app, None)) == (400, "invalid_request")
    assert error(swapped(app, token, scope="everything")) == (400, "invalid_scope")
    assert error(swapped(app, token, host="vendor.example/x")) == (400, "unsupported_grant_type")
    assert error(swapped(shop, token)) == (403, "unauthorized_client")
    change_token(world, token, facts={"cnf": {"jkt": "x"}})
    assert error(swapped(app, token)) == (400, "invalid_grant")
    with moved(world.services, days=40):
        assert error(swapped(app, token)) == (400, "invalid_grant")
    ada.close()
    assert error(swapped(app, token)) == (400, "invalid_grant")


def test_impersonation_token_stays_one(world: World, app: RelyingParty, ada: Person) -> None:
    token = logged_in(world, ada)
    change_token(world, token, facts={"act": {"sub": "support@client"}})
    confidential = world.application("backend", grant_types=[EXCHANGE_TOKEN], redirect_uris=[])
    body = good(swapped(confidential, token))
    assert confidential.introspect(body["access_token"])["act"] == {"sub": "support@client"}


def test_exchanged_tokens_end_with_the_presented_ones_family(world: World, app: RelyingParty, ada: Person) -> None:
    token = logged_in(world, ada)
    ends = int((world.services.clock.now() + timedelta(seconds=90)).timestamp())
    change_token(world, token, facts={"ends_at": ends})
    assert good(swapped(app, token))["expires_in"] <= 90


@pytest.mark.both_databases
def test_twenty_exchanges_at_once_all_answer(
    world: World, frontend: RelyingParty, orders: RelyingParty, ada: Person
) -> None:
    token = signed_in(world, frontend, ada)["access_token"]
    with ThreadPoolExecutor(20) as pool:
        answers = list(pool.map(lambda _: exchanged(orders, token).status_code, range(20)))
    assert set(answers) == {200}
