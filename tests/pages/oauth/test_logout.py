"""Sign-out that an application asks for, through the pages: the modules of the OpenID Foundation's RP-initiated plan.

OpenID Connect RP-Initiated Logout 1.0 sections 2 to 4: `id_token_hint` vouches for the request, the registration for the address.
"""

from __future__ import annotations

from urllib.parse import quote, urlencode

import pytest

from tests.support.oauth.relying_party import Person, RelyingParty
from tests.support.oauth.world import World
from tests.support.visitors.visitor import VisitedPage, Visitor

BYE = "https://shop.example/bye"
SIGNED_OUT, QUESTION, REFUSED = "You’re signed out", "Sign out?", "We can’t send you back"


@pytest.fixture
def hint(shop: RelyingParty, visitor: Visitor, ada: Person) -> str:
    """Sign in at the application, and return its id_token."""
    visitor.open("/login").press("Sign in", identifier=ada.email, password=ada.password)
    page = visitor.authorize(shop)
    return str((shop.redeem(page.query["code"]).json or {})["id_token"])


def leave(visitor: Visitor, **requested: str) -> VisitedPage:
    return visitor.open(f"/service/oidc/logout?{urlencode(requested)}")


def is_signed_in(visitor: Visitor) -> bool:
    return visitor.open("/profile").profile_name == "Ada Lovelace"


def test_plan_logout(visitor: Visitor, hint: str) -> None:
    page = leave(visitor, id_token_hint=hint, post_logout_redirect_uri=BYE, state="s")
    assert page.address == f"{BYE}?state=s"
    assert not is_signed_in(visitor)


def test_plan_no_parameters(visitor: Visitor, hint: str) -> None:
    page = leave(visitor)
    assert page.heading == QUESTION
    assert is_signed_in(visitor)
    assert page.press("Sign out").heading == SIGNED_OUT
    assert not is_signed_in(visitor)


def test_plan_only_state(visitor: Visitor, hint: str) -> None:
    page = leave(visitor, state="s")
    assert page.heading == QUESTION
    assert page.press("Sign out").heading == SIGNED_OUT


def test_plan_no_post_logout_redirect_uri(visitor: Visitor, hint: str) -> None:
    assert leave(visitor, id_token_hint=hint, state="s").heading == SIGNED_OUT
    assert not is_signed_in(visitor)


def test_plan_no_state(visitor: Visitor, hint: str) -> None:
    assert leave(visitor, id_token_hint=hint, post_logout_redirect_uri=BYE).address == BYE


def test_plan_no_id_token_hint(visitor: Visitor, hint: str) -> None:
    """Without a client the address is not registered: the page asks, and the browser stays here."""
    page = leave(visitor, post_logout_redirect_uri=BYE, state="s")
    assert page.heading == QUESTION
    assert page.press("Sign out").heading == SIGNED_OUT
    assert leave(visitor, post_logout_redirect_uri=BYE, state="s").heading == REFUSED


def test_plan_bad_id_token_hint(visitor: Visitor, hint: str) -> None:
    page = leave(visitor, id_token_hint="no token", post_logout_redirect_uri=BYE, state="s")
    assert page.heading == QUESTION
    assert page.press("Sign out").heading == SIGNED_OUT


def test_plan_modified_id_token_hint(visitor: Visitor, hint: str) -> None:
    head, body, signature = hint.split(".")
    forged = f"{head}.{body}.{'A' if signature[0] != 'A' else 'B'}{signature[1:]}"
    page = leave(visitor, id_token_hint=forged, post_logout_redirect_uri=BYE, state="s")
    assert page.heading == QUESTION
    assert is_signed_in(visitor)


@pytest.mark.parametrize("address", ["https://elsewhere.example/", f"{BYE}/more", f"{BYE}?foo=bar"])
def test_plan_wrong_post_logout_redirect_uri(visitor: Visitor, hint: str, address: str) -> None:
    """The modules bad, modified and query added: the id_token does not vouch for the address."""
    page = leave(visitor, id_token_hint=hint, post_logout_redirect_uri=address, state="s")
    assert page.heading == QUESTION
    assert page.press("Sign out").heading == SIGNED_OUT
    assert leave(visitor, id_token_hint=hint, post_logout_redirect_uri=address, state="s").heading == REFUSED


@pytest.mark.parametrize("name", ["id_token_hint", "client_id", "post_logout_redirect_uri", "state"])
def test_repeated_parameter_of_a_sign_out_is_refused(visitor: Visitor, hint: str, name: str) -> None:
    """RFC 6749 section 3.1: readers of the first and of the last value would see two requests."""
    sent = {"id_token_hint": hint, "client_id": "shop", "post_logout_redirect_uri": BYE, "state": "s"}
    page = visitor.open(f"/service/oidc/logout?{urlencode([*sent.items(), (name, sent[name])])}")
    assert (page.status, page.heading) == (400, "The app’s request is incomplete")
    assert is_signed_in(visitor)


def test_post_is_like_get(visitor: Visitor, hint: str) -> None:
    """Section 2: both are supported. A browser sends the cookies after the redirect to a GET."""
    sent = {"id_token_hint": hint, "post_logout_redirect_uri": BYE, "state": "s"}
    assert visitor.send("POST", f"{visitor.home}/service/oidc/logout", sent).address == f"{BYE}?state=s"
    assert not is_signed_in(visitor)


def test_very_long_hint_in_a_post_leads_to_the_question(visitor: Visitor, hint: str) -> None:
    sent = {"id_token_hint": "x" * 7_000, "state": "s"}
    page = visitor.send("POST", f"{visitor.home}/service/oidc/logout", sent)
    assert page.heading == QUESTION
    assert is_signed_in(visitor), "never a page that says signed out where the browser sent no cookies"


def test_applications_issuer_signs_out_too(visitor: Visitor, hint: str) -> None:
    query = urlencode({"id_token_hint": hint, "post_logout_redirect_uri": BYE})
    assert visitor.open(f"/service/oidc/Shop/logout?{query}").address == BYE


def test_client_id_must_be_that_of_the_hint(world: World, visitor: Visitor, hint: str) -> None:
    """Section 2: when both are there, they must match."""
    world.application("other", client_id="other", post_logout_redirect_uris=["https://other.example/"])
    assert leave(visitor, id_token_hint=hint, client_id="other").heading == QUESTION
    assert is_signed_in(visitor)
    assert leave(visitor, id_token_hint=hint, client_id="shop", post_logout_redirect_uri=BYE).address == BYE


def test_logout_hint_of_another_user_is_questioned(visitor: Visitor, hint: str) -> None:
    page = leave(visitor, id_token_hint=hint, logout_hint="grace@example.test")
    assert page.heading == QUESTION
    assert "ada@example.test" in page.text
    assert is_signed_in(visitor)


@pytest.mark.parametrize("logout_hint", ["ada@example.test", "ADA@example.test", "an id of another directory"])
def test_logout_hint_of_the_user_changes_nothing(visitor: Visitor, hint: str, logout_hint: str) -> None:
    page = leave(visitor, id_token_hint=hint, logout_hint=logout_hint, post_logout_redirect_uri=BYE)
    assert page.address == BYE


def test_pages_of_the_sign_out_follow_ui_locales(visitor: Visitor, hint: str) -> None:
    """Section 2: `ui_locales` holds for the question and for the page after it, before the browser's languages."""
    page = leave(visitor, ui_locales="xx de en")
    assert page.language == "de"
    assert page.press("Abmelden").language == "de"
    assert leave(visitor, ui_locales="ar").language == "ar"
    assert leave(visitor, ui_locales="x" * 3_000).language == "en"


def test_question_lets_the_browser_go_back_to_the_application(visitor: Visitor, hint: str) -> None:
    """Browsers check `form-action` on the redirect that follows the form."""
    page = leave(visitor, client_id="shop", post_logout_redirect_uri=BYE)
    policy = page.answer.headers["Content-Security-Policy"] if page.answer else ""
    assert "form-action 'self' https://shop.example;" in policy
    assert page.press("Sign out").address == BYE
    page = visitor.open(f"/logout?return_url={quote('https://x.example;script-src *')}")
    policy = page.answer.headers["Content-Security-Policy"] if page.answer else ""
    assert "script-src *" not in policy


@pytest.mark.parametrize("name", ["post_logout_redirect_uri", "return_url"])
@pytest.mark.parametrize("address", ["http://[", "https://[x]/", "https://a:b/", "//["])
def test_malformed_address_leads_to_the_question(visitor: Visitor, hint: str, name: str, address: str) -> None:
    page = leave(visitor, **{name: address})
    assert (page.status, page.heading) == (200, "Sign out?")


@pytest.mark.parametrize("address", ["http://[", "//[?x=1", "https://[x]/?y"])
def test_malformed_return_address_is_refused(visitor: Visitor, address: str) -> None:
    page = visitor.open(f"/auth?{urlencode({'action': 'login', 'return_url': address, 'org': 'acme'})}")
    assert page.status in (200, 400)
