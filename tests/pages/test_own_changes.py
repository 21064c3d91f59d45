"""People change their own account on our pages: profile, username, addresses, questions; and leave."""

import re
from datetime import timedelta
from typing import Any

import pytest

from app.identity.entry.cleaning import clean
from tests.support.mailbox import sent_messages
from tests.support.oauth_world import NewWorld, World
from tests.support.relying_party import Person
from tests.support.visitor import NewVisitorAt, Seen, Visitor

PASSWORD = "correct horse 7"
FORM: list[dict[str, Any]] = [
    {"name": "email", "required": True},
    {"name": "password", "type": "password", "required": True},
    {"name": "first_name", "required": True},
    {"name": "birth_date"},
    {"name": "cf_size", "type": "option", "options": [{"value": "m"}, {"value": "xl"}]},
]
POLICY = {"mode": "strict", "versions": [{"version": "1", "starts_at": "2020-01-01T00:00:00Z"}]}


@pytest.fixture
def ada(world: World) -> Person:
    return world.person("ada@example.com", FirstName="Ada", LastName="Lovelace")


def signed_in(visitor: Visitor, person: Person, page: str = "/profile") -> Seen:
    return visitor.open(page).press("Sign in", identifier=person.email, password=PASSWORD)


def mails(world: World, to: str) -> list[str]:
    return [mail["text"] for mail in sent_messages(world.services, world.tenant_id) if mail["to"] == to]


def link_in(text: str) -> str:
    return re.findall(r"http\S+vtoken=[\w-]+", text)[0]


def later(world: World, **by: float) -> None:
    """Move on; the session stays."""
    clock: Any = world.services.clock
    clock.advance(**by)


def test_a_page_that_was_asked_for_comes_after_signing_in(visitor: Visitor, ada: Person) -> None:
    assert signed_in(visitor, ada, "/profile/edit").heading == "Edit your profile"


def test_the_profile_is_edited(visitor: Visitor, ada: Person) -> None:
    page = signed_in(visitor, ada).follow("Edit your profile Name, date of birth and what else we ask")
    assert 'value="Ada"' in page.html
    saved = page.press("Save", first_name="Augusta", last_name="", birth_date="1815-12-10")
    assert saved.heading == "Augusta"
    assert "Saved" in saved.text
    assert "December 10, 1815" in saved.text


def test_what_is_wrong_stands_at_its_field_and_what_was_typed_stays(visitor: Visitor, ada: Person) -> None:
    page = signed_in(visitor, ada, "/profile/edit").press("Save", first_name="Augusta", birth_date="1815-02-30")
    assert page.status == 400
    assert page.title.startswith("Error")
    assert "There is no such day." in page.text
    assert 'value="Augusta"' in page.html


def test_the_tenants_form_says_what_is_asked(new_world: NewWorld, new_visitor_at: NewVisitorAt) -> None:
    world = new_world(registration_form=FORM, custom_fields=["size"])
    ada = world.person("ada@example.com", FirstName="Ada")
    page = signed_in(new_visitor_at(world), ada, "/profile/edit")
    assert "last_name" not in page.html
    assert "Fill in this field." in page.press("Save", first_name="").text
    assert page.press("Save", first_name="Augusta", cf_size="xl").heading == "Augusta"


def test_a_form_of_elsewhere_changes_nothing(visitor: Visitor, ada: Person) -> None:
    page = signed_in(visitor, ada, "/profile/edit")
    refused = page.press("Save", first_name="Eve", token="x")
    assert refused.status == 403
    assert visitor.open("/profile").heading == "Ada Lovelace"


def test_whoever_is_signed_out_meanwhile_signs_in_first(visitor: Visitor, ada: Person) -> None:
    page = signed_in(visitor, ada, "/profile/edit")
    visitor.forget("session")
    assert page.press("Save", first_name="Eve").heading == "Welcome back"


def test_a_username_is_set_and_a_taken_one_refused(world: World, visitor: Visitor, ada: Person) -> None:
    page = signed_in(visitor, ada, "/username")
    assert "username" in page.press("Save", username="a b").text
    assert "countess" in page.press("Save", username="Countess").text
    grace = signed_in(Visitor(type(visitor.client)(visitor.client.application), visitor.home), world.person("g@x.test"))
    assert "Somebody else has this username" in grace.visitor.open("/username").press("Save", username="COUNTESS").text


def test_an_old_sign_in_asks_the_password_again(world: World, visitor: Visitor, ada: Person) -> None:
    signed_in(visitor, ada)
    later(world, minutes=6)
    page = visitor.open("/username")
    assert "You signed in a while ago" in page.text
    wrong = page.press("Save", username="countess", password="wrong")
    assert wrong.status == 401
    assert "That is not your password." in wrong.text
    assert 'value="countess"' in wrong.html
    assert "countess" in wrong.press("Save", password=PASSWORD).text
    assert "You signed in a while ago" not in visitor.open("/emails/add").text


def test_a_password_that_is_needed_after_all_is_asked_for_and_not_missed(
    world: World, visitor: Visitor, ada: Person
) -> None:
    signed_in(visitor, ada)
    page = visitor.open("/username")
    later(world, minutes=6)
    asked = page.press("Save", username="countess")
    assert asked.status == 401
    assert asked.title.startswith("Your username"), "nobody made a mistake"
    assert "Is it still you?" in asked.text
    assert asked.form("Save").fields["username"] == "countess"
    assert "Enter your password." in asked.press("Save").text
    assert "Saved" in asked.press("Save", password=PASSWORD).text


def test_a_day_is_written_as_the_visitor_writes_it(visitor: Visitor, world: World) -> None:
    born = world.person("b@example.com", FirstName="Bea", BirthDate="12/10/1995")
    assert "December 10, 1995" in signed_in(visitor, born).text
    visitor.language = "de"
    assert "10. Dezember 1995" in visitor.open("/profile").text


def test_an_address_is_added_by_its_code_made_first_and_removed(world: World, visitor: Visitor, ada: Person) -> None:
    page = signed_in(visitor, ada, "/emails").follow("Add an address")
    sent = page.press("Send the mail", email="countess@example.org")
    assert "countess@example.org" in sent.text
    code = re.findall(r"\b\d{6}\b", mails(world, "countess@example.org")[-1])[0]
    assert sent.press("Confirm", code="000000" if code != "000000" else "111111").status == 403
    listed = sent.press("Confirm", code=f"{code[:3]} {code[3:]}")
    assert "Address confirmed" in listed.text
    first = listed.press("Make main", action="primary").press("Yes, make it the main one")
    assert "Main address changed" in first.text
    assert len(mails(world, "ada@example.com")) == 2
    asked = visitor.open("/emails").press("Remove", address="ada@example.com", action="remove")
    assert asked.heading == "Remove this address?"
    left = asked.press("Yes, remove it")
    assert "ada@example.com" not in left.text
    assert visitor.open("/profile").text.count("countess@example.org") == 2


def test_an_address_of_somebody_else_is_answered_as_a_free_one(world: World, visitor: Visitor, ada: Person) -> None:
    world.person("grace@example.com")
    page = signed_in(visitor, ada, "/emails/add")
    taken = page.press("Send the mail", email="grace@example.com")
    free = page.press("Send the mail", email="other@example.com")
    assert (taken.status, taken.heading) == (free.status, free.heading)
    assert "vtoken" not in mails(world, "grace@example.com")[-1]


def test_security_questions_are_offered_where_the_tenant_asks_some(
    new_world: NewWorld, new_visitor_at: NewVisitorAt
) -> None:
    pages = []
    for questions in ({"pet": "First pet?"}, {}):
        world = new_world(security_questions=questions)
        pages.append(signed_in(new_visitor_at(world), world.person("ada@example.com"), "/security").text)
    assert ["Security questions" in page for page in pages] == [True, False]


def test_security_questions_are_answered(new_world: NewWorld, new_visitor_at: NewVisitorAt) -> None:
    world = new_world(security_questions={"pet": "First pet?", "town": "Home town?"})
    visitor = new_visitor_at(world)
    page = signed_in(visitor, world.person("ada@example.com"), "/security-questions")
    assert "First pet?" in page.text
    assert "Saved" in page.press("Save", answer_0="Rex").text
    again = visitor.open("/security-questions")
    assert "There is an answer." in again.text
    assert "Rex" not in again.html


def test_a_username_is_offered_where_one_signs_in_with_it(new_world: NewWorld, new_visitor_at: NewVisitorAt) -> None:
    pages = []
    for is_on in (True, False):
        world = new_world(email_login=True, username_login=is_on)
        pages.append(signed_in(new_visitor_at(world), world.person("ada@example.com")).text)
    assert ["Username" in page for page in pages] == [True, False]


def test_whose_address_is_not_confirmed_reads_why_no_mail_deletes_it(
    new_world: NewWorld, new_visitor_at: NewVisitorAt
) -> None:
    visitor = new_visitor_at(new_world(email_verification="optional"))
    visitor.open("/register").press("Create account", email="ada@example.com", password="Zebra-kettle-91")
    refused = visitor.open("/delete-account").press("Send me the mail")
    assert "Confirm your address first" in refused.text


def test_an_account_is_deleted_and_kept_after_all(world: World, visitor: Visitor, ada: Person) -> None:
    mailed = signed_in(visitor, ada, "/delete-account").press("Send me the mail")
    assert mailed.heading == "Check your mail"
    assert visitor.open(mailed.address).heading == "Check your mail"
    assert len(mails(world, ada.email)) == 1, "to look again sends nothing again"
    link = link_in(mails(world, ada.email)[-1])
    page = visitor.open(link)
    assert page.heading == "Delete this account?"
    assert visitor.open(link).heading == "Delete this account?", "to look uses nothing up"
    assert visitor.send("HEAD", link, None).status == 200
    assert visitor.open("/profile").heading == "Ada Lovelace"
    left = page.press("Yes, delete it")
    assert left.heading == "Your account is closed"
    assert visitor.open(left.address).says() == left.says(), "to look again sends nothing again"
    assert visitor.open("/profile").heading == "Welcome back"
    assert visitor.open(link).heading == "This link no longer works"
    offered = signed_in(visitor, ada)
    assert offered.heading == "This account is being deleted"
    kept = offered.press("Keep my account")
    assert kept.heading == "Your account stays"
    assert visitor.open(kept.address).heading == "Your account stays"
    assert signed_in(visitor, ada).heading == "Ada Lovelace"


def test_a_wrong_password_is_told_nothing_of_the_deletion(world: World, visitor: Visitor, ada: Person) -> None:
    signed_in(visitor, ada, "/delete-account").press("Send me the mail")
    visitor.open(link_in(mails(world, ada.email)[-1])).press("Yes, delete it")
    page = visitor.open("/login").press("Sign in", identifier=ada.email, password="wrong")
    assert "deleted" not in page.text


@pytest.mark.database_alone
def test_after_the_time_to_think_nothing_is_left(world: World, visitor: Visitor, ada: Person) -> None:
    signed_in(visitor, ada, "/delete-account").press("Send me the mail")
    visitor.open(link_in(mails(world, ada.email)[-1])).press("Yes, delete it")
    clean(world.services.database, world.services.clock.now() + timedelta(days=15))
    page = signed_in(visitor, ada)
    assert page.status == 401
    assert "deleted" not in page.text


@pytest.mark.parametrize("token", ["x", "a" * 400, "%00", "<script>"])
def test_a_broken_link_deletes_nothing(visitor: Visitor, token: str) -> None:
    page = visitor.open(f"/delete-account?vtype=deleteuser&vtoken={token}")
    assert page.status in (400, 403)


def test_the_older_address_of_the_mail_leads_there(visitor: Visitor) -> None:
    assert visitor.open("/auth.aspx?vtype=deleteuser&vtoken=x").heading == "This link is not complete"


def test_a_new_privacy_policy_stands_before_everything(new_world: NewWorld, new_visitor_at: NewVisitorAt) -> None:
    world = new_world(privacy_policy=POLICY)
    visitor, shop = new_visitor_at(world), world.application("shop", client_name="Acme Shop")
    ada = world.person("ada@example.com")
    page = visitor.asked_by(shop).press("Sign in", identifier=ada.email, password=PASSWORD)
    assert page.heading == "The privacy policy has changed"
    assert visitor.asked_by(shop).heading == "The privacy policy has changed", "a second tab goes no further"
    assert "error=interaction_required" in visitor.asked_by(shop, prompt="none").address
    done = page.press("Accept")
    assert done.address.startswith("https://shop.example/cb?")
    assert "code=" in done.address
    assert "code=" in visitor.asked_by(shop).address


OWN_PAGES = (
    "/profile", "/profile/edit", "/username", "/emails", "/emails/add", "/security", "/security-questions",
    "/delete-account", "/change-password",
)  # fmt: skip


def test_no_page_of_the_account_opens_before_the_policy_is_accepted(
    new_world: NewWorld, new_visitor_at: NewVisitorAt
) -> None:
    world = new_world(privacy_policy=POLICY)
    visitor, ada = new_visitor_at(world), world.person("ada@example.com")
    assert signed_in(visitor, ada).heading == "The privacy policy has changed"
    for page in OWN_PAGES:
        assert visitor.open(page).heading == "The privacy policy has changed", page
    asked = visitor.open("/change-password")
    assert asked.press("Accept").heading == "Change password"


def test_a_form_from_before_the_policy_changes_nothing(new_world: NewWorld, new_visitor_at: NewVisitorAt) -> None:
    begins = (new_world().services.clock.now() + timedelta(minutes=1)).isoformat()
    world = new_world(privacy_policy={"mode": "strict", "versions": [{"version": "1", "starts_at": begins}]})
    visitor, ada = new_visitor_at(world), world.person("ada@example.com")
    signed_in(visitor, ada)
    username, password = visitor.open("/username"), visitor.open("/change-password")
    email, left = visitor.open("/emails/add"), visitor.open("/delete-account")
    later(world, minutes=2)
    heading = "The privacy policy has changed"
    assert username.press("Save", username="eve").heading == heading
    assert email.press("Send the mail", email="eve@example.org").heading == heading
    assert left.press("Send me the mail").heading == heading
    assert (
        password.press("Save the new password", old_password=PASSWORD, new_password="Other-kettle-92").heading
        == heading
    )
    assert mails(world, "eve@example.org") == []
    assert mails(world, ada.email) == []


def test_what_the_form_requires_is_asked_at_sign_in(new_world: NewWorld, new_visitor_at: NewVisitorAt) -> None:
    world = new_world(registration_form=FORM, custom_fields=["size"], ask_required_fields=True)
    visitor, shop = new_visitor_at(world), world.application("shop", client_name="Acme Shop")
    page = visitor.asked_by(shop).press("Sign in", identifier=world.person("ada@example.com").email, password=PASSWORD)
    assert page.heading == "One thing more"
    assert "Acme Shop" in page.text
    assert "Fill in this field." in page.press("Continue", first_name="").text
    assert "code=" in page.press("Continue", first_name="Ada").address
    assert "code=" in visitor.asked_by(shop).address


def test_no_post_asks_the_service_twice(visitor: Visitor, ada: Person) -> None:
    signed_in(visitor, ada)
    posts = [
        visitor.open("/profile/edit").press("Save", birth_date="x"),
        visitor.open("/username").press("Save", username="a b"),
        visitor.open("/emails/add").press("Send the mail", email="x"),
        visitor.open("/emails/add").press("Send the mail", email="fresh@example.com"),
        visitor.open("/delete-account").press("Send me the mail"),
    ]
    assert [page.cost["api"] <= 1 for page in posts] == [True] * len(posts)
