"""The page that asks for required fields that an account lacks."""

from tests.support.journeys.account_pages import REGISTRATION_FORM
from tests.support.oauth.world import NewWorld
from tests.support.visitors.visitor import NewVisitorAt

PASSWORD = "correct horse 7"


def test_missing_required_field_is_asked_at_sign_in(new_world: NewWorld, new_visitor_at: NewVisitorAt) -> None:
    world = new_world(registration_form=REGISTRATION_FORM, custom_fields=["size"], ask_required_fields=True)
    visitor, shop = new_visitor_at(world), world.application("shop", client_name="Acme Shop")
    page = visitor.authorize(shop).press("Sign in", identifier=world.person("ada@example.com").email, password=PASSWORD)
    assert page.heading == "One more detail"
    assert "Acme Shop" in page.text
    assert "Enter your first name." in page.press("Continue", first_name="").text
    assert "code=" in page.press("Continue", first_name="Ada").address
    assert "code=" in visitor.authorize(shop).address
