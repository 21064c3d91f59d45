"""An application gets its `state` back, up to 8 kB: in the response, in every error, and after sign-out and invitations."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import pytest

from app.contract.oauth.pages.authorization_pages import MAX_STATE
from tests.support.oauth.relying_party import Person, RelyingParty
from tests.support.oauth.world import World
from tests.support.visitors.visitor import VisitedPage, Visitor

STATE = "Zx0_-.~" * (MAX_STATE // 7) + "x" * (MAX_STATE % 7)
MODES = ("query", "fragment", "form_post")


@pytest.fixture
def ada(world: World) -> Person:
    return world.person("ada@example.com")


@pytest.fixture
def bank(world: World) -> RelyingParty:
    return world.application("bank", require_consent=True, post_logout_redirect_uris=["https://bank.example/bye"])


def sent(page: VisitedPage) -> dict[str, str]:
    """Return what the application gets."""
    if page.answer and page.heading == "One moment":
        return page.form("Continue").fields
    parts = urlsplit(page.address)
    return dict(parse_qsl(parts.query or parts.fragment))


def signed_in(page: VisitedPage, ada: Person) -> VisitedPage:
    return page.press("Sign in", identifier=ada.email, password=ada.password)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("answer", ["Allow access", "Don’t allow"])
def test_long_state_comes_back_after_consent(
    visitor: Visitor, bank: RelyingParty, ada: Person, mode: str, answer: str
) -> None:
    page = signed_in(visitor.authorize(bank, state=STATE, response_mode=mode), ada).press(answer)
    got = sent(page)
    assert ("code" in got, "error" in got) == (answer == "Allow access", answer != "Allow access")
    assert got["state"] == STATE


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "changed",
    [{"prompt": "none"}, {"response_type": "x"}, {"nonce": "x" * 600}, {"claims": "{"}, {"max_age": "x"}, {"request": "a.b.c"}],
)  # fmt: skip
def test_long_state_comes_back_with_errors(
    visitor: Visitor, bank: RelyingParty, mode: str, changed: dict[str, str]
) -> None:
    got = sent(visitor.authorize(bank, state=STATE, response_mode=mode, **changed))
    assert (got["state"], "error" in got) == (STATE, True)


def test_long_state_of_posted_and_pushed_requests(visitor: Visitor, world: World, ada: Person) -> None:
    shop = world.application("shop")
    pushed = shop.push(state=STATE).get_json()["request_uri"]
    query = urlencode({"client_id": shop.client_id, "request_uri": pushed})
    assert sent(signed_in(visitor.open(f"/service/oidc/authorize?{query}"), ada))["state"] == STATE
    requested: dict[str, Any] = {
        name: text for name, text in shop.authorization_parameters(state=STATE).items() if text
    }
    answer = visitor.client.post("/service/oidc/authorize", data=requested, base_url=visitor.home)
    assert dict(parse_qsl(urlsplit(answer.headers["Location"]).query))["state"] == STATE


def test_longer_state_is_refused_by_name(visitor: Visitor, bank: RelyingParty) -> None:
    got = sent(visitor.authorize(bank, state=f"{STATE}x"))
    assert (got["error"], got["error_description"]) == (
        "invalid_request",
        f"The state is too long: {MAX_STATE} characters at most.",
    )
    answer = bank.push(state=f"{STATE}x")
    assert (answer.status_code, answer.get_json()["error"]) == (400, "invalid_request")


@pytest.mark.parametrize(("language", "button"), [("English", "Sign out"), ("Deutsch", "Abmelden")])
def test_long_state_comes_back_after_sign_out(
    visitor: Visitor, bank: RelyingParty, ada: Person, language: str, button: str
) -> None:
    signed_in(visitor.open("/login"), ada)
    bye = {"client_id": bank.client_id, "post_logout_redirect_uri": "https://bank.example/bye", "state": STATE}
    page = visitor.open(f"/service/oidc/logout?{urlencode(bye)}")
    shown = page if language == "English" else page.follow(language)
    assert shown.press(button).query["state"] == STATE
