"""Pairwise identifiers (OpenID Connect Core section 8.1): applications of two sectors cannot compare the identifiers of a person."""

from __future__ import annotations

import json
import string
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from sqlalchemy import func, select

from app.contract.steps import ConfirmSignOutStep, SignedOutStep
from app.identity import create_services
from app.identity.directory.accounts.tables import accounts
from app.identity.directory.tenants.tables import subject_secrets
from app.identity.platform.services import IdentityServices
from app.identity.platform.store.unit_of_work import UnitOfWork
from app.identity.protocols.oauth.claims import subjects
from tests.support.fakes.identity_provider import FakeProvider
from tests.support.fakes.logout_receiver import LogoutReceiver
from tests.support.oauth.relying_party import Browser, Person, RelyingParty, claims_in, parameters_of
from tests.support.oauth.world import NewWorld, World
from tests.support.tenants.callers import call_of
from tests.support.tenants.machines import ask, machine
from tests.support.tenants.tenant_server import TenantServer, answered, refused

SHOP, SHOP_TOO, NEWS = "https://shop.example/cb", "https://shop.example/other", "https://news.example/cb"


def pairwise(world: World, name: str, *redirect_uris: str, **settings: Any) -> RelyingParty:
    return world.application(name, redirect_uris=redirect_uris or (SHOP,), subject_type="pairwise", **settings)


def tokens_of(client: RelyingParty, browser: Browser, person: Person, **changed: str | None) -> dict[str, Any]:
    return dict(client.redeem(browser.code(client, person, **changed)).json or {})


def subject_of(client: RelyingParty, browser: Browser, person: Person) -> str:
    return str(claims_in(tokens_of(client, browser, person)["id_token"])["sub"])


def test_subject_is_the_same_wherever_a_client_sees_it(world: World, browser: Browser, ada: Person) -> None:
    client = pairwise(world, "app", access_token_format="jwt")
    stored = tokens_of(client, browser, ada)
    subject = claims_in(stored["id_token"])["sub"]
    assert subject != ada.uid
    assert len(subject) <= 255, "OpenID Connect Core section 2"
    assert set(subject) <= set(string.ascii_letters + string.digits + "-_")
    renewed = client.refresh(stored["refresh_token"]).json or {}
    signed = pairwise(world, "signed", signed_userinfo=True)
    userinfo = signed.userinfo(tokens_of(signed, browser, ada)["access_token"]).text
    seen = [
        claims_in(stored["access_token"])["sub"],
        (client.userinfo(stored["access_token"]).json or {})["sub"],
        client.introspect(stored["access_token"])["sub"],
        client.introspect(renewed["refresh_token"])["sub"],
        claims_in(renewed["id_token"])["sub"],
        claims_in(renewed["access_token"])["sub"],
        claims_in(userinfo)["sub"],
        subject_of(client.at_own_issuer(), browser, ada),
        subject_of(client, world.browser(), ada),
    ]
    assert seen == [subject] * len(seen)


def test_resource_server_sees_subject_of_the_client(world: World, browser: Browser, ada: Person) -> None:
    """The same as in the JWT access token that it would get instead."""
    client, api = pairwise(world, "app"), world.application("api", resource_server=True)
    stored = tokens_of(client, browser, ada)
    assert api.introspect(stored["access_token"])["sub"] == claims_in(stored["id_token"])["sub"]


def test_sector_decides_which_applications_share_a_subject(
    world: World, new_world: NewWorld, browser: Browser, ada: Person
) -> None:
    shop = subject_of(pairwise(world, "shop", SHOP), browser, ada)
    named = {"sector_identifier_uri": "https://SHOP.example/sector.json"}
    assert subject_of(pairwise(world, "again", SHOP_TOO, SHOP), browser, ada) == shop
    assert subject_of(pairwise(world, "named", NEWS, **named), browser, ada) == shop
    assert subject_of(pairwise(world, "port", "https://shop.example:8443/cb"), browser, ada) == shop
    news = subject_of(pairwise(world, "news", NEWS), browser, ada)
    public = subject_of(world.application("public"), browser, ada)
    assert len({shop, news, public}) == 3
    assert public == ada.uid
    bob = world.person("bob@example.test")
    assert subject_of(pairwise(world, "fourth", SHOP), world.browser(), bob) != shop


def test_application_without_sector_is_one_of_its_own(world: World, browser: Browser, ada: Person) -> None:
    """No registration accepts one; a stored one must not share a sector with another such."""
    first = subject_of(pairwise(world, "first", SHOP, NEWS), browser, ada)
    second = subject_of(pairwise(world, "second", SHOP, NEWS), browser, ada)
    assert len({first, second, ada.uid}) == 3


def test_nothing_that_a_client_gets_has_the_uid(world: World, browser: Browser, ada: Person) -> None:
    client = pairwise(
        world, "app", access_token_format="jwt", scope="openid profile email phone address roles permissions"
    )
    stored = tokens_of(client, browser, ada, scope="openid profile email phone address roles permissions")
    shown = [
        json.dumps(claims_in(stored["id_token"])),
        json.dumps(claims_in(stored["access_token"])),
        client.userinfo(stored["access_token"]).text,
        json.dumps(client.introspect(stored["access_token"])),
        json.dumps({name: text for name, text in stored.items() if name not in ("id_token", "access_token")}),
    ]
    assert browser.session is not None
    public = claims_in(tokens_of(world.application("public"), browser, ada)["id_token"])
    for text in shown:
        assert ada.uid not in text
        assert public["sid"] not in text, "applications of two sectors could match accounts by it"


def test_session_is_named_by_sector(world: World, browser: Browser, ada: Person) -> None:
    def sid(name: str, address: str) -> str:
        return str(claims_in(tokens_of(pairwise(world, name, address), browser, ada)["id_token"])["sid"])

    assert sid("one", SHOP) == sid("two", SHOP_TOO) != sid("three", NEWS)


def test_id_token_hint_names_the_account(world: World, browser: Browser, ada: Person) -> None:
    client, eve = pairwise(world, "app"), world.person("eve@example.test")
    hint = tokens_of(client, browser, ada)["id_token"]
    silent = {"id_token_hint": hint, "prompt": "none"}
    assert "code" in parameters_of(browser.authorize(client.authorization_parameters(**silent)))
    other = world.browser().signed_in(eve)
    assert parameters_of(other.authorize(client.authorization_parameters(**silent)))["error"] == "login_required"


def test_id_token_hint_confirms_sign_out(world: World, browser: Browser, ada: Person) -> None:
    client, eve = pairwise(world, "app"), world.person("eve@example.test")
    hint = tokens_of(client, browser, ada)["id_token"]
    assert world.browser().signed_in(eve).sign_out(id_token_hint=hint).kind is ConfirmSignOutStep
    assert browser.sign_out(id_token_hint=hint).kind is SignedOutStep


def test_requested_subject_is_read_as_the_client_knows_it(world: World, browser: Browser, ada: Person) -> None:
    """OpenID Connect Core section 5.5.1. Neither a Uid nor another sector's identifier tells who is signed in."""
    client, other = pairwise(world, "app"), pairwise(world, "news", NEWS)
    own, foreign = subject_of(client, browser, ada), subject_of(other, browser, ada)

    def response_to(subject: str) -> dict[str, str]:
        claims = json.dumps({"id_token": {"sub": {"value": subject}}})
        return parameters_of(browser.authorize(client.authorization_parameters(claims=claims, prompt="none")))

    assert "code" in response_to(own)
    for subject in (ada.uid, foreign, "absent", "", own + "=", own[:-1], own.swapcase(), "x" * 300, "é"):
        assert response_to(subject)["error"] == "login_required", subject


def test_login_hint_is_read_as_the_client_knows_it(new_world: NewWorld) -> None:
    """Where people sign in with usernames, a Uid looks like one."""
    world = new_world(username_login=True, email_login=True)
    ada = world.person("ada@example.test")
    browser, client = world.browser(), pairwise(world, "app")
    own = subject_of(client, browser, ada)

    def response_to(hint: str) -> dict[str, str]:
        return parameters_of(browser.authorize(client.authorization_parameters(login_hint=hint, prompt="none")))

    assert "code" in response_to(own)
    assert response_to(ada.uid)["error"] == "login_required", (
        "a client that knows a Uid must not learn who is signed in"
    )


def test_exchanged_token_names_actor_as_its_client_knows_it(world: World, browser: Browser, ada: Person) -> None:
    """RFC 8693 section 4.1."""
    grants = ["authorization_code", "urn:ietf:params:oauth:grant-type:token-exchange"]
    client = pairwise(world, "app", access_token_format="jwt", grant_types=grants)
    stored = tokens_of(client, browser, ada)
    form = {
        "grant_type": grants[1], "subject_token": stored["access_token"], "actor_token": stored["id_token"],
        "subject_token_type": "urn:ietf:params:oauth:token-type:access_token",
        "actor_token_type": "urn:ietf:params:oauth:token-type:id_token", **client.client_credentials(),
    }  # fmt: skip
    answer = client.back("token", form)
    assert answer.status_code == 200, answer.text
    token = (answer.json or {})["access_token"]
    own = claims_in(stored["id_token"])["sub"]
    assert claims_in(token)["act"] == {"sub": own}
    assert client.introspect(token)["act"] == {"sub": own}


def test_subject_has_one_length_for_every_uid(services: IdentityServices, world: World) -> None:
    client = pairwise(world, "app")
    with call_of(services, world.name) as call:
        application = call.application(client_id=client.client_id)
        assert application is not None
        for uid in ("a", "b" * 31, "c" * 32):
            subject = subjects.of(call, application, uid)
            assert len(subject) == 64
            assert subjects.uid_of(call, application, subject) == uid
        assert subjects.session_id_of(call, application, subjects.of(call, application, "a")) is None


def test_every_process_gives_the_same_subject(services: IdentityServices, world: World, ada: Person) -> None:
    client = pairwise(world, "app")
    found = []
    for process in (services, create_services(services.settings, services.clock)):
        with call_of(process, world.name) as call:
            application = call.application(client_id=client.client_id)
            assert application is not None
            found.append(subjects.of(call, application, ada.uid))
    assert found[0] == found[1]


@pytest.mark.both_databases
def test_first_subjects_at_once_derive_from_one_secret(
    services: IdentityServices, world: World, browser: Browser, ada: Person
) -> None:
    client = pairwise(world, "app")
    codes = [browser.code(client, ada) for _ in range(20)]
    services.subject_secrets.clear()
    with ThreadPoolExecutor(20) as pool:
        found = set(pool.map(lambda code: claims_in((client.redeem(code).json or {})["id_token"])["sub"], codes))
    assert len(found) == 1
    with UnitOfWork(services.database, world.tenant_id).separate_transaction() as work:
        where = subject_secrets.c.tenant_id == world.tenant_id
        assert work.run(select(func.count()).where(where)).scalar_one() == 1


@pytest.mark.both_databases
def test_rolled_back_secret_is_never_used(services: IdentityServices, world: World, ada: Person) -> None:
    client = pairwise(world, "app")
    with call_of(services, world.name) as call:
        call.work.run(accounts.update().where(accounts.c.uid == ada.uid).values(email=ada.email))
        application = call.application(client_id=client.client_id)
        assert application is not None
        lost = subjects.of(call, application, ada.uid)
        assert subjects.of(call, application, ada.uid) == lost
        call.work.rollback()
        stored = subjects.of(call, application, ada.uid)
    assert stored != lost
    services.subject_secrets.clear()
    with call_of(services, world.name) as call:
        assert subjects.of(call, application, ada.uid) == stored


def test_metadata_lists_both_types(shop: RelyingParty) -> None:
    assert (shop.get("/.well-known/openid-configuration").json or {})["subject_types_supported"] == [
        "public",
        "pairwise",
    ]


@pytest.mark.parametrize(
    "members",
    [
        {"RedirectURIs": [SHOP, NEWS]},
        {"RedirectURIs": ["com.example.shop:/cb"]},
        {"RedirectURIs": [SHOP, "com.example.shop:/cb"]},
        {"RedirectURIs": [SHOP], "SectorIdentifierURI": "http://shop.example/sector.json"},
        {"RedirectURIs": [SHOP], "SubjectType": "other"},
    ],
)
def test_registration_without_one_sector_is_refused(acme: TenantServer, members: dict[str, Any]) -> None:
    """OpenID Connect Core section 8.1: several hosts need a sector_identifier_uri."""
    token = machine(acme, "client:create")
    body = {"AppName": "Shop", "SubjectType": "pairwise", **members}
    assert refused(ask(acme, token, "POST", "/v2/manage/oauth-clients", body)) == (400, 7900)


def test_registration_with_a_sector_is_accepted(acme: TenantServer, fake_provider: FakeProvider) -> None:
    token = machine(acme, "client:create", "client:update")
    body = {"AppName": "Shop", "SubjectType": "pairwise", "RedirectURIs": [SHOP, SHOP_TOO]}
    answered(ask(acme, token, "POST", "/v2/manage/oauth-clients", body))
    two = {"RedirectURIs": [SHOP, NEWS]}
    assert refused(ask(acme, token, "PUT", "/v2/manage/oauth-clients/Shop", two)) == (400, 7900)
    named = {**two, "SectorIdentifierURI": f"{fake_provider.url}/sector.json"}
    fake_provider.answers["/sector.json"] = (200, {}, json.dumps([SHOP, NEWS]).encode())
    changed = answered(ask(acme, token, "PUT", "/v2/manage/oauth-clients/Shop", named))
    assert (changed["SubjectType"], changed["SectorIdentifierURI"]) == ("pairwise", named["SectorIdentifierURI"])


@pytest.mark.both_databases
@pytest.mark.database_alone
def test_logout_tokens_name_the_sector_own_subject_and_session(
    world: World, receiver: LogoutReceiver, browser: Browser, ada: Person
) -> None:
    """OpenID Connect Back-Channel Logout section 2.4: the identifiers of the id_token."""
    desk = pairwise(world, "desk", backchannel_logout_uri=receiver.address, id_token_signed_response_alg="ES256")
    known = claims_in(tokens_of(desk, browser, ada)["id_token"])
    browser.sign_out(confirmed=True)
    receiver.deliver()
    request = next(item for item in receiver.server.received if item.path == "/out")
    received = claims_in(request.form["logout_token"])
    assert (received["sub"], received["sid"]) == (known["sub"], known["sid"])
    assert ada.uid not in json.dumps(received)
