"""Profile, sessions and sign-out."""

from typing import Any
from urllib.parse import urlencode

import pytest

from tests.support.oauth.relying_party import Person
from tests.support.oauth.world import World
from tests.support.services.identity_service import pass_time
from tests.support.visitors.visitor import NewVisitor, VisitedPage, Visitor

PASSWORD = "correct horse 7"


@pytest.fixture
def ada(world: World) -> Person:
    return world.person("ada@example.com", FirstName="Ada", LastName="Lovelace")


def signed_in(visitor: Visitor, person: Person) -> VisitedPage:
    return visitor.open("/profile").press("Sign in", identifier=person.email, password=PASSWORD)


def test_profile_signs_in_as_the_hubs_own_client(visitor: Visitor, ada: Person) -> None:
    page = visitor.open("/profile")
    assert visitor.cookies("gatehouse-callback-")
    assert "to continue to" not in page.text, "the hub's own client is not named as an application"
    assert page.heading.startswith("Sign in to ")
    profile = page.press("Sign in", identifier=ada.email, password=PASSWORD)
    assert profile.profile_name == "Ada Lovelace"
    assert "ada@example.com" in profile.text
    assert visitor.cookies("gatehouse-callback-") == []


def test_callback_in_another_browser_is_refused(new_visitor: NewVisitor, ada: Person) -> None:
    """Login CSRF: an attacker's code in the victim's browser."""
    attacker, victim = new_visitor(), new_visitor()
    page = attacker.open("/profile")
    attempt = page.form("Sign in").fields
    answer = attacker.client.post(
        "/login", base_url=attacker.home, data={**attempt, "identifier": ada.email, "password": PASSWORD}
    )
    seen = victim.open(answer.headers["Location"])
    assert seen.status == 400
    assert seen.heading == "Sign-in didn’t finish"


@pytest.mark.parametrize(
    "changed", [{"state": "x"}, {"iss": "https://evil.example"}, {"code": "x"}, {"error": "access_denied"}]
)
def test_tampered_callback_is_refused(visitor: Visitor, ada: Person, changed: dict[str, str]) -> None:
    attempt = visitor.open("/profile").form("Sign in").fields
    answer = visitor.client.post(
        "/login", base_url=visitor.home, data={**attempt, "identifier": ada.email, "password": PASSWORD}
    )
    values = VisitedPage(visitor, answer.headers["Location"], None).query
    seen = visitor.open(f"/callback/profile?{urlencode({**values, **changed})}")
    assert seen.status == 400


@pytest.mark.parametrize("name", ["code", "state", "iss"])
def test_callback_with_a_repeated_parameter_is_refused(visitor: Visitor, ada: Person, name: str) -> None:
    attempt = visitor.open("/profile").form("Sign in").fields
    answer = visitor.client.post(
        "/login", base_url=visitor.home, data={**attempt, "identifier": ada.email, "password": PASSWORD}
    )
    values = VisitedPage(visitor, answer.headers["Location"], None).query
    for last in ("x", values[name]):
        seen = visitor.open(f"/callback/profile?{urlencode([*values.items(), (name, last)])}")
        assert (seen.status, seen.heading) == (400, "Sign-in didn’t finish")
    assert visitor.open(f"/callback/profile?{urlencode(values)}").profile_name == "Ada Lovelace"


@pytest.mark.parametrize("name", ["nobody", "%3Cscript%3E", "%C3%A4", "a%20b", "x" * 300])
def test_unknown_callback_answers_404(visitor: Visitor, name: str) -> None:
    assert visitor.open(f"/callback/{name}").status == 404


def test_session_is_listed_and_ended(new_visitor: NewVisitor, ada: Person) -> None:
    here, tenant = new_visitor(), new_visitor()
    signed_in(tenant, ada)
    signed_in(here, ada)
    page = here.open("/security")
    assert "This browser" in page.text
    assert page.text.count("Firefox on Linux") == 2
    assert "Signed out" in page.press("Sign out").text
    assert tenant.open("/profile").is_sign_in
    assert here.open("/profile").profile_name == "Ada Lovelace"


def test_all_other_sessions_are_ended_at_once(new_visitor: NewVisitor, ada: Person) -> None:
    here, others = new_visitor(), [new_visitor(), new_visitor()]
    for browser in (*others, here):
        signed_in(browser, ada)
    page = here.open("/security").press("Sign out all others")
    assert "Only this browser." in page.text
    assert [browser.open("/profile").is_sign_in for browser in others] == [True] * 2


def test_idle_session_of_an_application_is_ended(world: World, visitor: Visitor, ada: Person) -> None:
    """An application keeps refreshing tokens without a browser, so its session has no idle time."""
    app = world.application("mail-program", grant_types=["password", "refresh_token"])
    form = {"grant_type": "password", "username": ada.email, "password": PASSWORD, **app.client_credentials()}
    tokens = app.back("token", form).json or {}
    pass_time(world.services, minutes=121)
    signed_in(visitor, ada)
    assert "Signed out" in visitor.open("/security").press("Sign out").text
    assert (app.refresh(tokens["refresh_token"]).json or {})["error"] == "invalid_grant"


def test_foreign_session_cannot_be_ended(world: World, new_visitor: NewVisitor, ada: Person) -> None:
    here, tenant = new_visitor(), new_visitor()
    signed_in(here, ada)
    signed_in(tenant, world.person("bob@example.com"))
    third = new_visitor()
    signed_in(third, world.person("eve@example.com"))
    form = signed_in(new_visitor(), ada).visitor.open("/security").form("Sign out all others")
    here.open("/security").press("Sign out all others", everywhere="", session_id=form.fields.get("session_id", "x"))
    assert tenant.open("/profile").heading == "Profile"


def test_foreign_form_token_ends_no_session(new_visitor: NewVisitor, ada: Person) -> None:
    here, tenant = new_visitor(), new_visitor()
    signed_in(here, ada)
    signed_in(tenant, ada)
    token = tenant.open("/security").form("Sign out").fields["token"]
    page = here.open("/security").press("Sign out all others", token=token)
    assert page.status == 403
    assert tenant.open("/profile").profile_name == "Ada Lovelace"


def test_sign_out_needs_a_post(visitor: Visitor, ada: Person) -> None:
    signed_in(visitor, ada)
    page = visitor.open("/logout")
    assert page.heading == "Sign out?"
    assert "ada@example.com" in page.text
    assert "every application" not in page.text, "applications keep their own sessions"
    assert visitor.open("/profile").profile_name == "Ada Lovelace"
    assert page.press("Sign out").heading == "You’re signed out"
    assert visitor.open("/profile").is_sign_in


def test_cross_site_post_does_not_sign_out(visitor: Visitor, ada: Person) -> None:
    signed_in(visitor, ada)
    fields = visitor.open("/logout").form("Sign out").fields
    page = visitor.send("POST", f"{visitor.home}/logout", fields, **{"Sec-Fetch-Site": "cross-site"})
    assert (page.status, page.heading) == (403, "Sign out?")
    assert visitor.open("/profile").profile_name == "Ada Lovelace"


def test_sign_out_returns_to_the_application(world: World, visitor: Visitor, ada: Person) -> None:
    shop = world.application("shop", client_name="Acme Shop", post_logout_redirect_uris=("https://shop.example/bye",))
    signed_in(visitor, ada)
    parameters = {"client_id": shop.client_id, "post_logout_redirect_uri": "https://shop.example/bye", "state": "s"}
    page = visitor.open(f"/service/oidc/logout?{urlencode(parameters)}")
    assert "Acme Shop" in page.text
    assert page.press("Sign out").address == "https://shop.example/bye?state=s"


def test_unregistered_post_logout_uri_is_not_followed(world: World, visitor: Visitor, ada: Person) -> None:
    shop = world.application("shop")
    signed_in(visitor, ada)
    parameters = {"client_id": shop.client_id, "post_logout_redirect_uri": "https://evil.example/"}
    page = visitor.open(f"/service/oidc/logout?{urlencode(parameters)}").press("Sign out")
    assert page.heading == "You’re signed out"
    page = visitor.open(f"/service/oidc/logout?{urlencode(parameters)}")
    assert (page.status, page.heading) == (400, "We can’t send you back")


def test_encrypted_sign_out_request_cannot_be_forged(visitor: Visitor, ada: Person) -> None:
    signed_in(visitor, ada)
    page = visitor.open("/logout?return_url=https://evil.example/").press("Sign out", request="forged")
    assert page.heading == "You’re signed out"


@pytest.mark.both_databases
def test_sign_in_replaces_the_session_cookie(visitor: Visitor, ada: Person) -> None:
    """Session fixation."""
    visitor.client.set_cookie(
        "gatehouse-session", "known to the attacker", domain=visitor.home.removeprefix("http://").partition(":")[0]
    )
    signed_in(visitor, ada)
    session = next(cookie for cookie in (visitor.client._cookies or {}).values() if "session" in cookie.key)
    assert session.value != "known to the attacker"


@pytest.mark.parametrize(
    "picture",
    [
        "https://a.b;script-src-elem 'unsafe-inline' *;style-src-elem *;x/x.png",
        "https://a.b,default-src*/x.png",
        "https://[::1/x",
        "https://who:secret@a.b/x.png",
    ],
)
def test_malformed_picture_does_not_reach_the_csp(world: World, visitor: Visitor, picture: str) -> None:
    page = signed_in(visitor, world.person("bob@example.com", ImageUrl=picture))
    assert page.status == 200
    assert page.answer is not None
    assert "img-src 'self' data:;" in page.answer.headers["Content-Security-Policy"]
    assert "<img src=" not in page.html


def test_profile_picture_is_shown_and_allowed_by_csp(world: World, visitor: Visitor) -> None:
    page = signed_in(visitor, world.person("bob@example.com", ImageUrl="https://pictures.example/bob.png"))
    assert page.answer is not None
    assert "img-src 'self' data: https://pictures.example/bob.png;" in page.answer.headers["Content-Security-Policy"]
    assert '<img src="https://pictures.example/bob.png"' in page.html


def test_copied_cookie_is_refused_after_password_change(new_visitor: NewVisitor, ada: Person) -> None:
    here, attacker = new_visitor(), new_visitor()
    signed_in(here, ada)
    copied = here.session_cookie()
    attacker.set_session_cookie(copied)
    assert attacker.open("/profile").profile_name == "Ada Lovelace"
    page = here.open("/change-password")
    assert page.press("Save password", old_password=PASSWORD, new_password="Zebra-kettle-92").status == 200
    assert here.open("/profile").profile_name == "Ada Lovelace"
    assert here.session_cookie() != copied
    assert attacker.open("/profile").is_sign_in


def test_copied_cookie_is_refused_after_reauthentication(world: World, new_visitor: NewVisitor, ada: Person) -> None:
    here, attacker = new_visitor(), new_visitor()
    signed_in(here, ada)
    clock: Any = world.services.clock
    clock.advance(minutes=6)
    attacker.set_session_cookie(here.session_cookie())
    page = here.open("/emails/add")
    assert attacker.open("/profile").profile_name == "Ada Lovelace"
    sent = page.press("Send email", email="countess@example.org", password=PASSWORD)
    assert "countess@example.org" in sent.text
    assert sent.press("Verify", code="000000").status == 403, "the form rendered under the old cookie is accepted"
    assert "It’s been a while since you signed in" not in here.open("/emails/add").text
    assert attacker.open("/emails/add").is_sign_in
