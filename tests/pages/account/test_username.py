"""The page of the username, and the password that a stale session needs for it."""

import pytest

from tests.support.journeys.account_pages import signed_in
from tests.support.oauth.relying_party import Person
from tests.support.oauth.world import World
from tests.support.services.identity_service import pass_time
from tests.support.visitors.visitor import Visitor

PASSWORD = "correct horse 7"


@pytest.fixture
def ada(world: World) -> Person:
    return world.person("ada@example.com", FirstName="Ada", LastName="Lovelace")


def test_username_is_set_and_a_taken_one_refused(world: World, visitor: Visitor, ada: Person) -> None:
    page = signed_in(visitor, ada, "/username")
    assert "Use 1 to 32 characters, without spaces" in page.press("Save", username="a b").text
    assert "countess" in page.press("Save", username="Countess").text
    grace = signed_in(Visitor(type(visitor.client)(visitor.client.application), visitor.home), world.person("g@x.test"))
    assert "This username is taken" in grace.visitor.open("/username").press("Save", username="COUNTESS").text


def test_stale_session_asks_the_password(world: World, visitor: Visitor, ada: Person) -> None:
    signed_in(visitor, ada)
    pass_time(world.services, minutes=6)
    page = visitor.open("/username")
    assert "It’s been a while since you signed in" in page.text
    wrong = page.press("Save", username="countess", password="wrong")
    assert wrong.status == 401
    assert "Wrong password." in wrong.text
    assert 'value="countess"' in wrong.html
    assert "countess" in wrong.press("Save", password=PASSWORD).text
    assert "It’s been a while since you signed in" not in visitor.open("/emails/add").text


def test_session_that_became_stale_asks_password_only(world: World, visitor: Visitor, ada: Person) -> None:
    signed_in(visitor, ada)
    page = visitor.open("/username")
    pass_time(world.services, minutes=6)
    prompt = page.press("Save", username="countess")
    assert prompt.status == 401
    assert prompt.title.startswith("Username"), "asking for the password is no error"
    assert "Confirm it’s you" in prompt.text
    assert prompt.form("Save").fields["username"] == "countess"
    assert "Enter your password." in prompt.press("Save").text
    assert "Saved" in prompt.press("Save", password=PASSWORD).text
