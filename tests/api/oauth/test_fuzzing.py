"""Fuzzing of the OAuth endpoints: no status 500, and no redirect to an unregistered URI."""

import json
from ipaddress import IPv4Address

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.contract.steps import FormPostStep, LoginStep, RedirectStep, StepResponse
from tests.support.oauth.relying_party import Browser, Person, RelyingParty
from tests.support.oauth.world import NewWorld
from tests.support.visitors.answered_step import AnsweredStep

pytestmark = pytest.mark.both_databases("first")

NAMES = [
    *("client_id", "redirect_uri", "response_type", "response_mode", "scope", "state", "nonce", "code_challenge"),
    *("code_challenge_method", "prompt", "max_age", "display", "ui_locales", "login_hint", "id_token_hint"),
    *("acr_values", "claims", "request", "request_uri", "registration", "resource", "", "CLIENT_ID"),
]
VALID_VALUES = [
    *("shop", "https://shop.example/cb", "code", "query", "fragment", "form_post", "openid", "S256", "none", "login"),
    *(
        "0",
        "popup",
        "{}",
        "null",
        '{"id_token":null}',
        "//evil.example",
        "https://evil.example/cb",
        "\x00",
        "\r\n",
        "%00",
    ),
]
TEXT = st.one_of(
    st.sampled_from(VALID_VALUES), st.text(max_size=60), st.text(alphabet="\ud800\x00\n%<'\"{}[]:,", max_size=20)
)
PAIRS = st.lists(st.tuples(st.sampled_from(NAMES), TEXT), max_size=8)
RELAXED = settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])


@RELAXED
@given(pairs=PAIRS, has_valid_base=st.booleans())
def test_fuzzed_authorization_request_is_answered_safely(
    shop: RelyingParty, browser: Browser, ada: Person, pairs: list[tuple[str, str]], has_valid_base: bool
) -> None:
    base = [(name, value) for name, value in shop.authorization_parameters().items() if value] if has_valid_base else []
    body = json.dumps({"Protocol": "oidc", "App": None, "Parameters": [*base, *pairs]}).encode()
    answer = browser.signed_in(ada).send("POST", "/hub/authorize", body)
    assert answer.status_code in (200, 400), answer.text
    if answer.status_code == 200:
        step = AnsweredStep(StepResponse.model_validate_json(answer.data))
        if step.kind in (RedirectStep, FormPostStep):
            assert (step.address or "").startswith("https://shop.example/cb")
            assert "\n" not in (step.address or "")
            assert "\r" not in (step.address or "")


BODY_NAMES = [
    *("grant_type", "code", "redirect_uri", "client_id", "client_secret", "code_verifier", "refresh_token", "scope"),
    *("audience", "username", "password", "token", "token_type_hint", "Grant_Type", "access_token", "apikey"),
]
GRANTS = [
    "authorization_code",
    "refresh_token",
    "client_credentials",
    "password",
    "shop",
    "a secret of the application",
]
VALUES = st.one_of(st.sampled_from(GRANTS), TEXT, st.none(), st.integers(), st.lists(st.text(max_size=5), max_size=3))
ADDRESSES = [
    "/api/oidc/token",
    "/api/oidc/shop/token",
    "/service/oauth/token",
    "/api/oidc/introspect",
    "/api/oidc/revoke",
    "/service/oidc/userinfo",
]


@RELAXED
@given(
    address=st.sampled_from(ADDRESSES),
    body=st.dictionaries(st.sampled_from(BODY_NAMES), VALUES, max_size=8),
    caller=st.ip_addresses(v=4),
)
def test_fuzzed_token_requests_get_no_server_error(
    shop: RelyingParty, address: str, body: dict[str, object], caller: IPv4Address
) -> None:
    environ = {"REMOTE_ADDR": str(caller)}  # a new address per request avoids the rate limits
    answer = shop.wsgi.post(address, json=body, base_url=shop.hub_url, environ_overrides=environ)
    assert answer.status_code < 500, answer.text
    assert answer.headers["Content-Type"].startswith("application/json")


def test_authorization_requests_are_limited_per_ip_address(new_world: NewWorld) -> None:
    world = new_world(limits={"authorize_per_minute_per_address": 3})
    shop, browser = world.application("shop"), world.browser()
    for _ in range(3):
        assert browser.authorize(shop.authorization_parameters()).kind is LoginStep
    body = json.dumps({"Protocol": "oidc", "App": None, "Parameters": []}).encode()
    limited = browser.send("POST", "/hub/authorize", body)
    assert limited.status_code == 429
    assert int(limited.headers["Retry-After"]) >= 1
    assert world.browser().send("POST", "/hub/authorize", body).status_code == 429
    other = Browser(browser.services, browser.wsgi, browser.tenant_name, address="192.0.2.8")
    assert other.authorize(shop.authorization_parameters()).kind is LoginStep
