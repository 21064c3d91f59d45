"""The second factor on our pages: asked after the password, enrolled where it must be, never a dead end."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

import pyotp
import pytest

from tests.support.oauth_world import NewWorld, World
from tests.support.people import Person
from tests.support.visitor import NewVisitorAt, Seen, Visitor

APP_ALONE = {"email": False, "passkey": False}
REQUIRED = {"two_factor": "required", "second_factors": APP_ALONE}


@pytest.fixture
def there(new_world: NewWorld) -> World:
    return new_world(**REQUIRED)


@pytest.fixture
def someone(there: World, new_visitor_at: NewVisitorAt) -> Visitor:
    visitor: Visitor = new_visitor_at(there)
    return visitor


def app_of(page: Seen) -> pyotp.TOTP:
    """Put the key that the page shows into an app."""
    return pyotp.TOTP(re.findall(r'<p class="key"[^>]*>([A-Z2-7 ]+)</p>', page.html)[0].replace(" ", ""))


def shows(there: World, app: pyotp.TOTP) -> str:
    return str(app.at(there.services.clock.now()))


def signs_in(visitor: Visitor, there: World, ada: Person) -> Seen:
    shop = there.application(
        f"shop{len(visitor.language)}{there.services.clock.now():%H%M%S%f}", client_name="Acme Shop"
    )
    return visitor.asked_by(shop).press("Sign in", identifier=ada.email, password=ada.password)


def forgets(visitor: Visitor) -> None:
    """Close the browser: the session's cookie goes with it."""
    visitor.client.delete_cookie("gatehouse-session", domain=urlsplit(visitor.home).hostname or "")


def enrols(visitor: Visitor, there: World, ada: Person) -> tuple[pyotp.TOTP, Seen]:
    page = signs_in(visitor, there, ada)
    app = app_of(page)
    return app, page.press("Continue", code=shows(there, app))


def test_it_is_enrolled_on_the_way_codes_are_kept_and_the_shop_gets_its_code(there: World, someone: Visitor) -> None:
    ada = there.person("ada@example.com")
    page = signs_in(someone, there, ada)
    assert page.heading == "Protect your account"
    assert "<svg" in page.html
    paper = page.press("Continue", code=shows(there, app_of(page)))
    assert paper.heading == "Backup codes"
    made = paper.press("Show my backup codes")
    assert len(re.findall(r"<code>[0-9a-f]{5}-[0-9a-f]{5}</code>", made.html)) == 10
    assert made.answer is not None
    assert "no-store" in made.answer.headers["Cache-Control"]
    assert made.follow("I have kept them").query["code"]


def test_from_then_on_it_is_asked_after_the_password(
    there: World, someone: Visitor, new_visitor_at: NewVisitorAt
) -> None:
    ada = there.person("ada@example.com")
    app, _ = enrols(someone, there, ada)
    there.services.clock.advance(seconds=30)
    page = signs_in(new_visitor_at(there), there, ada)
    assert page.heading == "Is it you?"
    wrong = page.press("Continue", code="000000")
    assert wrong.status == 403
    assert "That code did not work" in wrong.text
    assert wrong.title.startswith("Error: ")
    assert wrong.press("Continue", code=shows(there, app)).query["code"]


def test_no_session_begins_before_it(there: World, someone: Visitor) -> None:
    ada = there.person("ada@example.com")
    page = signs_in(someone, there, ada)
    assert not [cookie for cookie in someone.client._cookies or {} if "session" in str(cookie)]
    assert someone.open("/profile").heading != "Your profile"
    assert page.heading == "Protect your account"


def test_back_and_refresh_meet_the_same_page(there: World, someone: Visitor) -> None:
    page = signs_in(someone, there, there.person("ada@example.com"))
    again = someone.open(page.address)
    assert app_of(again).secret == app_of(page).secret


def test_a_backup_code_is_another_way(there: World, someone: Visitor, new_visitor_at: NewVisitorAt) -> None:
    ada = there.person("ada@example.com")
    _, paper = enrols(someone, there, ada)
    code = re.findall(r"<code>([0-9a-f-]+)</code>", paper.press("Show my backup codes").html)[0]
    visitor = new_visitor_at(there)
    ways = signs_in(visitor, there, ada).follow("Take another way")
    assert "Backup code" in ways.text
    page = visitor.open(ways.address.replace("kind=choose", "kind=backup_code"))
    assert "Type one of your backup codes" in page.text
    assert page.press("Continue", backup_code=code).query["code"]


def test_a_trusted_browser_is_not_asked_again_until_the_password_changes(
    there: World, someone: Visitor, new_visitor_at: NewVisitorAt
) -> None:
    ada = there.person("ada@example.com")
    app, _ = enrols(someone, there, ada)
    there.services.clock.advance(seconds=30)
    visitor = new_visitor_at(there)
    signs_in(visitor, there, ada).press("Continue", code=shows(there, app), trust="y")
    forgets(visitor)
    assert signs_in(visitor, there, ada).query.get("code")
    there.services.clock.advance(days=31)
    forgets(visitor)
    assert signs_in(visitor, there, ada).heading == "Is it you?"


def test_too_many_wrong_codes_lead_back_to_the_beginning(
    there: World, someone: Visitor, new_visitor_at: NewVisitorAt
) -> None:
    ada = there.person("ada@example.com")
    enrols(someone, there, ada)
    page = signs_in(new_visitor_at(there), there, ada)
    for _ in range(5):
        page = page.press("Continue", code="000000")
    assert "Too many tries" in page.text
    after = page.visitor.send("POST", page.address, {**page.form("Continue").fields, "do": "prove", "code": "000000"})
    assert "Begin again" in after.text


def test_after_ten_minutes_the_password_is_asked_anew(there: World, someone: Visitor) -> None:
    page = signs_in(someone, there, there.person("ada@example.com"))
    there.services.clock.advance(minutes=11)
    assert someone.open(page.address).status == 410
