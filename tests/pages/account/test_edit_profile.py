"""The page that edits the profile."""

import pytest
from sqlalchemy import select

from app.identity.directory.accounts.tables import accounts
from app.identity.platform.store.unit_of_work import UnitOfWork
from tests.support.journeys.account_pages import REGISTRATION_FORM, signed_in
from tests.support.oauth.relying_party import Person
from tests.support.oauth.world import NewWorld, World
from tests.support.services.identity_service import pass_time
from tests.support.visitors.visitor import NewVisitorAt, Visitor

PASSWORD = "correct horse 7"


@pytest.fixture
def ada(world: World) -> Person:
    return world.person("ada@example.com", FirstName="Ada", LastName="Lovelace")


def test_sign_in_returns_to_the_requested_page(visitor: Visitor, ada: Person) -> None:
    assert 'value="Ada"' in signed_in(visitor, ada, "/profile/edit").html


def test_profile_is_edited(visitor: Visitor, ada: Person) -> None:
    page = signed_in(visitor, ada, "/profile/edit")
    assert 'value="Ada"' in page.html
    saved = page.press("Save", first_name="Augusta", last_name="", birth_date="1815-12-10")
    assert saved.profile_name == "Augusta"
    assert "Saved" in saved.text
    assert "December 10, 1815" in saved.text


def test_profile_form_takes_no_credential_or_identifier(new_world: NewWorld, new_visitor_at: NewVisitorAt) -> None:
    """Also of a tenant whose sign-up form has them, and after the sign-in has grown old."""
    own = [{"name": name} for name in ("username", "phone")]
    world = new_world(
        email_login=True, phone_login=True, registration_form=[*REGISTRATION_FORM, *own], custom_fields=["size"]
    )
    ada, new = world.person("ada@example.com", FirstName="Ada"), "Quartz-lantern-58"
    page = signed_in(new_visitor_at(world), ada, "/profile/edit")
    pass_time(world.services, hours=1)
    smuggled = {
        "password": new,
        "Password": new,
        "old_password": PASSWORD,
        "phone": "+4930111222333",
        "username": "eve",
    }
    more = {"email": "eve@example.com", "security_question_answer": "x", "pin": "4711", "PhoneId": "+4930111222333"}
    assert page.press("Save", first_name="Augusta", **smuggled, **more).profile_name == "Augusta"
    with UnitOfWork(world.services.database, world.tenant_id).separate_transaction() as work:
        stored = work.one(select(accounts).where(accounts.c.tenant_id == world.tenant_id, accounts.c.uid == ada.uid))
    assert stored is not None
    assert (stored.username, stored.phone, [email["Value"] for email in stored.emails]) == (None, None, [ada.email])
    assert stored.private == {}
    assert signed_in(new_visitor_at(world), ada).profile_name == "Augusta", "the password is the same"


def test_refused_field_shows_error_and_form_stays(visitor: Visitor, ada: Person) -> None:
    page = signed_in(visitor, ada, "/profile/edit").press("Save", first_name="Augusta", birth_date="1815-02-30")
    assert page.status == 400
    assert page.title.startswith("Error")
    assert "Enter a valid date." in page.text
    assert 'value="Augusta"' in page.html


def test_profile_form_follows_the_registration_form(new_world: NewWorld, new_visitor_at: NewVisitorAt) -> None:
    world = new_world(registration_form=REGISTRATION_FORM, custom_fields=["size"])
    ada = world.person("ada@example.com", FirstName="Ada")
    page = signed_in(new_visitor_at(world), ada, "/profile/edit")
    assert "last_name" not in page.html
    assert "Enter your first name." in page.press("Save", first_name="").text
    assert page.press("Save", first_name="Augusta", cf_size="xl").profile_name == "Augusta"


def test_foreign_form_token_changes_nothing(visitor: Visitor, ada: Person) -> None:
    page = signed_in(visitor, ada, "/profile/edit")
    refused = page.press("Save", first_name="Eve", token="x")
    assert refused.status == 403
    assert visitor.open("/profile").profile_name == "Ada Lovelace"


def test_signed_out_browser_signs_in_first(visitor: Visitor, ada: Person) -> None:
    page = signed_in(visitor, ada, "/profile/edit")
    visitor.forget("session")
    assert page.press("Save", first_name="Eve").is_sign_in
