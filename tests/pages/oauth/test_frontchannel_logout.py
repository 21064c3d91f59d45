"""The page after sign-out ends the sessions of applications in frames (OpenID Connect Front-Channel Logout 1.0)."""

from __future__ import annotations

import json
import re
from html import unescape
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest

from app.contract.steps import SignedOutStep, StepResponse
from app.identity.protocols.oauth.logout.frontchannel_logout import MAX_FRAMES
from tests.support.oauth.relying_party import Browser, Person, RelyingParty, claims_in
from tests.support.oauth.world import World
from tests.support.visitors.visitor import VisitedPage, Visitor

OUT, BYE = "https://shop.example/out?at=1", "https://shop.example/bye"


@pytest.fixture
def framed_client(world: World) -> RelyingParty:
    return world.application(
        "front",
        client_id="front",
        client_name="Acme Front",
        frontchannel_logout_uri=OUT,
        post_logout_redirect_uris=[BYE],
    )


def signed_in(visitor: Visitor, person: Person, client: RelyingParty) -> str:
    """Sign in at the application, and return its id_token."""
    page = visitor.authorize(client)
    if page.status == 200:
        page = page.press("Sign in", identifier=person.email, password=person.password)
    return str((client.redeem(page.query["code"]).json or {})["id_token"])


def leave(visitor: Visitor, **requested: str) -> VisitedPage:
    return visitor.open(f"/service/oidc/logout?{urlencode(requested)}")


def frames(page: VisitedPage) -> list[str]:
    return [unescape(address) for address in re.findall(r'<iframe src="([^"]+)"', page.html)]


def policy(page: VisitedPage) -> str:
    return page.answer.headers["Content-Security-Policy"] if page.answer else ""


def test_frame_has_issuer_and_session(visitor: Visitor, ada: Person, framed_client: RelyingParty) -> None:
    """Front-Channel Logout 1.0 section 2: `iss` and `sid` are added to the registered address."""
    id_token = signed_in(visitor, ada, framed_client)
    page = leave(visitor, id_token_hint=id_token)
    assert page.heading == "You’re signed out"
    (address,) = frames(page)
    assert address.startswith(f"{OUT}&")
    query = parse_qs(urlsplit(address).query)
    assert (query["iss"], query["sid"]) == ([framed_client.hub_url], [claims_in(id_token)["sid"]])
    assert leave(visitor, id_token_hint=id_token).html.count("<iframe") == 0, "the session has ended"


def test_policy_names_exactly_the_frames(
    world: World, visitor: Visitor, ada: Person, framed_client: RelyingParty
) -> None:
    other = world.application("other", frontchannel_logout_uri="https://other.example:8443/out")
    world.application("idle", frontchannel_logout_uri="https://idle.example/out")
    world.application("quiet")
    signed_in(visitor, ada, framed_client)
    signed_in(visitor, ada, other)
    page = visitor.open("/logout").press("Sign out")
    assert "frame-src https://other.example:8443 https://shop.example;" in policy(page)
    assert "frame-ancestors 'none'" in policy(page)
    assert len(frames(page)) == 2
    assert "<script" not in page.html
    assert all("allow-top-navigation" not in tag for tag in re.findall(r"<iframe[^>]+>", page.html))


def test_page_goes_on_to_the_application(visitor: Visitor, ada: Person, framed_client: RelyingParty) -> None:
    """Without JavaScript: after a bounded wait by the header `Refresh`, and at once by a link."""
    id_token = signed_in(visitor, ada, framed_client)
    page = leave(visitor, id_token_hint=id_token, post_logout_redirect_uri=BYE, state="s t")
    assert page.status == 200
    assert page.answer is not None
    assert page.answer.headers["Refresh"] == f"4;url={BYE}?state=s%20t"
    assert "You’ll go back to Acme Front in a few seconds." in page.text.replace("\u2068", "").replace("\u2069", "")
    assert page.follow("Back to Acme Front").address == f"{BYE}?state=s%20t"


def test_confirmed_sign_out_goes_on_too(visitor: Visitor, ada: Person, framed_client: RelyingParty) -> None:
    signed_in(visitor, ada, framed_client)
    page = leave(visitor, client_id="front", post_logout_redirect_uri=BYE).press("Sign out")
    assert (len(frames(page)), page.answer.headers["Refresh"] if page.answer else "") == (1, f"4;url={BYE}")


def test_sign_out_without_such_applications_redirects_at_once(
    world: World, visitor: Visitor, ada: Person, shop: RelyingParty
) -> None:
    id_token = signed_in(visitor, ada, shop)
    assert leave(visitor, id_token_hint=id_token, post_logout_redirect_uri=BYE).address == BYE


def test_number_of_frames_is_bounded(world: World, visitor: Visitor, ada: Person) -> None:
    for number in range(MAX_FRAMES + 2):
        app = world.application(f"app{number}", frontchannel_logout_uri=f"https://app{number}.example/out")
        visitor_page = visitor.authorize(app)
        if visitor_page.status == 200:
            visitor_page.press("Sign in", identifier=ada.email, password=ada.password)
    page = visitor.open("/logout").press("Sign out")
    shown = frames(page)
    assert (len(shown), shown[0].startswith(f"https://app{MAX_FRAMES + 1}.")) == (MAX_FRAMES, True)


def test_hostile_address_ends_no_directive(world: World, visitor: Visitor, ada: Person) -> None:
    """An older row may hold anything: it gets a frame that the policy does not allow."""
    app = world.application("odd", frontchannel_logout_uri='https://x.example;script-src *"><script>/out')
    signed_in(visitor, ada, app)
    page = visitor.open("/logout").press("Sign out")
    assert "script-src *" not in policy(page)
    assert "<script>" not in page.html


def test_sign_out_of_one_account_loads_its_frames(
    world: World, visitor: Visitor, ada: Person, framed_client: RelyingParty, shop: RelyingParty
) -> None:
    """Without JavaScript: the browser goes on to the accounts that are left."""
    id_token = signed_in(visitor, ada, framed_client)
    grace = world.person("grace@example.test")
    login = visitor.authorize(shop, prompt="select_account").press("Use another account")
    login.press("Sign in", identifier=grace.email, password=grace.password)
    page = visitor.authorize(shop, prompt="select_account").press(f"Sign out of {ada.email}")
    assert page.heading == "You’re signed out"
    (address,) = frames(page)
    assert parse_qs(urlsplit(address).query)["sid"] == [claims_in(id_token)["sid"]]
    assert "frame-src https://shop.example;" in policy(page)
    assert page.answer is not None
    assert page.answer.headers["Refresh"].startswith("4;url=/choose-account?attempt=")
    left = page.follow("Continue")
    assert left.heading == "Choose an account"
    assert ada.email not in left.text
    assert left.press(grace.email).query["code"]
    assert visitor.authorize(shop, prompt="select_account").press(f"Sign out of {grace.email}").heading != page.heading


def test_not_you_loads_frames_of_the_account_that_is_left(
    visitor: Visitor, ada: Person, framed_client: RelyingParty, shop: RelyingParty
) -> None:
    signed_in(visitor, ada, framed_client)
    page = visitor.authorize(shop, prompt="login").press("Not you? Use another account")
    assert (page.heading, len(frames(page))) == ("You’re signed out", 1)
    assert page.follow("Continue").is_sign_in
    assert visitor.authorize(shop).is_sign_in


@pytest.mark.both_databases
def test_ending_the_own_session_by_its_id_loads_frames(
    browser: Browser, ada: Person, framed_client: RelyingParty
) -> None:
    id_token = str((framed_client.redeem(browser.code(framed_client, ada)).json or {})["id_token"])
    body = json.dumps({"Id": claims_in(id_token)["sid"]}).encode()
    response = StepResponse.model_validate_json(browser.send("POST", "/hub/sessions/end", body).data)
    assert (type(response.step), response.ends_session, len(response.frames)) == (SignedOutStep, True, 1)


def test_metadata_offers_front_channel_logout(framed_client: RelyingParty) -> None:
    """Front-Channel Logout 1.0 section 3."""
    metadata = framed_client.get("/.well-known/openid-configuration").json or {}
    assert metadata["frontchannel_logout_supported"] is True
    assert metadata["frontchannel_logout_session_supported"] is True
