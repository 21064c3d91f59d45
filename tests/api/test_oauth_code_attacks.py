"""Attacks on the authorization code: theft, replay, injection, downgrade, races."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from werkzeug.test import TestResponse

from app.contract.hub import Step
from app.identity.platform.services import Services
from tests.support.relying_party import Browser, Person, Pkce, RelyingParty, code_of, moved


def error_of(answer: TestResponse) -> tuple[int, str]:
    return answer.status_code, (answer.json or {})["error"]


def test_a_code_works_once_and_its_second_use_revokes_what_the_first_gave(
    shop: RelyingParty, browser: Browser, ada: Person
) -> None:
    code = browser.code(shop, ada)
    held = shop.redeem(code).json or {}
    assert shop.userinfo(held["access_token"]).status_code == 200
    assert error_of(shop.redeem(code)) == (400, "invalid_grant")
    assert shop.userinfo(held["access_token"]).status_code == 401
    assert error_of(shop.refresh(held["refresh_token"])) == (400, "invalid_grant")


def test_of_fifty_parallel_redemptions_one_wins(shop: RelyingParty, browser: Browser, ada: Person) -> None:
    code = browser.code(shop, ada)
    with ThreadPoolExecutor(16) as pool:
        statuses = list(pool.map(lambda _: shop.redeem(code).status_code, range(50)))
    assert sorted(set(statuses)) == [200, 400]
    assert statuses.count(200) == 1


def test_a_code_of_one_client_is_nothing_to_another(
    shop: RelyingParty, phone: RelyingParty, browser: Browser, ada: Person
) -> None:
    code = browser.code(shop, ada)
    assert error_of(phone.redeem(code, redirect_uri=shop.redirect_uri)) == (400, "invalid_grant")
    assert shop.redeem(code).status_code == 200


def test_a_code_of_another_tenant_is_nothing_here(
    shop: RelyingParty, foreign_shop: RelyingParty, browser: Browser, ada: Person
) -> None:
    code = browser.code(shop, ada)
    assert foreign_shop.client_id == shop.client_id
    assert error_of(foreign_shop.redeem(code, redirect_uri=shop.redirect_uri)) == (400, "invalid_grant")
    assert shop.redeem(code).status_code == 200


def test_a_code_is_bound_to_its_redirect_address(shop: RelyingParty, browser: Browser, ada: Person) -> None:
    code = browser.code(shop, ada)
    assert error_of(shop.redeem(code, redirect_uri="https://shop.example/cb?tenant=1")) == (400, "invalid_grant")
    assert error_of(shop.redeem(code, redirect_uri=None)) == (400, "invalid_request")
    assert shop.redeem(code).status_code == 200


def test_a_code_is_bound_to_its_issuer(shop: RelyingParty, browser: Browser, ada: Person) -> None:
    """Mix-up: a client that believes to speak with one issuer must not redeem another's code (RFC 9700 section 4.4)."""
    code = browser.code(shop, ada)
    assert error_of(shop.at_own_issuer().redeem(code)) == (400, "invalid_grant")
    assert shop.redeem(code).status_code == 200


@pytest.mark.parametrize("verifier", [None, "wrong" * 10, "short", "x" * 129, "ä" * 50])
def test_a_stolen_code_without_the_verifier_is_worthless_and_stays_its_owners(
    phone: RelyingParty, browser: Browser, ada: Person, verifier: str | None
) -> None:
    pkce = Pkce()
    code = browser.code(phone, ada, code_challenge=pkce.challenge)
    assert error_of(phone.redeem(code, code_verifier=verifier)) == (400, "invalid_grant")
    assert phone.redeem(code, code_verifier=pkce.verifier).status_code == 200


def test_the_challenge_is_not_its_own_verifier(phone: RelyingParty, browser: Browser, ada: Person) -> None:
    pkce = Pkce()
    code = browser.code(phone, ada, code_challenge=pkce.challenge)
    assert error_of(phone.redeem(code, code_verifier=pkce.challenge)) == (400, "invalid_grant")


def test_a_verifier_for_a_code_without_challenge_is_a_downgrade(
    shop: RelyingParty, browser: Browser, ada: Person
) -> None:
    """An attacker who strips the challenge from the request must not go unseen (RFC 9700 section 4.8)."""
    code = browser.code(shop, ada)
    assert error_of(shop.redeem(code, code_verifier=Pkce().verifier)) == (400, "invalid_grant")


def test_a_code_injected_into_another_session_fails_at_the_verifier(
    phone: RelyingParty, browser: Browser, ada: Person
) -> None:
    victim, attacker = Pkce(), Pkce()
    stolen = browser.code(phone, ada, code_challenge=victim.challenge)
    assert error_of(phone.redeem(stolen, code_verifier=attacker.verifier)) == (400, "invalid_grant")


def test_a_code_lives_fifty_seconds(services: Services, shop: RelyingParty, browser: Browser, ada: Person) -> None:
    code, late = browser.code(shop, ada), browser.code(shop, ada)
    with moved(services, seconds=49):
        assert shop.redeem(code).status_code == 200
    with moved(services, seconds=51):
        assert error_of(shop.redeem(late)) == (400, "invalid_grant")


def test_an_access_token_is_no_code(shop: RelyingParty, browser: Browser, ada: Person) -> None:
    held = shop.redeem(browser.code(shop, ada)).json or {}
    for text in (held["access_token"], held["refresh_token"], held["id_token"], "", "x" * 5000):
        assert shop.redeem(text).status_code == 400


def test_an_account_closed_meanwhile_gets_no_tokens(shop: RelyingParty, browser: Browser, ada: Person) -> None:
    step = browser.signed_in(ada).authorize(shop.authorization_parameters())
    ada.close()
    assert error_of(shop.redeem(code_of(step))) == (400, "invalid_grant")


def test_repeated_parameters_are_refused(shop: RelyingParty, browser: Browser, ada: Person) -> None:
    form = [
        ("grant_type", "authorization_code"),
        ("code", browser.code(shop, ada)),
        ("redirect_uri", shop.redirect_uri),
    ]
    form += [(name, value) for name, value in shop.proves().items() if value]
    text = "&".join(f"{name}={value}" for name, value in [*form, ("code", "another")])
    answer = shop.wsgi.post(
        "/api/oidc/token", data=text, content_type="application/x-www-form-urlencoded", base_url=shop.hub_url
    )
    assert error_of(answer) == (400, "invalid_request")


def test_a_code_in_flight_dies_with_its_session(shop: RelyingParty, browser: Browser, ada: Person) -> None:
    code = browser.code(shop, ada)
    browser.sign_out(confirmed=True)
    assert error_of(shop.redeem(code)) == (400, "invalid_grant")


def test_an_attempt_of_another_tenant_is_nothing_here(
    shop: RelyingParty, foreign_shop: RelyingParty, browser: Browser, ada: Person
) -> None:
    step = browser.authorize(shop.authorization_parameters())
    assert step.attempt is not None
    stranger = Browser(browser.services, browser.wsgi, foreign_shop.tenant_name, bindings=browser.bindings)
    assert stranger.resume(step.attempt).step is Step.START_AGAIN
    assert stranger.sign_in(step.attempt, ada.email, ada.password).step is Step.START_AGAIN


def test_a_session_of_another_tenant_is_nothing_here(foreign_shop: RelyingParty, browser: Browser, ada: Person) -> None:
    browser.signed_in(ada)
    stranger = Browser(browser.services, browser.wsgi, foreign_shop.tenant_name, session=browser.session)
    assert stranger.authorize(foreign_shop.authorization_parameters()).step is Step.LOGIN


def test_submits_of_one_sign_in_at_once_each_return_with_a_code_of_their_own(
    shop: RelyingParty, browser: Browser, ada: Person
) -> None:
    step = browser.authorize(shop.authorization_parameters())
    bindings = dict(browser.bindings)

    def submit(_: int) -> str:
        tab = Browser(browser.services, browser.wsgi, browser.tenant_name, bindings=dict(bindings))
        return code_of(tab.sign_in(step.attempt, ada.email, ada.password))

    with ThreadPoolExecutor(6) as pool:
        codes = list(pool.map(submit, range(6)))
    assert len(set(codes)) == 6
    assert [shop.redeem(code).status_code for code in codes] == [200] * 6
