"""Attacks on the authorization code: theft, replay, injection, downgrade, races."""

import json
from concurrent.futures import ThreadPoolExecutor

import pytest
from werkzeug.test import TestResponse

from app.contract.steps import LoginStep, StartAgainStep
from app.identity.platform.services import IdentityServices
from tests.support.oauth.relying_party import Browser, Person, Pkce, RelyingParty, code_of, moved
from tests.support.races import at_once


def error_of(answer: TestResponse) -> tuple[int, str]:
    return answer.status_code, (answer.json or {})["error"]


def test_second_use_of_code_revokes_tokens(shop: RelyingParty, browser: Browser, ada: Person) -> None:
    code = browser.code(shop, ada)
    tokens = shop.redeem(code).json or {}
    assert shop.userinfo(tokens["access_token"]).status_code == 200
    assert error_of(shop.redeem(code)) == (400, "invalid_grant")
    assert shop.userinfo(tokens["access_token"]).status_code == 401
    assert error_of(shop.refresh(tokens["refresh_token"])) == (400, "invalid_grant")


@pytest.mark.both_databases
def test_parallel_redemptions_of_one_code_succeed_once(shop: RelyingParty, browser: Browser, ada: Person) -> None:
    code = browser.code(shop, ada)
    statuses = at_once([lambda: shop.redeem(code).status_code] * 20)
    assert sorted(statuses) == [200, *[400] * 19]


def test_code_of_another_client_is_refused(
    shop: RelyingParty, phone: RelyingParty, browser: Browser, ada: Person
) -> None:
    code = browser.code(shop, ada)
    assert error_of(phone.redeem(code, redirect_uri=shop.redirect_uri)) == (400, "invalid_grant")
    assert shop.redeem(code).status_code == 200


@pytest.mark.both_databases
def test_code_of_another_tenant_is_refused(
    shop: RelyingParty, foreign_shop: RelyingParty, browser: Browser, ada: Person
) -> None:
    code = browser.code(shop, ada)
    assert foreign_shop.client_id == shop.client_id
    assert error_of(foreign_shop.redeem(code, redirect_uri=shop.redirect_uri)) == (400, "invalid_grant")
    assert shop.redeem(code).status_code == 200


def test_code_is_bound_to_redirect_uri(shop: RelyingParty, browser: Browser, ada: Person) -> None:
    code = browser.code(shop, ada)
    assert error_of(shop.redeem(code, redirect_uri="https://shop.example/cb?tenant=1")) == (400, "invalid_grant")
    assert error_of(shop.redeem(code, redirect_uri=None)) == (400, "invalid_request")
    assert shop.redeem(code).status_code == 200


def test_code_is_bound_to_issuer(shop: RelyingParty, browser: Browser, ada: Person) -> None:
    """Mix-up: a client of one issuer must not redeem the code of another issuer (RFC 9700 section 4.4)."""
    code = browser.code(shop, ada)
    assert error_of(shop.at_own_issuer().redeem(code)) == (400, "invalid_grant")
    assert shop.redeem(code).status_code == 200


@pytest.mark.parametrize("verifier", [None, "wrong" * 10, "short", "x" * 129, "ä" * 50])
def test_stolen_code_without_verifier_is_refused_and_stays_valid(
    phone: RelyingParty, browser: Browser, ada: Person, verifier: str | None
) -> None:
    pkce = Pkce()
    code = browser.code(phone, ada, code_challenge=pkce.challenge)
    assert error_of(phone.redeem(code, code_verifier=verifier)) == (400, "invalid_grant")
    assert phone.redeem(code, code_verifier=pkce.verifier).status_code == 200


def test_challenge_is_refused_as_verifier(phone: RelyingParty, browser: Browser, ada: Person) -> None:
    pkce = Pkce()
    code = browser.code(phone, ada, code_challenge=pkce.challenge)
    assert error_of(phone.redeem(code, code_verifier=pkce.challenge)) == (400, "invalid_grant")


def test_verifier_for_code_without_challenge_is_refused(shop: RelyingParty, browser: Browser, ada: Person) -> None:
    """Downgrade: an attacker stripped the challenge from the request (RFC 9700 section 4.8)."""
    code = browser.code(shop, ada)
    assert error_of(shop.redeem(code, code_verifier=Pkce().verifier)) == (400, "invalid_grant")


def test_code_injected_into_another_session_is_refused(phone: RelyingParty, browser: Browser, ada: Person) -> None:
    victim, attacker = Pkce(), Pkce()
    stolen = browser.code(phone, ada, code_challenge=victim.challenge)
    assert error_of(phone.redeem(stolen, code_verifier=attacker.verifier)) == (400, "invalid_grant")


def test_code_expires_after_fifty_seconds(
    services: IdentityServices, shop: RelyingParty, browser: Browser, ada: Person
) -> None:
    code, expired = browser.code(shop, ada), browser.code(shop, ada)
    with moved(services, seconds=49):
        assert shop.redeem(code).status_code == 200
    with moved(services, seconds=51):
        assert error_of(shop.redeem(expired)) == (400, "invalid_grant")


def test_other_tokens_are_refused_as_code(shop: RelyingParty, browser: Browser, ada: Person) -> None:
    tokens = shop.redeem(browser.code(shop, ada)).json or {}
    for text in (tokens["access_token"], tokens["refresh_token"], tokens["id_token"], "", "x" * 5000):
        assert shop.redeem(text).status_code == 400


def test_code_of_account_closed_since_is_refused(shop: RelyingParty, browser: Browser, ada: Person) -> None:
    step = browser.signed_in(ada).authorize(shop.authorization_parameters())
    ada.close()
    assert error_of(shop.redeem(code_of(step))) == (400, "invalid_grant")


def test_repeated_token_parameter_is_refused(shop: RelyingParty, browser: Browser, ada: Person) -> None:
    form = [
        ("grant_type", "authorization_code"),
        ("code", browser.code(shop, ada)),
        ("redirect_uri", shop.redirect_uri),
    ]
    form += [(name, value) for name, value in shop.client_credentials().items() if value]
    text = "&".join(f"{name}={value}" for name, value in [*form, ("code", "another")])
    answer = shop.wsgi.post(
        "/api/oidc/token", data=text, content_type="application/x-www-form-urlencoded", base_url=shop.hub_url
    )
    assert error_of(answer) == (400, "invalid_request")


@pytest.mark.parametrize("repeated", ['"code": "x"', '"CODE": "x"', '"Client_Id": "x"', '"unknown": 1, "unknown": 2'])
@pytest.mark.parametrize("path", ["/api/oidc/token", "/api/oidc/Shop/token", "/api/oidc/par", "/api/oidc/revoke"])
def test_repeated_member_of_json_is_refused(shop: RelyingParty, path: str, repeated: str) -> None:
    """Of two members with one name, readers of JSON take the first or the last."""
    members = {"grant_type": "authorization_code", "code": "x", "redirect_uri": shop.redirect_uri}
    text = json.dumps({**members, **shop.client_credentials(), "large": 10**400})[:-1] + f", {repeated}}}"
    answer = shop.wsgi.post(path, data=text, content_type="application/json", base_url=shop.hub_url)
    assert answer.json == {"error": "invalid_request", "error_description": "A parameter is given more than once."}


def test_sign_out_revokes_unused_code(shop: RelyingParty, browser: Browser, ada: Person) -> None:
    code = browser.code(shop, ada)
    browser.sign_out(confirmed=True)
    assert error_of(shop.redeem(code)) == (400, "invalid_grant")


@pytest.mark.both_databases
def test_interaction_of_another_tenant_is_refused(
    shop: RelyingParty, foreign_shop: RelyingParty, browser: Browser, ada: Person
) -> None:
    step = browser.authorize(shop.authorization_parameters())
    assert step.interaction_id is not None
    foreign = Browser(browser.services, browser.wsgi, foreign_shop.tenant_name, bindings=browser.bindings)
    assert foreign.resume(step.interaction_id).kind is StartAgainStep
    assert foreign.sign_in(step.interaction_id, ada.email, ada.password).kind is StartAgainStep


@pytest.mark.both_databases
def test_session_of_another_tenant_is_ignored(foreign_shop: RelyingParty, browser: Browser, ada: Person) -> None:
    browser.signed_in(ada)
    foreign = Browser(browser.services, browser.wsgi, foreign_shop.tenant_name, session=browser.session)
    assert foreign.authorize(foreign_shop.authorization_parameters()).kind is LoginStep


@pytest.mark.both_databases
def test_parallel_submits_of_one_sign_in_get_distinct_codes(shop: RelyingParty, browser: Browser, ada: Person) -> None:
    step = browser.authorize(shop.authorization_parameters())
    bindings = dict(browser.bindings)

    def submit(_: int) -> str:
        tab = Browser(browser.services, browser.wsgi, browser.tenant_name, bindings=dict(bindings))
        return code_of(tab.sign_in(step.interaction_id, ada.email, ada.password))

    with ThreadPoolExecutor(6) as pool:
        codes = list(pool.map(submit, range(6)))
    assert len(set(codes)) == 6
    assert [shop.redeem(code).status_code for code in codes] == [200] * 6
