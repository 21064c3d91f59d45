"""Logout tokens for the applications of sessions that end (OpenID Connect Back-Channel Logout 1.0 sections 2.2 to 2.8)."""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from sqlalchemy import select, update

from app.contract.applications.file import DEVICE_GRANT
from app.contract.steps import ConfirmSignOutStep, SignedOutStep
from app.identity.authentication.sign_in.sessions.sessions import MAX_RELYING_PARTIES
from app.identity.authentication.sign_in.tables import sessions
from app.identity.platform.store.unit_of_work import UnitOfWork
from tests.support.fakes.logout_receiver import LogoutReceiver, read
from tests.support.oauth.relying_party import Browser, Person, RelyingParty, claims_in, moved
from tests.support.oauth.world import NewWorld, World

EVENT = "http://schemas.openid.net/event/backchannel-logout"


@pytest.fixture
def desk(world: World, receiver: LogoutReceiver) -> RelyingParty:
    return world.application("desk", client_id="desk", backchannel_logout_uri=receiver.address)


def signed_in(browser: Browser, client: RelyingParty, person: Person, **changed: str) -> dict[str, Any]:
    """Sign the person in at the client and return its tokens."""
    tokens: dict[str, Any] = client.redeem(browser.code(client, person, **changed)).json or {}
    return tokens


@pytest.mark.database_alone
def test_logout_token_names_the_ended_session(
    world: World, desk: RelyingParty, receiver: LogoutReceiver, browser: Browser, ada: Person
) -> None:
    """Back-Channel Logout 1.0 sections 2.4 and 2.5."""
    id_token = signed_in(browser, desk, ada, nonce="n")["id_token"]
    browser.sign_out(id_token_hint=id_token)
    receiver.deliver()
    request = next(item for item in receiver.server.received if item.path == "/out")
    assert request.headers["Content-Type"] == "application/x-www-form-urlencoded"
    assert list(request.form) == ["logout_token"]
    claims, known = read(desk, request.form["logout_token"]), claims_in(id_token)
    assert {name: claims[name] for name in ("iss", "sub", "sid", "aud")} == {
        name: known[name] for name in ("iss", "sub", "sid", "aud")
    }
    assert (claims["events"], claims["exp"] - claims["iat"]) == ({EVENT: {}}, 3_600)
    assert len(claims["jti"]) >= 24
    assert set(claims) == {"iss", "sub", "sid", "aud", "iat", "exp", "jti", "events"}, "never a nonce"
    assert [row.state for row in receiver.rows(world)] == ["sent"]


def test_logout_token_has_the_issuer_of_the_id_token(
    world: World, desk: RelyingParty, receiver: LogoutReceiver, browser: Browser, ada: Person
) -> None:
    signed_in(browser, desk.at_own_issuer(), ada)
    browser.sign_out(confirmed=True)
    assert [item["iss"] for item in receiver.posted(world, desk)] == [f"{desk.hub_url}/service/oidc/desk"]


def test_only_applications_of_the_session_get_a_token(
    world: World, desk: RelyingParty, receiver: LogoutReceiver, browser: Browser, ada: Person
) -> None:
    """Back-Channel Logout 1.0 section 2.3: an application never gets the `sid` of a session in which it took no part."""
    board = world.application("board", client_id="board", backchannel_logout_uri=receiver.address)
    other = world.browser()
    at_desk, at_board = signed_in(browser, desk, ada), signed_in(other, board, ada)
    signed_in(world.browser(), board, world.person("grace@example.test"))
    browser.sign_out(confirmed=True)
    assert [item["sid"] for item in receiver.posted(world, desk)] == [claims_in(at_desk["id_token"])["sid"]]
    assert receiver.posted(world, board) == []
    other.sign_out(confirmed=True)
    assert [item["sid"] for item in receiver.posted(world, board)] == [claims_in(at_board["id_token"])["sid"]]


@pytest.mark.both_databases
def test_other_tenants_application_gets_no_token(
    new_world: NewWorld, world: World, desk: RelyingParty, receiver: LogoutReceiver, browser: Browser, ada: Person
) -> None:
    foreign = new_world()
    foreign.application("desk", client_id="desk", backchannel_logout_uri=receiver.address)
    signed_in(browser, desk, ada)
    browser.sign_out(confirmed=True)
    assert len(receiver.posted(world, desk)) == 1
    assert receiver.rows(foreign) == []


def test_every_address_gets_the_token(world: World, receiver: LogoutReceiver, browser: Browser, ada: Person) -> None:
    client = world.application(
        "desk",
        backchannel_logout_uri=receiver.address,
        backchannel_logout_uris=[f"{receiver.address}?at=2", receiver.address],
        logout_token_seconds=120,
    )
    signed_in(browser, client, ada)
    browser.sign_out(confirmed=True)
    posted = receiver.posted(world, client)
    assert [item["exp"] - item["iat"] for item in posted] == [120, 120]
    assert posted[0] == posted[1], "one token, so that an application can tell repetitions by `jti`"


def test_offline_access_stays_and_other_tokens_end(
    world: World, desk: RelyingParty, receiver: LogoutReceiver, browser: Browser, ada: Person
) -> None:
    """Back-Channel Logout 1.0 section 2.7."""
    offline = signed_in(browser, desk, ada, scope="openid offline_access")
    online = signed_in(browser, desk, ada, scope="openid")
    browser.sign_out(confirmed=True)
    assert len(receiver.posted(world, desk)) == 1
    assert desk.refresh(offline["refresh_token"]).status_code == 200
    assert desk.refresh(online["refresh_token"]).status_code == 400
    assert desk.userinfo(online["access_token"]).status_code == 401


Act = Callable[[World, Browser, Person], None]


def by_page(world: World, browser: Browser, person: Person) -> None:
    assert browser.sign_out(confirmed=True).kind is SignedOutStep


def by_application(world: World, browser: Browser, person: Person) -> None:
    assert browser.sign_out(client_id="desk", confirmed=True).kind is SignedOutStep


def by_password(world: World, browser: Browser, person: Person) -> None:
    _manage(world, "PUT", f"/identity/v2/manage/account/{person.uid}", {"Password": "Another-horse 8"})


def by_block(world: World, browser: Browser, person: Person) -> None:
    _manage(world, "PUT", f"/identity/v2/manage/account/{person.uid}", {"IsActive": False})


def by_deletion(world: World, browser: Browser, person: Person) -> None:
    _manage(world, "DELETE", f"/identity/v2/manage/account/{person.uid}", None)


def by_revocation(world: World, browser: Browser, person: Person) -> None:
    """Another browser of the account ends this session on the security page."""
    other = world.browser().signed_in(person)
    answer = other.send("POST", "/hub/sessions/end", json.dumps({"Others": True}).encode())
    assert answer.status_code == 200, answer.text


def _manage(world: World, method: str, path: str, body: dict[str, Any] | None) -> None:
    answer = world.wsgi.open(
        path,
        method=method,
        json=body,
        base_url=world.services.settings.base_url,
        query_string={"apikey": world.api_key, "apisecret": world.api_secret},
    )
    assert answer.status_code == 200, answer.text


SIGN_OUTS: list[tuple[Act, str]] = [
    (by_page, "idp_logout"),
    (by_application, "rp_logout"),
    (by_password, "password_change"),
    (by_block, "account_delete"),
    (by_deletion, "account_delete"),
    (by_revocation, "idp_logout"),
]


@pytest.mark.parametrize(("act", "reason"), SIGN_OUTS, ids=[act.__name__ for act, _ in SIGN_OUTS])
def test_each_reason_can_be_switched(
    world: World, receiver: LogoutReceiver, browser: Browser, ada: Person, act: Act, reason: str
) -> None:
    """On sign-out by an application or here, password change and deletion, as switched."""
    reasons = ["rp_logout", "idp_logout", "password_change", "account_delete"]
    desk = world.application(
        "desk", client_id="desk", backchannel_logout_uri=receiver.address, backchannel_logout_on=[reason]
    )
    mute = world.application(
        "mute",
        client_id="mute",
        backchannel_logout_uri=receiver.address,
        backchannel_logout_on=[item for item in reasons if item != reason],
    )
    sid = claims_in(signed_in(browser, desk, ada)["id_token"])["sid"]
    signed_in(browser, mute, ada)
    act(world, browser, ada)
    assert [item["sid"] for item in receiver.posted(world, desk)] == [sid]
    assert receiver.posted(world, mute) == []


def test_device_gets_a_token_when_its_own_session_ends(
    world: World, receiver: LogoutReceiver, browser: Browser, ada: Person
) -> None:
    tv = world.application(
        "tv", secret=None, grant_types=[DEVICE_GRANT], redirect_uris=[], backchannel_logout_uri=receiver.address
    )
    body = tv.start_device(scope="openid").json or {}
    browser.allow_device(browser.signed_in(ada).type_code(body["user_code"]).interaction_id)
    sid = claims_in((tv.poll(body["device_code"]).json or {})["id_token"])["sid"]
    browser.sign_out(confirmed=True)
    assert receiver.posted(world, tv) == [], "the browser's session is another one"
    by_revocation(world, browser, ada)
    assert [item["sid"] for item in receiver.posted(world, tv)] == [sid]


def test_sign_in_of_another_account_ends_the_session(
    world: World, desk: RelyingParty, receiver: LogoutReceiver, browser: Browser, ada: Person
) -> None:
    signed_in(browser, desk, ada)
    grace = world.person("grace@example.test")
    browser.sign_in(None, grace.email, grace.password)
    assert [item["sub"] for item in receiver.posted(world, desk)] == [ada.uid]


def test_reauthentication_keeps_the_session(
    world: World, desk: RelyingParty, receiver: LogoutReceiver, browser: Browser, ada: Person
) -> None:
    signed_in(browser, desk, ada)
    browser.sign_in(None, ada.email, ada.password)
    assert receiver.posted(world, desk) == []


@pytest.mark.both_databases
def test_sign_out_everywhere_covers_each_session(
    world: World, desk: RelyingParty, receiver: LogoutReceiver, ada: Person
) -> None:
    sids = {claims_in(signed_in(world.browser(), desk, ada)["id_token"])["sid"] for _ in range(3)}
    by_password(world, world.browser(), ada)
    assert {item["sid"] for item in receiver.posted(world, desk)} == sids


def test_many_sessions_are_ended_by_one_token(
    world: World, desk: RelyingParty, receiver: LogoutReceiver, ada: Person
) -> None:
    """Back-Channel Logout 1.0 section 2.4: without `sid` a token ends all sessions of `sub`."""
    strict = world.application(
        "strict",
        client_id="strict",
        backchannel_logout_uri=receiver.address,
        backchannel_logout_session_required=True,
    )
    browser = world.browser()
    signed_in(browser, desk, ada)
    signed_in(browser, strict, ada)
    multiply(world, ada, 24)
    by_password(world, browser, ada)
    assert [("sid" in item, item["sub"]) for item in receiver.posted(world, desk)] == [(False, ada.uid)]
    assert len({item["sid"] for item in receiver.posted(world, strict)}) == 25


def multiply(world: World, person: Person, count: int) -> None:
    """Copy the person's session, as other browsers would have it."""
    with UnitOfWork(world.services.database, world.tenant_id).separate_transaction() as work:
        where = (sessions.c.tenant_id == world.tenant_id, sessions.c.uid == person.uid)
        row = dict(work.run(select(sessions).where(*where)).one()._mapping)
        for number in range(count):
            named = {
                "session_hash": f"copy-{person.uid}-{number}"[:64],
                "session_id": f"copy-{person.uid}-{number}"[:64],
            }
            work.run(sessions.insert(), {**row, **named})


def test_sign_out_without_logout_addresses_stays_within_budget(
    shop: RelyingParty, browser: Browser, ada: Person
) -> None:
    signed_in(browser, shop, ada)
    browser.sign_out(confirmed=True)
    spent = browser.spent()
    assert (spent["sql"] <= 6, spent["commits"], spent["signatures"]) == (True, 1, 0), spent


@pytest.mark.both_databases
def test_session_remembers_a_bounded_number_of_applications(
    world: World, browser: Browser, ada: Person, shop: RelyingParty
) -> None:
    signed_in(browser, shop, ada)
    where = (sessions.c.tenant_id == world.tenant_id, sessions.c.uid == ada.uid)
    with UnitOfWork(world.services.database, world.tenant_id).separate_transaction() as work:
        many = [f"app-{number}" for number in range(MAX_RELYING_PARTIES)]
        work.run(update(sessions).where(*where).values(relying_parties=many, issuers=dict.fromkeys(many, "x")))
    signed_in(browser, shop, ada)
    with UnitOfWork(world.services.database, world.tenant_id).separate_transaction() as work:
        row = work.run(select(sessions).where(*where)).one()
    assert (len(row.relying_parties), row.relying_parties[-1]) == (MAX_RELYING_PARTIES, "shop")
    assert set(row.issuers) == set(row.relying_parties)


@pytest.mark.both_databases
def test_applications_that_join_at_once_all_get_tokens(
    world: World, receiver: LogoutReceiver, browser: Browser, ada: Person
) -> None:
    clients = [
        world.application(f"app{number}", client_id=f"app{number}", backchannel_logout_uri=receiver.address)
        for number in range(8)
    ]
    signed_in(browser, clients[0], ada)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda client: browser.code(client, ada), clients))
    browser.sign_out(confirmed=True)
    assert [len(receiver.posted(world, client)) for client in clients] == [1] * 8


@pytest.mark.both_databases
def test_one_of_many_sign_outs_posts_the_token(
    world: World, desk: RelyingParty, receiver: LogoutReceiver, browser: Browser, ada: Person
) -> None:
    signed_in(browser, desk, ada)
    cookie = browser.session
    body = json.dumps({"Confirmed": True}).encode()

    def sign_out(_: int) -> int:
        copy = Browser(browser.services, browser.wsgi, browser.tenant_name, session=cookie)
        return copy.send("POST", "/hub/sign-out", body).status_code

    with ThreadPoolExecutor(10) as pool:
        assert set(pool.map(sign_out, range(20))) == {200}
    assert len(receiver.posted(world, desk)) == 1


@pytest.mark.both_databases
def test_session_of_an_earlier_version_gets_tokens_too(
    world: World, desk: RelyingParty, receiver: LogoutReceiver, browser: Browser, ada: Person
) -> None:
    """Rows from before the column `issuers` name no issuer: the tenant's is assumed."""
    signed_in(browser, desk, ada)
    with UnitOfWork(world.services.database, world.tenant_id).separate_transaction() as work:
        work.run(update(sessions).where(sessions.c.tenant_id == world.tenant_id).values(issuers=None))
    browser.sign_out(confirmed=True)
    assert [item["iss"] for item in receiver.posted(world, desk)] == [desk.hub_url]


def test_expired_session_is_not_announced(
    world: World, desk: RelyingParty, receiver: LogoutReceiver, browser: Browser, ada: Person
) -> None:
    signed_in(browser, desk, ada)
    with moved(world.services, days=60):
        by_password(world, browser, ada)
    assert receiver.rows(world) == []


def test_sign_out_without_a_key_of_the_algorithm_posts_nothing(
    world: World, desk: RelyingParty, receiver: LogoutReceiver, browser: Browser, ada: Person
) -> None:
    """A key is never created while sessions end; without one the application has no id_token either."""
    browser.code(desk, ada)
    world.change(desk, id_token_signed_response_alg="EdDSA")
    assert browser.sign_out(confirmed=True).kind is SignedOutStep
    assert receiver.rows(world) == []


def test_inactive_application_gets_no_token(
    world: World, desk: RelyingParty, receiver: LogoutReceiver, browser: Browser, ada: Person
) -> None:
    signed_in(browser, desk, ada)
    world.change(desk, is_active=False)
    browser.sign_out(confirmed=True)
    assert receiver.rows(world) == []


@pytest.mark.database_alone
def test_logout_token_is_no_id_token_hint(
    world: World, desk: RelyingParty, receiver: LogoutReceiver, browser: Browser, ada: Person
) -> None:
    """RFC 8725 section 3.11: one kind of JWT never stands in for another."""
    signed_in(browser, desk, ada)
    other = world.browser()
    signed_in(other, desk, ada)
    by_revocation(world, browser, ada)
    receiver.deliver()
    token = receiver.tokens[0]
    again = world.browser().signed_in(ada)
    assert again.sign_out(id_token_hint=token).kind is ConfirmSignOutStep
    assert desk.introspect(token) == {"active": False}
    assert desk.userinfo(token).status_code == 401


def test_metadata_offers_back_channel_logout(desk: RelyingParty) -> None:
    """Back-Channel Logout 1.0 section 2.1."""
    metadata = desk.get("/.well-known/openid-configuration").json or {}
    assert metadata["backchannel_logout_supported"] is True
    assert metadata["backchannel_logout_session_supported"] is True


@pytest.mark.database_alone
def test_logout_token_has_the_algorithm_of_id_tokens(
    world: World, receiver: LogoutReceiver, browser: Browser, ada: Person
) -> None:
    """Back-Channel Logout 1.0 section 2.4: `id_token_signed_response_alg` signs both."""
    desk = world.application("desk", backchannel_logout_uri=receiver.address, id_token_signed_response_alg="ES256")
    signed_in(browser, desk, ada)
    browser.sign_out(confirmed=True)
    receiver.deliver()
    assert read(desk, receiver.tokens[0], "ES256")["sub"] == ada.uid
