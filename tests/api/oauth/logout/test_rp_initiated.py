"""RP-initiated logout."""

import pytest

from app.contract.steps import ConfirmSignOutStep, LoginStep, RedirectStep, RefusedStep, SignedOutStep
from app.identity.platform.services import IdentityServices
from tests.support.oauth.relying_party import Browser, Person, RelyingParty, moved
from tests.support.oauth.world import World

BYE = "https://shop.example/bye"


@pytest.fixture
def hint(shop: RelyingParty, browser: Browser, ada: Person) -> str:
    return str((shop.redeem(browser.code(shop, ada)).json or {})["id_token"])


def test_id_token_hint_of_session_signs_out_without_prompt(shop: RelyingParty, browser: Browser, hint: str) -> None:
    step = browser.sign_out(id_token_hint=hint, post_logout_redirect_uri=BYE, state="a b")
    assert (step.kind, step.address, step.ends_session) == (RedirectStep, f"{BYE}?state=a%20b", True)
    assert browser.authorize(shop.authorization_parameters()).kind is LoginStep


def test_expired_id_token_hint_is_accepted(services: IdentityServices, browser: Browser, hint: str) -> None:
    with moved(services, minutes=90):
        assert browser.sign_out(id_token_hint=hint, post_logout_redirect_uri=BYE).kind is RedirectStep


def test_logout_without_valid_hint_asks_for_confirmation(shop: RelyingParty, browser: Browser, ada: Person) -> None:
    browser.signed_in(ada)
    for members in (
        {},
        {"client_id": "shop"},
        {"client_id": "shop", "post_logout_redirect_uri": BYE},
        {"id_token_hint": "a.b.c"},
    ):
        step = browser.sign_out(**members)
        assert (step.kind, step.ends_session) == (ConfirmSignOutStep, False)
    assert browser.authorize(shop.authorization_parameters()).kind is RedirectStep
    step = browser.sign_out(client_id="shop", post_logout_redirect_uri=BYE, confirmed=True)
    assert (step.kind, step.address) == (RedirectStep, BYE)


def test_id_token_hint_of_another_session_asks_for_confirmation(
    shop: RelyingParty, browser: Browser, ada: Person, hint: str, world: World
) -> None:
    other = world.browser()
    other.signed_in(ada)
    assert other.sign_out(id_token_hint=hint).kind is ConfirmSignOutStep
    grace = world.browser()
    grace.signed_in(world.person("grace@example.test"))
    assert grace.sign_out(id_token_hint=hint).kind is ConfirmSignOutStep
    assert browser.authorize(shop.authorization_parameters()).kind is RedirectStep


@pytest.mark.parametrize(
    "address",
    [
        f"{BYE}/",
        f"{BYE}?x=1",
        "https://evil.example",
        "https://shop.example@evil.example/bye",
        "//shop.example/bye",
        "javascript:alert(1)",
    ],
)
def test_unregistered_post_logout_uri_is_questioned(
    shop: RelyingParty, browser: Browser, hint: str, address: str
) -> None:
    """RP-Initiated Logout 1.0 section 3: the id_token of the session vouches for the request, not for the address."""
    wrong = {"id_token_hint": hint, "post_logout_redirect_uri": address}
    step = browser.sign_out(**wrong)
    assert (step.kind, step.ends_session) == (ConfirmSignOutStep, False)
    assert browser.authorize(shop.authorization_parameters()).kind is RedirectStep
    step = browser.sign_out(**wrong, confirmed=True)
    assert (step.kind, step.address, step.ends_session) == (SignedOutStep, None, True)
    step = browser.sign_out(**wrong)
    assert (step.kind, step.part, step.address) == (RefusedStep, "post_logout_redirect_uri", None)


def test_post_logout_uri_without_client_gets_an_error_page(browser: Browser) -> None:
    assert browser.sign_out(post_logout_redirect_uri=BYE).kind is RefusedStep
    assert browser.sign_out(post_logout_redirect_uri=BYE, client_id="absent").kind is RefusedStep


def test_post_logout_uri_of_another_client_is_ignored(world: World, browser: Browser, ada: Person, hint: str) -> None:
    world.application("other", client_id="other", post_logout_redirect_uris=["https://other.example/bye"])
    step = browser.sign_out(id_token_hint=hint, client_id="other", post_logout_redirect_uri="https://other.example/bye")
    assert step.address is None


def test_forged_id_token_hint_is_ignored(browser: Browser, ada: Person, foreign_shop: RelyingParty, hint: str) -> None:
    head, body, signature = hint.split(".")
    for forged in (f"{head}.{body}.{signature[:-4]}AAAA", f"{head}.{body}.", "x" * 10_000):
        assert browser.sign_out(id_token_hint=forged, post_logout_redirect_uri=BYE).kind is ConfirmSignOutStep
    foreign = Browser(browser.services, browser.wsgi, foreign_shop.tenant_name)
    assert foreign.sign_out(id_token_hint=hint, post_logout_redirect_uri=BYE).address is None


def test_logout_without_session_redirects(shop: RelyingParty, browser: Browser) -> None:
    assert browser.sign_out().kind is SignedOutStep
    step = browser.sign_out(client_id="shop", post_logout_redirect_uri=BYE, state="s")
    assert (step.kind, step.address) == (RedirectStep, f"{BYE}?state=s")
