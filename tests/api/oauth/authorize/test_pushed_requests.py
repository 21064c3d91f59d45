"""Pushed authorization requests (RFC 9126)."""

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import pytest
from werkzeug.test import TestResponse

from app.contract.steps import LoginStep, RedirectStep, RefusedStep
from app.identity.platform.services import IdentityServices
from tests.support.oauth.relying_party import Browser, Person, Pkce, RelyingParty, code_of, moved, parameters_of
from tests.support.oauth.signed_requests import Signer, client_key, public_jwks
from tests.support.oauth.world import World
from tests.support.races import at_once
from tests.support.visitors.answered_step import AnsweredStep

PREFIX = "urn:ietf:params:oauth:request_uri:"


def status_and_error(answer: TestResponse) -> tuple[int, str]:
    return answer.status_code, (answer.json or {})["error"]


def pushed(client: RelyingParty, **changed: str | None) -> dict[str, str | None]:
    """Push a request and return what the browser takes along."""
    answer = client.push(**changed)
    assert answer.status_code == 201, answer.text
    return {"client_id": client.client_id, "request_uri": (answer.json or {})["request_uri"]}


def is_refused(step: AnsweredStep) -> bool:
    return (step.kind, step.part, step.error) == (RefusedStep, "request_uri", "invalid_request_uri")


def test_pushed_request_gets_a_code_once(shop: RelyingParty, browser: Browser, ada: Person) -> None:
    answer = shop.push(state="pushed <b>&", nonce="n")
    body = answer.json or {}
    assert (answer.status_code, body["expires_in"], answer.headers["Cache-Control"]) == (201, 90, "no-store")
    assert len(body["request_uri"].removeprefix(PREFIX)) == 43
    taken = {"client_id": "shop", "request_uri": body["request_uri"]}
    step = browser.signed_in(ada).authorize(taken)
    assert parameters_of(step)["state"] == "pushed <b>&"
    assert shop.redeem(code_of(step)).status_code == 200
    assert is_refused(browser.authorize(taken))


def test_parameters_of_the_browser_do_not_count(shop: RelyingParty, browser: Browser, ada: Person) -> None:
    evil = {"redirect_uri": "https://evil.example/", "scope": "openid", "state": "of the browser", "prompt": "login"}
    step = browser.signed_in(ada).authorize({**evil, **pushed(shop)})
    assert (step.address or "").startswith("https://shop.example/cb?")
    assert parameters_of(step)["state"] == "a state"
    assert (shop.redeem(code_of(step)).json or {})["scope"] == "openid profile email"


def test_pushed_request_expires(services: IdentityServices, shop: RelyingParty, browser: Browser, ada: Person) -> None:
    taken = pushed(shop)
    browser.signed_in(ada)
    with moved(services, seconds=91):
        assert is_refused(browser.authorize(taken))


def test_pushed_request_is_bound_to_client_issuer_and_tenant(
    shop: RelyingParty, strict: RelyingParty, foreign_shop: RelyingParty, browser: Browser, ada: Person
) -> None:
    taken = pushed(shop)
    browser.signed_in(ada)
    assert is_refused(browser.authorize({**taken, "client_id": strict.client_id}))
    assert is_refused(browser.authorize(taken, app="Shop"))
    foreign = Browser(browser.services, browser.wsgi, foreign_shop.tenant_name)
    assert is_refused(foreign.authorize(taken))
    assert "code" in parameters_of(browser.authorize(taken)), "another client's try does not use it up"


@pytest.mark.parametrize("text", ["", "x", "x" * 600, "%00", "urn:ietf:params:oauth:request_uri:x"])
def test_unknown_request_uri_gets_an_error_page(shop: RelyingParty, browser: Browser, text: str) -> None:
    step = browser.authorize({"client_id": shop.client_id, "request_uri": PREFIX + text})
    assert is_refused(step)
    beside = browser.authorize(shop.authorization_parameters(request_uri=PREFIX + text))
    assert parameters_of(beside)["error"] == "invalid_request_uri"


@pytest.mark.both_databases
def test_one_of_many_browsers_gets_a_pushed_request(world: World, shop: RelyingParty, ada: Person) -> None:
    taken = pushed(shop)
    browsers = [world.browser().signed_in(ada) for _ in range(20)]
    steps = at_once([partial(browser.authorize, taken) for browser in browsers])
    redirected = [parameters_of(step) for step in steps if step.kind is RedirectStep]
    assert sum("code" in item for item in redirected) == 1
    expired = [
        item["error"] for item in redirected if "code" not in item
    ]  # they began before the first one got its code
    assert expired == ["invalid_request_uri"] * (19 - sum(is_refused(step) for step in steps))


def test_page_of_a_pushed_request_can_be_loaded_again(
    services: IdentityServices, world: World, shop: RelyingParty, ada: Person
) -> None:
    """FAPI 2.0 Security Profile section 5.3.2.2: a request is used by its authorization, not by its first page."""
    taken = pushed(shop)
    first, second = world.browser(), world.browser()
    pages = [first.authorize(taken), second.authorize(taken)]
    assert [page.kind for page in pages] == [LoginStep, LoginStep]
    with moved(services, seconds=91):
        assert is_refused(world.browser().authorize(taken)), "a page that waits prolongs nothing"
        step = second.sign_in(pages[1].interaction_id, ada.email, ada.password)
        assert shop.redeem(code_of(step)).status_code == 200
        expired = parameters_of(first.sign_in(pages[0].interaction_id, ada.email, ada.password))
        assert (expired["error"], expired["state"]) == ("invalid_request_uri", "a state")
    assert is_refused(world.browser().signed_in(ada).authorize(taken))


def test_refused_pushed_request_is_used_up(world: World, asking: RelyingParty, ada: Person) -> None:
    taken = pushed(asking)
    browser = world.browser().signed_in(ada)
    pages = [browser.authorize(taken), browser.authorize(taken)]
    assert parameters_of(browser.consent(str(pages[0].interaction_id), allow=False))["error"] == "access_denied"
    assert parameters_of(browser.consent(str(pages[1].interaction_id), allow=True))["error"] == "invalid_request_uri"
    assert is_refused(browser.authorize(taken))


def test_second_submit_for_a_pushed_request_is_answered(world: World, asking: RelyingParty, ada: Person) -> None:
    browser = world.browser().signed_in(ada)
    page = browser.authorize(pushed(asking))
    codes = [code_of(browser.consent(str(page.interaction_id), allow=True)) for _ in range(2)]
    assert asking.redeem(codes[1]).status_code == 200


@pytest.mark.both_databases
def test_one_of_many_pages_of_a_pushed_request_gets_a_code(world: World, asking: RelyingParty, ada: Person) -> None:
    taken = pushed(asking)
    browsers = [world.browser().signed_in(ada) for _ in range(20)]
    pages = [(browser, str(browser.authorize(taken).interaction_id)) for browser in browsers]
    with ThreadPoolExecutor(10) as pool:
        steps = list(pool.map(lambda page: page[0].consent(page[1], allow=True), pages))
    assert sum("code" in parameters_of(step) for step in steps) == 1


REFUSED_PUSHES: list[tuple[dict[str, str | None], str]] = [
    ({"redirect_uri": "https://evil.example/"}, "invalid_request"),
    ({"redirect_uri": None}, "invalid_request"),
    ({"response_type": None}, "invalid_request"),
    ({"response_type": "token"}, "unsupported_response_type"),
    ({"scope": "openid permissions"}, "invalid_scope"),
    ({"scope": "profile"}, "request_not_supported"),
    ({"request_uri": f"{PREFIX}x"}, "invalid_request"),
    ({"request_uri": "https://shop.example/request.jwt"}, "invalid_request"),
    ({"request": "a.b.c"}, "request_not_supported"),
    ({"registration": "{}"}, "registration_not_supported"),
    ({"resource": "https://orders.example"}, "invalid_target"),
    ({"prompt": "none login"}, "invalid_request"),
    ({"claims": '{"id_token": {"acr": {"essential": true, "value": "urn:x"}}}'}, "unmet_authentication_requirements"),
    ({"state": "x" * 8193}, "invalid_request"),
    ({"code_challenge": "short"}, "invalid_request"),
]


def test_wrong_request_is_refused_when_pushed(shop: RelyingParty, subtests: pytest.Subtests) -> None:
    for changed, error in REFUSED_PUSHES:
        with subtests.test(str((changed, error))[:60]):
            assert status_and_error(shop.push(**changed)) == (400, error)


def test_push_requires_client_authentication(
    shop: RelyingParty, phone: RelyingParty, browser: Browser, ada: Person
) -> None:
    assert status_and_error(shop.push(client_secret="wrong")) == (401, "invalid_client")
    assert status_and_error(shop.push(client_secret=None)) == (401, "invalid_client")
    assert status_and_error(shop.push(client_id=None)) == (401, "invalid_client")
    assert status_and_error(shop.at_own_issuer().push(client_secret="wrong")) == (400, "unauthorized_client")
    assert status_and_error(phone.push()) == (400, "invalid_request"), "a public client needs PKCE"
    taken = pushed(phone, code_challenge=Pkce().challenge)
    assert "code" in parameters_of(browser.signed_in(ada).authorize(taken))


def test_repeated_parameter_of_a_push_is_refused(shop: RelyingParty) -> None:
    form = {**shop.authorization_parameters(), **shop.client_credentials()}
    pairs = [(name, value) for name, value in form.items() if value is not None]
    body = "&".join(f"{name}={value}" for name, value in [*pairs, ("scope", "openid")])
    form_type = "application/x-www-form-urlencoded"
    answer = shop.wsgi.post("/api/oidc/par", data=body, content_type=form_type, base_url=shop.hub_url)
    assert status_and_error(answer) == (400, "invalid_request")


def test_push_works_at_each_issuer_and_as_json(
    shop: RelyingParty, legacy: RelyingParty, browser: Browser, ada: Person
) -> None:
    browser.signed_in(ada)
    own = shop.at_own_issuer()
    assert "code" in parameters_of(browser.authorize(pushed(own), app=own.app))
    taken = pushed(legacy, scope="profile")
    assert "code" in parameters_of(browser.authorize(taken, app=legacy.app, protocol="oauth"))
    members: dict[str, Any] = {**shop.authorization_parameters(), **shop.client_credentials(), "max_age": 600}
    answer = shop.wsgi.post("/api/oidc/par", json=members, base_url=shop.hub_url)
    assert answer.status_code == 201, answer.text
    taken = {"client_id": "shop", "request_uri": (answer.json or {})["request_uri"]}
    assert "code" in parameters_of(browser.authorize(taken))


def test_client_that_must_push_is_refused_without(world: World, browser: Browser, ada: Person) -> None:
    """RFC 9126 section 6."""
    client = world.application(
        "pushing", require_pushed_authorization_requests=True, jwks=public_jwks(client_key("ES256"))
    )
    browser.signed_in(ada)
    assert parameters_of(browser.authorize(client.authorization_parameters()))["error"] == "invalid_request"
    signed = {"client_id": client.client_id, "request": Signer(client).request_object()}
    assert parameters_of(browser.authorize(signed))["error"] == "invalid_request", "signed is not pushed"
    assert "code" in parameters_of(browser.authorize(pushed(client)))


def test_signed_request_object_can_be_pushed(world: World, browser: Browser, ada: Person) -> None:
    """RFC 9126 section 3: only signed parameters count."""
    client = world.application("signing", jwks=public_jwks(client_key("ES256")), require_signed_request_object=True)
    assert status_and_error(client.push()) == (400, "invalid_request")
    taken = pushed(client, request=Signer(client).request_object(state="signed"), state="beside")
    assert parameters_of(browser.signed_in(ada).authorize(taken))["state"] == "signed"
    forged = Signer(client, key=client_key("ES256", "another")).request_object()
    assert status_and_error(client.push(request=forged)) == (400, "invalid_request_object")
