"""Self-service pages: profile, username, addresses, security questions, deletion, privacy policy."""

import re
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import select

from app.hub.pages.account import emails
from app.identity.assembly.clean_up.expired_rows import clean
from app.identity.directory.accounts.tables import accounts
from app.identity.platform.store.unit_of_work import UnitOfWork
from tests.support.accounts.mailbox import link_in, links_in, sent_messages
from tests.support.oauth.relying_party import Person
from tests.support.oauth.world import NewWorld, World
from tests.support.visitors.visitor import NewVisitorAt, VisitedPage, Visitor

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


def signed_in(visitor: Visitor, person: Person, page: str = "/profile") -> VisitedPage:
    return visitor.open(page).press("Sign in", identifier=person.email, password=PASSWORD)


def mails(world: World, to: str) -> list[str]:
    return [mail["text"] for mail in sent_messages(world.services, world.tenant_id) if mail["to"] == to]


def advance_clock(world: World, **delta: float) -> None:
    """Advance the clock."""
    clock: Any = world.services.clock
    clock.advance(**delta)


def test_sign_in_returns_to_the_requested_page(visitor: Visitor, ada: Person) -> None:
    assert signed_in(visitor, ada, "/profile/edit").heading == "Edit your profile"


def test_profile_is_edited(visitor: Visitor, ada: Person) -> None:
    page = signed_in(visitor, ada).follow("Name Ada Lovelace")
    assert 'value="Ada"' in page.html
    saved = page.press("Save", first_name="Augusta", last_name="", birth_date="1815-12-10")
    assert saved.heading == "Augusta"
    assert "Saved" in saved.text
    assert "December 10, 1815" in saved.text


def test_profile_form_takes_no_credential_or_identifier(new_world: NewWorld, new_visitor_at: NewVisitorAt) -> None:
    """Also of a tenant whose sign-up form has them, and after the sign-in has grown old."""
    own = [{"name": name} for name in ("username", "phone")]
    world = new_world(email_login=True, phone_login=True, registration_form=[*FORM, *own], custom_fields=["size"])
    ada, new = world.person("ada@example.com", FirstName="Ada"), "Quartz-lantern-58"
    page = signed_in(new_visitor_at(world), ada, "/profile/edit")
    advance_clock(world, hours=1)
    smuggled = {
        "password": new,
        "Password": new,
        "old_password": PASSWORD,
        "phone": "+4930111222333",
        "username": "eve",
    }
    more = {"email": "eve@example.com", "security_question_answer": "x", "pin": "4711", "PhoneId": "+4930111222333"}
    assert page.press("Save", first_name="Augusta", **smuggled, **more).heading == "Augusta"
    with UnitOfWork(world.services.database, world.tenant_id).separate_transaction() as work:
        stored = work.one(select(accounts).where(accounts.c.tenant_id == world.tenant_id, accounts.c.uid == ada.uid))
    assert stored is not None
    assert (stored.username, stored.phone, [email["Value"] for email in stored.emails]) == (None, None, [ada.email])
    assert stored.private == {}
    assert signed_in(new_visitor_at(world), ada).heading == "Augusta", "the password is the same"


def test_profile_rows_lead_to_their_change(new_world: NewWorld, new_visitor_at: NewVisitorAt) -> None:
    world = new_world(email_login=True, username_login=True, deletion_days=3)
    ada = world.person("ada@example.com", FirstName="Ada", LastName="Lovelace")
    page = signed_in(new_visitor_at(world), ada)
    for row, heading in (
        ("Name Ada Lovelace", "Edit your profile"),
        ("Email ada@example.com Verified", "Email addresses"),
        ("Username Choose one to sign in with Not set", "Username"),
        ("Delete account You’ll have 3 days to change your mind", "Delete account"),
    ):
        assert page.follow(row).heading == heading


def test_refused_field_shows_error_and_form_stays(visitor: Visitor, ada: Person) -> None:
    page = signed_in(visitor, ada, "/profile/edit").press("Save", first_name="Augusta", birth_date="1815-02-30")
    assert page.status == 400
    assert page.title.startswith("Error")
    assert "Enter a valid date." in page.text
    assert 'value="Augusta"' in page.html


def test_profile_form_follows_the_registration_form(new_world: NewWorld, new_visitor_at: NewVisitorAt) -> None:
    world = new_world(registration_form=FORM, custom_fields=["size"])
    ada = world.person("ada@example.com", FirstName="Ada")
    page = signed_in(new_visitor_at(world), ada, "/profile/edit")
    assert "last_name" not in page.html
    assert "Fill in this field." in page.press("Save", first_name="").text
    assert page.press("Save", first_name="Augusta", cf_size="xl").heading == "Augusta"


def test_foreign_form_token_changes_nothing(visitor: Visitor, ada: Person) -> None:
    page = signed_in(visitor, ada, "/profile/edit")
    refused = page.press("Save", first_name="Eve", token="x")
    assert refused.status == 403
    assert visitor.open("/profile").heading == "Ada Lovelace"


def test_signed_out_browser_signs_in_first(visitor: Visitor, ada: Person) -> None:
    page = signed_in(visitor, ada, "/profile/edit")
    visitor.forget("session")
    assert page.press("Save", first_name="Eve").heading == "Welcome back"


def test_username_is_set_and_a_taken_one_refused(world: World, visitor: Visitor, ada: Person) -> None:
    page = signed_in(visitor, ada, "/username")
    assert "Use 1 to 32 characters, without spaces" in page.press("Save", username="a b").text
    assert "countess" in page.press("Save", username="Countess").text
    grace = signed_in(Visitor(type(visitor.client)(visitor.client.application), visitor.home), world.person("g@x.test"))
    assert "This username is taken" in grace.visitor.open("/username").press("Save", username="COUNTESS").text


def test_stale_session_asks_the_password(world: World, visitor: Visitor, ada: Person) -> None:
    signed_in(visitor, ada)
    advance_clock(world, minutes=6)
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
    advance_clock(world, minutes=6)
    prompt = page.press("Save", username="countess")
    assert prompt.status == 401
    assert prompt.title.startswith("Username"), "asking for the password is no error"
    assert "Confirm it’s you" in prompt.text
    assert prompt.form("Save").fields["username"] == "countess"
    assert "Enter your password." in prompt.press("Save").text
    assert "Saved" in prompt.press("Save", password=PASSWORD).text


def test_dates_follow_the_visitors_language(visitor: Visitor, world: World) -> None:
    person = world.person("b@example.com", FirstName="Bea", BirthDate="12/10/1995")
    assert "December 10, 1995" in signed_in(visitor, person).text
    visitor.language = "de"
    assert "10. Dezember 1995" in visitor.open("/profile").text


def test_address_is_added_made_primary_and_removed(world: World, visitor: Visitor, ada: Person) -> None:
    page = signed_in(visitor, ada, "/emails").follow("Add email")
    sent = page.press("Send email", email="countess@example.org")
    assert "countess@example.org" in sent.text
    code = re.findall(r"\b\d{6}\b", mails(world, "countess@example.org")[-1])[0]
    assert sent.press("Verify", code="000000" if code != "000000" else "111111").status == 403
    listed = sent.press("Verify", code=f"{code[:3]} {code[3:]}")
    assert "Email verified" in listed.text
    first = listed.press("Make primary", action="primary").press("Make primary")
    assert "Primary email changed" in first.text
    assert len(mails(world, "ada@example.com")) == 2
    prompt = visitor.open("/emails").press("Remove", address="ada@example.com", action="remove")
    assert prompt.heading == "Remove this email?"
    left_page = prompt.press("Remove")
    assert "ada@example.com" not in left_page.text
    assert visitor.open("/profile").text.count("countess@example.org") == 2


def test_taken_address_answers_like_a_free_one(world: World, visitor: Visitor, ada: Person) -> None:
    world.person("grace@example.com")
    page = signed_in(visitor, ada, "/emails/add")
    taken = page.press("Send email", email="grace@example.com")
    free = page.press("Send email", email="other@example.com")
    assert (taken.status, taken.heading) == (free.status, free.heading)
    assert not links_in(mails(world, "grace@example.com")[-1])


def test_security_questions_appear_if_configured(new_world: NewWorld, new_visitor_at: NewVisitorAt) -> None:
    pages = []
    for questions in ({"pet": "First pet?"}, {}):
        world = new_world(security_questions=questions)
        pages.append(signed_in(new_visitor_at(world), world.person("ada@example.com"), "/security").text)
    assert ["Security questions" in page for page in pages] == [True, False]


def test_security_question_is_answered_and_not_shown(new_world: NewWorld, new_visitor_at: NewVisitorAt) -> None:
    world = new_world(security_questions={"pet": "First pet?", "town": "Home town?"})
    visitor = new_visitor_at(world)
    page = signed_in(visitor, world.person("ada@example.com"), "/security-questions")
    assert "First pet?" in page.text
    assert "Saved" in page.press("Save", answer_0="Rex").text
    again = visitor.open("/security-questions")
    assert "Answered. Leave blank to keep your answer." in again.text
    assert "Rex" not in again.html


def test_username_page_is_offered_if_usernames_sign_in(new_world: NewWorld, new_visitor_at: NewVisitorAt) -> None:
    pages = []
    for is_on in (True, False):
        world = new_world(email_login=True, username_login=is_on)
        pages.append(signed_in(new_visitor_at(world), world.person("ada@example.com")).text)
    assert ["Username" in page for page in pages] == [True, False]


def test_deletion_needs_a_verified_address(new_world: NewWorld, new_visitor_at: NewVisitorAt) -> None:
    visitor = new_visitor_at(new_world(email_verification="optional"))
    visitor.open("/register").press("Create account", email="ada@example.com", password="Zebra-kettle-91")
    refused = visitor.open("/delete-account").press("Email me a confirmation link")
    assert "Verify your email first" in refused.text


def test_account_is_deleted_by_link_and_restored(world: World, visitor: Visitor, ada: Person) -> None:
    mailed = signed_in(visitor, ada, "/delete-account").press("Email me a confirmation link")
    assert mailed.heading == "Check your email"
    assert visitor.open(mailed.address).heading == "Check your email"
    assert len(mails(world, ada.email)) == 1, "reloading repeats nothing"
    link = link_in(mails(world, ada.email)[-1])
    page = visitor.open(link)
    assert page.heading == "Delete your account?"
    assert visitor.open(link).heading == "Delete your account?", "opening the link does not use it up"
    assert visitor.send("HEAD", link, None).status == 200
    assert visitor.open("/profile").heading == "Ada Lovelace"
    left_page = page.press("Delete account")
    assert left_page.heading == "Account scheduled for deletion"
    assert visitor.open(left_page.address).comparable_text() == left_page.comparable_text(), "reloading repeats nothing"
    assert visitor.open("/profile").heading == "Welcome back"
    assert visitor.open(link).heading == "Link already used"
    offer = signed_in(visitor, ada)
    assert offer.heading == "Account scheduled for deletion"
    restored = offer.press("Keep my account")
    assert restored.heading == "Deletion canceled"
    assert visitor.open(restored.address).heading == "Deletion canceled"
    assert signed_in(visitor, ada).heading == "Ada Lovelace"


@pytest.mark.both_databases
def test_deletion_changes_the_state_of_the_session_iframe(new_world: NewWorld, new_visitor_at: NewVisitorAt) -> None:
    """Session Management 1.0 section 3.2: the state changes with the session."""
    world = new_world(session_management=True)
    visitor, ada = new_visitor_at(world), world.person("ada@example.com")
    signed_in(visitor, ada, "/delete-account").press("Email me a confirmation link")
    before = visitor.cookie("gatehouse-state").value
    visitor.open(link_in(mails(world, ada.email)[-1])).press("Delete account")
    assert visitor.cookie("gatehouse-state").value != before


def test_wrong_password_does_not_reveal_the_deletion(world: World, visitor: Visitor, ada: Person) -> None:
    signed_in(visitor, ada, "/delete-account").press("Email me a confirmation link")
    visitor.open(link_in(mails(world, ada.email)[-1])).press("Delete account")
    page = visitor.open("/login").press("Sign in", identifier=ada.email, password="wrong")
    assert "deleted" not in page.text


@pytest.mark.both_databases
@pytest.mark.database_alone
def test_deleted_account_is_gone_after_grace_period(world: World, visitor: Visitor, ada: Person) -> None:
    signed_in(visitor, ada, "/delete-account").press("Email me a confirmation link")
    visitor.open(link_in(mails(world, ada.email)[-1])).press("Delete account")
    clean(world.services.database, world.services.clock.now() + timedelta(days=15))
    page = signed_in(visitor, ada)
    assert page.status == 401
    assert "deleted" not in page.text


@pytest.mark.parametrize("token", ["x", "a" * 400, "%00", "<script>"])
def test_malformed_deletion_link_deletes_nothing(visitor: Visitor, token: str) -> None:
    page = visitor.open(f"/delete-account?vtype=deleteuser&vtoken={token}")
    assert page.status in (400, 403)


def test_legacy_deletion_link_resolves(visitor: Visitor) -> None:
    assert visitor.open("/auth.aspx?vtype=deleteuser&vtoken=x").heading == "Link incomplete"


def test_new_privacy_policy_must_be_accepted_first(new_world: NewWorld, new_visitor_at: NewVisitorAt) -> None:
    world = new_world(privacy_policy=POLICY)
    visitor, shop = new_visitor_at(world), world.application("shop", client_name="Acme Shop")
    ada = world.person("ada@example.com")
    page = visitor.authorize(shop).press("Sign in", identifier=ada.email, password=PASSWORD)
    assert page.heading == "Our privacy notice has changed"
    assert visitor.authorize(shop).heading == "Our privacy notice has changed", "a second tab cannot bypass the policy"
    assert "error=interaction_required" in visitor.authorize(shop, prompt="none").address
    callback = page.press("Accept")
    assert callback.address.startswith("https://shop.example/cb?")
    assert "code=" in callback.address
    assert "code=" in visitor.authorize(shop).address


OWN_PAGES = (
    "/profile", "/profile/edit", "/username", "/emails", "/emails/add", "/security", "/security-questions",
    "/delete-account", "/change-password",
)  # fmt: skip


def test_account_pages_wait_for_policy_acceptance(new_world: NewWorld, new_visitor_at: NewVisitorAt) -> None:
    world = new_world(privacy_policy=POLICY)
    visitor, ada = new_visitor_at(world), world.person("ada@example.com")
    assert signed_in(visitor, ada).heading == "Our privacy notice has changed"
    for page in OWN_PAGES:
        assert visitor.open(page).heading == "Our privacy notice has changed", page
    prompt = visitor.open("/change-password")
    assert prompt.press("Accept").heading == "Change password"


def test_policy_page_names_its_date_and_changes(new_world: NewWorld, new_visitor_at: NewVisitorAt) -> None:
    versions = [
        {"version": "1", "starts_at": "2020-01-01T00:00:00Z", "changes": {"en": "The first one."}},
        {"version": "2", "starts_at": "2021-03-04T00:00:00Z", "changes": {"en": "We keep <orders>.", "de": "Neu."}},
        {"version": "3", "starts_at": "2199-01-01T00:00:00Z", "changes": {"en": "Not yet."}},
    ]
    world = new_world(privacy_policy={"mode": "strict", "versions": versions})
    page = signed_in(new_visitor_at(world), world.person("ada@example.com"))
    assert "What’s new We keep <orders>." in page.text
    assert "Effective March 4, 2021" in page.text
    assert "first one" not in page.text
    assert "Not yet" not in page.text


def test_forms_opened_before_the_policy_change_nothing(new_world: NewWorld, new_visitor_at: NewVisitorAt) -> None:
    starts_at = (new_world().services.clock.now() + timedelta(minutes=1)).isoformat()
    world = new_world(privacy_policy={"mode": "strict", "versions": [{"version": "1", "starts_at": starts_at}]})
    visitor, ada = new_visitor_at(world), world.person("ada@example.com")
    signed_in(visitor, ada)
    username, password = visitor.open("/username"), visitor.open("/change-password")
    email, left_page = visitor.open("/emails/add"), visitor.open("/delete-account")
    advance_clock(world, minutes=2)
    heading = "Our privacy notice has changed"
    assert username.press("Save", username="eve").heading == heading
    assert email.press("Send email", email="eve@example.org").heading == heading
    assert left_page.press("Email me a confirmation link").heading == heading
    assert password.press("Save password", old_password=PASSWORD, new_password="Other-kettle-92").heading == heading
    assert mails(world, "eve@example.org") == []
    assert mails(world, ada.email) == []


def test_missing_required_field_is_asked_at_sign_in(new_world: NewWorld, new_visitor_at: NewVisitorAt) -> None:
    world = new_world(registration_form=FORM, custom_fields=["size"], ask_required_fields=True)
    visitor, shop = new_visitor_at(world), world.application("shop", client_name="Acme Shop")
    page = visitor.authorize(shop).press("Sign in", identifier=world.person("ada@example.com").email, password=PASSWORD)
    assert page.heading == "One more detail"
    assert "Acme Shop" in page.text
    assert "Fill in this field." in page.press("Continue", first_name="").text
    assert "code=" in page.press("Continue", first_name="Ada").address
    assert "code=" in visitor.authorize(shop).address


def test_each_post_makes_one_api_call(visitor: Visitor, ada: Person) -> None:
    signed_in(visitor, ada)
    posts = [
        visitor.open("/profile/edit").press("Save", birth_date="x"),
        visitor.open("/username").press("Save", username="a b"),
        visitor.open("/emails/add").press("Send email", email="x"),
        visitor.open("/emails/add").press("Send email", email="fresh@example.com"),
        visitor.open("/delete-account").press("Email me a confirmation link"),
    ]
    assert [page.cost["api"] <= 1 for page in posts] == [True] * len(posts)


@pytest.mark.parametrize(
    ("days", "language", "expected"),
    [
        (1, "en", "For 1 day, its link can be used"),
        (3, "en", "For 3 days, its link can be used"),
        (1, "de", "1 Tag lang"),
        (7, "de", "7 Tage lang"),
        (2, "ar", "خلال يومين"),
        (7, "ar", "خلال 7 أيام"),
        (30, "ar", "خلال 30 يوم"),
    ],
)
def test_address_change_names_days_to_undo_it(
    visitor: Visitor, ada: Person, monkeypatch: pytest.MonkeyPatch, days: int, language: str, expected: str
) -> None:
    monkeypatch.setattr(emails, "ALERT_LINK_DAYS", days)
    token = signed_in(visitor, ada, "/emails/add").form("Send email").fields
    visitor.language = language
    page = visitor.send("POST", f"{visitor.home}/emails", {**token, "address": ada.email, "action": "primary"})
    assert expected in page.text
