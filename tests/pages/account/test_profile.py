"""The profile: what it shows, and where its rows lead."""

import pytest

from tests.support.journeys.account_pages import REGISTRATION_FORM, signed_in
from tests.support.oauth.relying_party import Person
from tests.support.oauth.world import NewWorld, World
from tests.support.visitors.visitor import NewVisitorAt, Visitor


@pytest.fixture
def ada(world: World) -> Person:
    return world.person("ada@example.com", FirstName="Ada", LastName="Lovelace")


def test_profile_rows_lead_to_their_change(new_world: NewWorld, new_visitor_at: NewVisitorAt) -> None:
    world = new_world(email_login=True, username_login=True, deletion_days=3)
    ada = world.person("ada@example.com", FirstName="Ada", LastName="Lovelace")
    page = signed_in(new_visitor_at(world), ada)
    for row, heading in (
        ("Email ada@example.com Verified Edit", "Email addresses"),
        ("Username Choose one to sign in with Add", "Username"),
        ("Delete…", "Delete account"),
    ):
        assert page.follow(row).heading == heading


def test_row_is_edited_in_its_place(new_world: NewWorld, new_visitor_at: NewVisitorAt) -> None:
    world = new_world(email_login=True, custom_fields=["size"], registration_form=REGISTRATION_FORM)
    ada = world.person("ada@example.com", FirstName="Ada", LastName="Lovelace")
    page = signed_in(new_visitor_at(world), ada)
    page = page.follow("Name Ada Lovelace Edit")
    assert 'value="Ada"' in page.html
    assert 'name="birth_date"' not in page.html
    refused = page.press("Save", first_name="")
    assert refused.status == 422
    assert 'id="first_name-problem"' in refused.html
    assert "Contact" in refused.text
    saved = refused.press("Save", first_name="Augusta")
    assert saved.profile_name == "Augusta Lovelace"
    assert 'name="first_name"' not in saved.html
    assert page.follow("Cancel").profile_name == "Augusta Lovelace"


@pytest.mark.parametrize("row", ["", "x", "password", "email", "../../etc", "name'"])
def test_unknown_row_is_not_opened(visitor: Visitor, ada: Person, row: str) -> None:
    signed_in(visitor, ada)
    page = visitor.open(f"/profile?edit={row}")
    assert page.status == 200
    assert "Cancel" not in page.text


def test_row_changes_no_other_field(visitor: Visitor, ada: Person) -> None:
    page = signed_in(visitor, ada).follow("City Not set Add")
    saved = page.press("Save", city="London", first_name="Eve", company="Eve & Co")
    assert (saved.profile_name, "London" in saved.text, "Eve" in saved.text) == ("Ada Lovelace", True, False)


def test_dates_follow_the_visitors_language(visitor: Visitor, world: World) -> None:
    person = world.person("b@example.com", FirstName="Bea", BirthDate="12/10/1995")
    assert "December 10, 1995" in signed_in(visitor, person).text
    visitor.language = "de"
    assert "10. Dezember 1995" in visitor.open("/profile").text


def test_username_page_is_offered_if_usernames_sign_in(new_world: NewWorld, new_visitor_at: NewVisitorAt) -> None:
    pages = []
    for is_on in (True, False):
        world = new_world(email_login=True, username_login=is_on)
        pages.append(signed_in(new_visitor_at(world), world.person("ada@example.com")).text)
    assert ["Username" in page for page in pages] == [True, False]


def test_each_post_makes_one_api_call(visitor: Visitor, ada: Person) -> None:
    signed_in(visitor, ada)
    posts = [
        visitor.open("/username").press("Save", username="a b"),
        visitor.open("/emails/add").press("Send email", email="x"),
        visitor.open("/emails/add").press("Send email", email="fresh@example.com"),
        visitor.open("/delete-account").press("Email me a confirmation link"),
    ]
    assert [page.cost["api"] <= 1 for page in posts] == [True] * len(posts)
