"""The page of a new privacy policy, which comes before every other page."""

from datetime import timedelta

from tests.support.journeys.account_pages import mails, signed_in
from tests.support.oauth.world import NewWorld
from tests.support.services.identity_service import pass_time
from tests.support.visitors.visitor import NewVisitorAt

PASSWORD = "correct horse 7"
POLICY = {"mode": "strict", "versions": [{"version": "1", "starts_at": "2020-01-01T00:00:00Z"}]}

OWN_PAGES = (
    "/profile", "/profile/edit", "/username", "/emails", "/emails/add", "/security", "/security-questions",
    "/delete-account", "/change-password",
)  # fmt: skip


def test_new_privacy_policy_must_be_accepted_first(new_world: NewWorld, new_visitor_at: NewVisitorAt) -> None:
    world = new_world(privacy_policy=POLICY)
    visitor, shop = new_visitor_at(world), world.application("shop", client_name="Acme Shop")
    ada = world.person("ada@example.com")
    page = visitor.authorize(shop).press("Sign in", identifier=ada.email, password=PASSWORD)
    assert page.heading == "Accept our privacy notice"
    assert visitor.authorize(shop).heading == "Accept our privacy notice", "a second tab cannot bypass the policy"
    assert "error=interaction_required" in visitor.authorize(shop, prompt="none").address
    callback = page.press("Accept")
    assert callback.address.startswith("https://shop.example/cb?")
    assert "code=" in callback.address
    assert "code=" in visitor.authorize(shop).address


def test_account_pages_wait_for_policy_acceptance(new_world: NewWorld, new_visitor_at: NewVisitorAt) -> None:
    world = new_world(privacy_policy=POLICY)
    visitor, ada = new_visitor_at(world), world.person("ada@example.com")
    assert signed_in(visitor, ada).heading == "Accept our privacy notice"
    for page in OWN_PAGES:
        assert visitor.open(page).heading == "Accept our privacy notice", page
    prompt = visitor.open("/change-password")
    assert prompt.press("Accept").heading == "Change password"


def test_policy_page_names_its_date_and_changes(new_world: NewWorld, new_visitor_at: NewVisitorAt) -> None:
    versions = [
        {"version": "1", "starts_at": "2020-01-01T00:00:00Z", "changes": {"en": "The first one."}},
        {"version": "2", "starts_at": "2021-03-04T00:00:00Z", "changes": {"en": "We keep <orders>.", "de": "Neu."}},
        {"version": "3", "starts_at": "2199-01-01T00:00:00Z", "changes": {"en": "Not yet."}},
    ]
    world = new_world(privacy_policy={"mode": "strict", "versions": versions[:1]})
    visitor = new_visitor_at(world)
    first = signed_in(visitor, world.person("ada@example.com"))
    assert "What’s new" not in first.text, "nothing changed for whom it is the first one"
    first.press("Accept")
    world.change_settings(privacy_policy={"mode": "strict", "versions": versions})
    page = visitor.open("/profile")
    assert page.heading == "Our privacy notice has changed"
    assert "What’s new We keep <orders>." in page.text
    assert "Effective March 4, 2021" in page.text
    assert "March\u00a04,\u00a02021" in page.html
    assert "first one" not in page.text
    assert "Not yet" not in page.text


def test_forms_opened_before_the_policy_change_nothing(new_world: NewWorld, new_visitor_at: NewVisitorAt) -> None:
    starts_at = (new_world().services.clock.now() + timedelta(minutes=1)).isoformat()
    world = new_world(privacy_policy={"mode": "strict", "versions": [{"version": "1", "starts_at": starts_at}]})
    visitor, ada = new_visitor_at(world), world.person("ada@example.com")
    signed_in(visitor, ada)
    username, password = visitor.open("/username"), visitor.open("/change-password")
    email, left_page = visitor.open("/emails/add"), visitor.open("/delete-account")
    pass_time(world.services, minutes=2)
    heading = "Accept our privacy notice"
    assert username.press("Save", username="eve").heading == heading
    assert email.press("Send email", email="eve@example.org").heading == heading
    assert left_page.press("Email me a confirmation link").heading == heading
    assert password.press("Save password", old_password=PASSWORD, new_password="Other-kettle-92").heading == heading
    assert mails(world, "eve@example.org") == []
    assert mails(world, ada.email) == []
