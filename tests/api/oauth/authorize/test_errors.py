"""Errors of the authorization endpoint: on an error page, or returned to the redirect URI."""

import json
from base64 import urlsafe_b64encode
from typing import Any

import pytest

from app.contract.steps import FormPostStep, RedirectStep, RefusedStep
from tests.support.oauth.relying_party import Browser, Person, Pkce, RelyingParty, parameters_of
from tests.support.oauth.world import NewWorld, World

REGISTERED = "https://shop.example/cb"

FORGED_REDIRECT_URIS = [
    "https://shop.example/cb/",
    "https://shop.example/cb#fragment",
    "https://shop.example/cb?",
    "https://shop.example/CB",
    "https://SHOP.example/cb",
    "HTTPS://shop.example/cb",
    "http://shop.example/cb",
    "https://shop.example:443/cb",
    "https://shop.example@evil.example/cb",
    "https://evil.example@shop.example/cb",
    "https://shop.example.evil.example/cb",
    "https://evil.example/https://shop.example/cb",
    "//shop.example/cb",
    "https:shop.example/cb",
    "https:/shop.example/cb",
    "https://shop.example\\@evil.example/cb",
    "https://shop.example/cb/../cb",
    "https://shop.example/%63b",
    "https://shop.example/cb%00",
    "https://shop.example/cb%0d%0aLocation:%20https://evil.example",
    "https://shop.example/cb?next=https://evil.example",
    "https://shop.example/cb;x",
    " https://shop.example/cb",
    "https://shop.example/cb ",
    "https://shop.example/*",
    "javascript:alert(1)//https://shop.example/cb",
    "data:text/html,https://shop.example/cb",
    "https://ѕhop.example/cb",
    "https://shop.example。evil.example/cb",
]


def test_redirect_uri_that_differs_from_registered_is_refused(
    shop: RelyingParty, browser: Browser, ada: Person, subtests: pytest.Subtests
) -> None:
    browser.signed_in(ada)
    for uri in FORGED_REDIRECT_URIS:
        with subtests.test(uri[:60]):
            step = browser.authorize(shop.authorization_parameters(redirect_uri=uri))
            assert (step.kind, step.part, step.address) == (RefusedStep, "redirect_uri", None)
            assert step.relying_party is not None
            assert step.relying_party.home == "https://shop.example/"


def test_missing_or_repeated_redirect_uri_is_refused(shop: RelyingParty, browser: Browser) -> None:
    assert browser.authorize(shop.authorization_parameters(redirect_uri=None)).kind is RefusedStep
    pairs = [(name, value) for name, value in shop.authorization_parameters().items() if value]
    for name in ("redirect_uri", "client_id"):
        twice = browser.authorize([*pairs, (name, "https://evil.example")])
        assert (twice.kind, twice.address) == (RefusedStep, None)


LOOPBACK = [
    ("http://127.0.0.1/cb", True),
    ("http://127.0.0.1:51004/cb", True),
    ("http://[::1]:9/cb", True),
    ("http://127.0.0.1:51004/other", False),
    ("https://127.0.0.1:51004/cb", False),
    ("http://localhost:51004/cb", False),
    ("http://127.0.0.2:51004/cb", False),
    ("http://127.0.0.1:51004@evil.example/cb", False),
    ("http://127.0.0.1:x/cb", False),
    ("http://127.0.0.1:99999/cb", False),
    ("http://127.0.0.1:0/cb", False),
    ("http://[::1]:70000/cb", False),
    ("http://127.0.0.1:123456/cb", False),
    ("http://127.0.0.1.evil.example/cb", False),
    ("http://127.0.0.1:51004/cb#x", False),
    ("http://127.0.0.1:51004/cb?x=1", False),
    ("com.example.phone:/cb", True),
    ("com.example.phone://cb", False),
]


def test_native_client_may_choose_loopback_port(
    phone: RelyingParty, browser: Browser, ada: Person, subtests: pytest.Subtests
) -> None:
    browser.signed_in(ada)
    for uri, is_allowed in LOOPBACK:
        with subtests.test(uri):
            step = browser.authorize(phone.authorization_parameters(redirect_uri=uri, code_challenge=Pkce().challenge))
            assert step.kind is (RedirectStep if is_allowed else RefusedStep)


UNREADABLE = (
    "http://127.0.0.1:99999/cb",
    "http://[::1/cb",
    "com.example.app://host:99999/cb",
    "https://a%20b.example/cb",
)
LOCALHOST = [
    ("http://localhost/cb", True),
    ("http://localhost:51004/cb", True),
    ("http://localhost:99999/cb", False),
    ("http://localhost:51004/other", False),
    ("http://127.0.0.1:51004/cb", False),
    ("https://localhost:51004/cb", False),
    ("http://localhost.evil.example:51004/cb", False),
    ("http://app.localhost:51004/cb", False),
]


def test_native_client_may_choose_localhost_port(
    world: World, browser: Browser, ada: Person, subtests: pytest.Subtests
) -> None:
    registered = ["http://localhost:8080/cb"]
    terminal = world.application("terminal", secret=None, application_type="native", redirect_uris=registered)
    browser.signed_in(ada)
    for uri, is_allowed in LOCALHOST:
        with subtests.test(uri):
            parameters = terminal.authorization_parameters(redirect_uri=uri, code_challenge=Pkce().challenge)
            assert browser.authorize(parameters).kind is (RedirectStep if is_allowed else RefusedStep)


def test_localhost_port_is_exact_for_web_and_fapi(
    world: World, browser: Browser, ada: Person, subtests: pytest.Subtests
) -> None:
    registered, browser = ["http://localhost:8080/cb"], browser.signed_in(ada)
    fapi = {"application_type": "native", "security_profile": "fapi2"}
    for number, kind in enumerate(({"application_type": "web"}, {"application_type": "spa"}, fapi)):
        client = world.application(
            f"exact{number}", redirect_uris=registered, secret="a secret of the application", **kind
        )
        parameters = client.authorization_parameters(
            redirect_uri="http://localhost:51004/cb", code_challenge=Pkce().challenge
        )
        step = browser.authorize(parameters)
        with subtests.test(str(kind)):
            assert (step.kind, step.part) == (RefusedStep, "redirect_uri")


def test_unreadable_registered_address_is_refused_on_page(
    world: World, browser: Browser, ada: Person, subtests: pytest.Subtests
) -> None:
    """Settings that an earlier version stored."""
    browser.signed_in(ada)
    for number, uri in enumerate(UNREADABLE):
        shop = world.application(f"old{number}", redirect_uris=[uri], application_type="native")
        with subtests.test(uri):
            step = browser.authorize(shop.authorization_parameters())
            assert (step.kind, step.part, step.address) == (RefusedStep, "redirect_uri", None)
            out = browser.sign_out(client_id=shop.client_id, post_logout_redirect_uri=uri)
            assert out.address is None


def test_web_client_may_not_choose_port(loopback_web: RelyingParty, browser: Browser, ada: Person) -> None:
    browser.signed_in(ada)
    assert browser.authorize(loopback_web.authorization_parameters()).kind is RedirectStep
    assert (
        browser.authorize(loopback_web.authorization_parameters(redirect_uri="http://127.0.0.1:51004/cb")).kind
        is RefusedStep
    )


def test_unknown_or_foreign_client_gets_error_page(shop: RelyingParty, browser: Browser, legacy: RelyingParty) -> None:
    for parameters in (
        shop.authorization_parameters(client_id="absent"),
        shop.authorization_parameters(client_id=None),
        shop.authorization_parameters(client_id="x" * 500),
    ):
        assert browser.authorize(parameters).part == "client"
    assert browser.authorize(shop.authorization_parameters(), app=legacy.app, protocol="oauth").part == "client"
    assert browser.authorize(shop.authorization_parameters(), app="absent").part == "client"
    assert (
        browser.authorize(shop.authorization_parameters(), app=shop.at_own_issuer().app, protocol="oauth").part
        == "client"
    )


def test_deactivated_client_gets_error_page(retired: RelyingParty, browser: Browser) -> None:
    assert browser.authorize(retired.authorization_parameters()).part == "client"


REDIRECTED_ERRORS: list[tuple[Any, str]] = [
    ({"response_type": None}, "invalid_request"),
    ({"response_type": "token"}, "unsupported_response_type"),
    ({"response_type": "code id_token"}, "unauthorized_client"),
    ({"scope": "profile"}, "request_not_supported"),
    ({"scope": None}, "invalid_scope"),
    ({"scope": "openid permissions"}, "invalid_scope"),
    ({"scope": "openid account:write"}, "invalid_scope"),
    ({"response_mode": "web_message"}, "invalid_request"),
    ({"prompt": "none login"}, "invalid_request"),
    ({"prompt": "none create"}, "invalid_request"),
    ({"prompt": "sign_up"}, "invalid_request"),
    ({"max_age": "-1"}, "invalid_request"),
    ({"max_age": "1.5"}, "invalid_request"),
    ({"max_age": "9" * 40}, "invalid_request"),
    ({"max_age": "٣"}, "invalid_request"),
    ({"display": "hologram"}, "invalid_request"),
    ({"claims": "{"}, "invalid_request"),
    ({"claims": "[]"}, "invalid_request"),
    ({"claims": '{"id_token": ["sub"]}'}, "invalid_request"),
    ({"claims": "[" * 3000}, "invalid_request"),
    ({"id_token_hint": "a.b.c"}, "invalid_request"),
    *[
        ({"id_token_hint": hint}, "invalid_request")
        for hint in ("W10.e30.x", "bnVsbA.e30.x", "MQ.e30.x", "e30.e30.e30", "ü.ü.ü", "..", "x" * 7000)
    ],
    ({"claims": '{"id_token": {"sub": {"value": {"a": 1}}}}'}, "invalid_request"),
    ({"claims": '{"userinfo": 5}'}, "invalid_request"),
    ({"request": "a.b.c"}, "request_not_supported"),
    ({"request_uri": "https://evil.example/request"}, "request_uri_not_supported"),
    ({"registration": "{}"}, "registration_not_supported"),
    ({"code_challenge": "short"}, "invalid_request"),
    ({"code_challenge": "x" * 43, "code_challenge_method": "plain"}, "invalid_request"),
    ({"code_challenge": "x" * 43, "code_challenge_method": "S512"}, "invalid_request"),
    ({"code_challenge_method": "S256"}, "invalid_request"),
    ({"nonce": "x" * 600}, "invalid_request"),
    ({"state": "x" * 8193}, "invalid_request"),
]


def test_other_errors_are_redirected_with_state_and_issuer(
    shop: RelyingParty, browser: Browser, ada: Person, subtests: pytest.Subtests
) -> None:
    browser.signed_in(ada)
    for changed, error in REDIRECTED_ERRORS:
        with subtests.test(str((changed, error))[:60]):
            parameters = parameters_of(browser.authorize(shop.authorization_parameters(**changed)))
            assert parameters["error"] == error
            assert parameters["iss"] == shop.issuer
            assert parameters.get("state") == (None if "state" in changed else "a state")
            assert "code" not in parameters


def test_unknown_scope_is_ignored(shop: RelyingParty, browser: Browser, ada: Person) -> None:
    """OpenID Connect Core section 3.1.2.1; the response tells the granted scope (RFC 6749 section 3.3)."""
    body = shop.redeem(browser.code(shop, ada, scope="admin openid https://else.example/read email")).json or {}
    assert body["scope"] == "openid email"
    assert parameters_of(browser.authorize(shop.authorization_parameters(scope="admin")))["error"] == (
        "request_not_supported"
    )


def test_error_follows_requested_response_mode(shop: RelyingParty, browser: Browser) -> None:
    step = browser.authorize(shop.authorization_parameters(response_mode="form_post", prompt="none"))
    assert step.kind is FormPostStep
    assert step.fields["error"] == "login_required"
    assert "#error=" in (
        browser.authorize(shop.authorization_parameters(response_mode="fragment", prompt="none")).address or ""
    )


def request_object(**members: object) -> str:
    """Return an unsigned request object (OpenID Connect Core section 6.1)."""
    parts = ({"alg": "none"}, members)
    return ".".join(urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in parts) + "."


def test_refused_request_object_is_answered_in_its_response_mode(
    shop: RelyingParty, browser: Browser, ada: Person
) -> None:
    text = request_object(response_mode="form_post", state="of the object")
    step = browser.signed_in(ada).authorize(shop.authorization_parameters(request=text, state=None))
    assert (step.kind, step.fields["error"]) == (FormPostStep, "request_not_supported")
    assert step.fields["state"] == "of the object"
    beside = browser.authorize(shop.authorization_parameters(request=text, response_mode="fragment"))
    assert "#error=request_not_supported" in (beside.address or "")
    assert parameters_of(beside)["state"] == "a state"


@pytest.mark.parametrize("payload", ["", "!", "W10", "e30", "eyJyZXNwb25zZV9tb2RlIjo1fQ", "W1tbW1tbW1s"])
def test_unreadable_request_object_is_answered_in_default_mode(
    shop: RelyingParty, browser: Browser, payload: str
) -> None:
    step = browser.authorize(shop.authorization_parameters(request=f"e30.{payload}.x"))
    assert parameters_of(step)["error"] == "request_not_supported"


@pytest.mark.parametrize(
    "name", ["state", "scope", "nonce", "response_type", "prompt", "code_challenge", "response_mode"]
)
def test_repeated_parameter_is_refused(shop: RelyingParty, browser: Browser, ada: Person, name: str) -> None:
    pairs = [(item, value) for item, value in shop.authorization_parameters().items() if value and item != name]
    parameters = parameters_of(browser.signed_in(ada).authorize([*pairs, (name, "code"), (name, "another")]))
    assert parameters["error"] == "invalid_request"
    assert parameters.get("state") != "another"


def test_unknown_parameter_is_ignored_even_repeated(shop: RelyingParty, browser: Browser, ada: Person) -> None:
    pairs = [(name, value) for name, value in shop.authorization_parameters().items() if value]
    assert "code" in parameters_of(browser.signed_in(ada).authorize([*pairs, ("utm", "1"), ("utm", "2")]))


def test_pkce_is_required_of_public_and_configured_clients(
    phone: RelyingParty, strict: RelyingParty, browser: Browser, ada: Person
) -> None:
    browser.signed_in(ada)
    for client in (phone, strict):
        assert parameters_of(browser.authorize(client.authorization_parameters()))["error"] == "invalid_request"
        assert "code" in parameters_of(
            browser.authorize(client.authorization_parameters(code_challenge=Pkce().challenge))
        )


def test_plain_pkce_works_where_client_allows_it(older: RelyingParty, browser: Browser, ada: Person) -> None:
    pkce = Pkce()
    code = browser.code(older, ada, code_challenge=pkce.verifier, code_challenge_method="plain")
    assert older.redeem(code, code_verifier=pkce.verifier).status_code == 200


def test_claims_request_is_honoured(shop: RelyingParty, browser: Browser, ada: Person) -> None:
    claims = {"userinfo": {"given_name": None, "nonsense": {"essential": True}}, "id_token": {"email": None}}
    code = browser.code(shop, ada, scope="openid", claims=json.dumps(claims))
    tokens = shop.redeem(code).json or {}
    assert shop.userinfo(tokens["access_token"]).json == {"sub": ada.uid, "given_name": "Ada"}


def test_markup_and_line_breaks_in_state_are_encoded(shop: RelyingParty, browser: Browser, ada: Person) -> None:
    state = "<script>&error=x#y %0d%0a ü"
    step = browser.signed_in(ada).authorize(shop.authorization_parameters(state=state))
    assert parameters_of(step)["state"] == state
    assert "<" not in (step.address or "")


def test_client_without_redirect_uris_uses_tenant_whitelist(new_world: NewWorld) -> None:
    world = new_world(url_whitelist=("https://listed.example/cb",))
    bare = world.application("bare", redirect_uris=[])
    browser = world.browser()
    browser.signed_in(world.person("ada@example.test"))
    assert (
        browser.authorize(bare.authorization_parameters(redirect_uri="https://listed.example/cb")).kind is RedirectStep
    )
    for uri in (
        "https://listed.example/",
        "https://listed.example/cb/more",
        "https://listed.example.evil.example/cb",
        "https://shop.example/cb",
    ):
        assert browser.authorize(bare.authorization_parameters(redirect_uri=uri)).part == "redirect_uri"
    own = world.application("own", redirect_uris=["https://own.example/cb"])
    assert (
        browser.authorize(own.authorization_parameters(redirect_uri="https://listed.example/cb")).part == "redirect_uri"
    )
