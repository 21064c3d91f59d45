"""Forgotten password on our pages: asked for, mailed, set by link and by code, and on to where somebody was going."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

import pytest

from tests.support.mailbox import code_in, link_in, mails_to, token_in
from tests.support.oauth_world import NewWorld, World
from tests.support.relying_party import Person
from tests.support.visitor import NewVisitor, Seen, Visitor

PASSWORD = "correct horse 7"
NEW = "Quartz-lantern-58"


@pytest.fixture
def ada(world: World) -> Person:
    return world.person("ada@example.com", FirstName="Ada")


def asked(page: Seen, name: str) -> Seen:
    """Press "Forgot it?" at the sign-in, and say who."""
    return page.follow("Forgot it?").press("Send it", identifier=name)


def mail_to(world: World, person: Person) -> dict[str, object]:
    return mails_to(world.services, world.tenant_id, person.email)[-1]


def path_of(world: World, person: Person) -> str:
    parts = urlsplit(link_in(mail_to(world, person)))
    return f"{parts.path}?{parts.query}"


def test_by_link_in_the_application_s_sign_in(world: World, visitor: Visitor, ada: Person) -> None:
    sent = asked(visitor.asked_by(world.application("shop")), ada.email)
    assert sent.heading == "Check your mail"
    page = visitor.open(path_of(world, ada))
    assert page.heading == "Choose a new password"
    again = page.press("Save the new password", password=NEW)
    assert urlsplit(again.address).path == "/login"
    assert "Your password is changed" in again.text
    assert again.form("Sign in").fields["identifier"] == ada.email
    assert again.press("Sign in", password=NEW).query["code"]


def test_by_code_in_the_application_s_sign_in(world: World, visitor: Visitor, ada: Person) -> None:
    sent = asked(visitor.asked_by(world.application("shop")), ada.email)
    code = code_in(mail_to(world, ada))
    page = sent.press("Continue", code=f" {code[:3]}-{code[3:]} ")
    assert page.heading == "Choose a new password"
    assert page.press("Save the new password", password=NEW).press("Sign in", password=NEW).query["code"]


def test_the_digits_of_any_script_are_understood(world: World, visitor: Visitor, ada: Person) -> None:
    sent = asked(visitor.open("/login"), ada.email)
    arabic = code_in(mail_to(world, ada)).translate(str.maketrans("0123456789", "٠١٢٣٤٥٦٧٨٩"))
    assert sent.press("Continue", code=arabic).heading == "Choose a new password"


def test_who_resets_is_signed_in_where_the_tenant_wants_it(new_world: NewWorld, new_visitor_at, world: World) -> None:  # type: ignore[no-untyped-def]  # a fixture's own type
    there = new_world(login_on_password_reset=True)
    visitor, ada = new_visitor_at(there), there.person("ada@example.com")
    asked(visitor.asked_by(there.application("shop")), ada.email)
    landed = visitor.open(path_of(there, ada)).press("Save the new password", password=NEW)
    assert landed.query["code"]


def test_a_mailbox_alone_signs_nobody_in_where_a_second_factor_is_required(new_world: NewWorld, new_visitor_at) -> None:  # type: ignore[no-untyped-def]  # a fixture's own type
    there = new_world(login_on_password_reset=True, two_factor="required")
    visitor, ada = new_visitor_at(there), there.person("ada@example.com")
    asked(visitor.asked_by(there.application("shop")), ada.email)
    landed = visitor.open(path_of(there, ada)).press("Save the new password", password=NEW)
    assert "code" not in landed.query
    assert landed.heading == "Protect your account"


def test_known_and_unknown_look_the_same(world: World, new_visitor: NewVisitor, ada: Person) -> None:
    known, unknown = (
        asked(new_visitor().open("/login"), ada.email),
        asked(new_visitor().open("/login"), "bob@example.com"),
    )
    assert known.status == unknown.status == 200
    assert known.says(but_for=ada.email) == unknown.says(but_for="bob@example.com")
    wrong, strange = known.press("Continue", code="000000"), unknown.press("Continue", code="000000")
    assert wrong.status == strange.status == 403
    assert wrong.says(but_for=ada.email) == strange.says(but_for="bob@example.com")
    assert mails_to(world.services, world.tenant_id, "bob@example.com") == []


def test_an_account_that_locks_meanwhile_looks_like_nobody_s(
    world: World, new_visitor: NewVisitor, ada: Person
) -> None:
    known, unknown = (
        asked(new_visitor().open("/login"), ada.email),
        asked(new_visitor().open("/login"), "bob@example.com"),
    )
    for _ in range(8):
        known, unknown = known.press("Continue", code="000000"), unknown.press("Continue", code="000000")
        assert known.status == unknown.status
        assert known.says(but_for=ada.email) == unknown.says(but_for="bob@example.com")


def test_looking_at_the_link_uses_nothing_up(
    world: World, visitor: Visitor, new_visitor: NewVisitor, ada: Person
) -> None:
    asked(visitor.open("/login"), ada.email)
    link = path_of(world, ada)
    for _ in range(3):
        assert new_visitor().open(link).heading == "Choose a new password"
    assert new_visitor().send("HEAD", f"{visitor.home}{link}", None).status == 200
    page = new_visitor().open(link)
    assert page.answer
    assert page.answer.headers["Referrer-Policy"] == "no-referrer"
    assert page.press("Save the new password", password=NEW).status == 200


def test_a_link_that_was_used_leads_to_a_new_one(world: World, visitor: Visitor, ada: Person) -> None:
    asked(visitor.open("/login"), ada.email)
    link = path_of(world, ada)
    visitor.open(link).press("Save the new password", password=NEW)
    over = visitor.open(link)
    assert over.heading == "This link was used already"
    before = len(mails_to(world.services, world.tenant_id, ada.email))
    assert over.press("Send a new link").heading == "Check your mail"
    assert len(mails_to(world.services, world.tenant_id, ada.email)) == before + 1


def test_a_newer_link_ends_the_older(world: World, visitor: Visitor, new_visitor: NewVisitor, ada: Person) -> None:
    asked(visitor.open("/login"), ada.email)
    older = path_of(world, ada)
    asked(new_visitor().open("/login"), ada.email)
    assert visitor.open(older).heading == "This link no longer works"


def test_a_truncated_link_says_so(world: World, visitor: Visitor, ada: Person) -> None:
    asked(visitor.open("/login"), ada.email)
    token = token_in(mail_to(world, ada))
    assert visitor.open(f"/reset-password?vtoken={token[:-4]}").heading == "This link is not complete"


def test_a_link_of_another_tenant_is_unknown(
    world: World, new_world: NewWorld, new_visitor_at, visitor: Visitor, ada: Person
) -> None:  # type: ignore[no-untyped-def]  # a fixture's own type
    asked(visitor.open("/login"), ada.email)
    token = token_in(mail_to(world, ada))
    stranger = new_visitor_at(new_world())
    assert stranger.open(f"/reset-password?vtoken={token}").heading == "This link is not complete"


def test_old_addresses_of_mails_land_right(world: World, visitor: Visitor, ada: Person) -> None:
    asked(visitor.open("/login"), ada.email)
    token = token_in(mail_to(world, ada))
    assert visitor.open(f"/auth.aspx?vtype=reset&vtoken={token}").heading == "Choose a new password"
    assert visitor.open("/auth.aspx?action=forgotpassword").heading == "Forgot your password?"


def test_an_older_caller_is_told_that_it_is_done(new_world: NewWorld, new_visitor_at) -> None:  # type: ignore[no-untyped-def]  # a fixture's own type
    there = new_world(url_whitelist=("https://shop.example",))
    visitor, ada = new_visitor_at(there), there.person("ada@example.com")
    page = visitor.open("/auth.aspx?action=forgotpassword&return_url=https%3A%2F%2Fshop.example%2Fdone")
    landed = page.press("Send it", identifier=ada.email)
    assert landed.address == "https://shop.example/done?action_completed=forgotpassword"


def test_a_refused_password_leaves_the_link_good(world: World, visitor: Visitor, ada: Person) -> None:
    asked(visitor.open("/login"), ada.email)
    page = visitor.open(path_of(world, ada)).press("Save the new password", password="short")
    assert page.status == 422
    assert "keeps every rule" in page.text
    assert page.press("Save the new password", password=PASSWORD).status == 422
    page = page.press("Save the new password", password=NEW)
    assert "Your password is changed" in page.text


def test_the_manager_is_told_whose_password_it_is(world: World, visitor: Visitor, ada: Person) -> None:
    asked(visitor.open("/login"), ada.email)
    page = visitor.open(path_of(world, ada))
    assert page.form("Save the new password").fields["username"] == ada.email
    assert re.search(r'<input[^>]*autocomplete="username"[^>]*readonly', page.html)
    assert 'autocomplete="new-password"' in page.html


def test_a_second_message_waits(world: World, visitor: Visitor, ada: Person) -> None:
    sent = asked(visitor.open("/login"), ada.email)
    early = sent.press("Send it again")
    assert early.status == 429
    assert "on its way" in early.text
    assert len(mails_to(world.services, world.tenant_id, ada.email)) == 1
    world.services.clock.advance(seconds=31)  # type: ignore[attr-defined]  # the tests' clock is moved by hand
    assert "We sent another message" in sent.press("Send it again").text
    assert len(mails_to(world.services, world.tenant_id, ada.email)) == 2


def test_every_session_ends(world: World, new_visitor: NewVisitor, ada: Person) -> None:
    other, here = new_visitor(), new_visitor()
    other.open("/profile").press("Sign in", identifier=ada.email, password=PASSWORD)
    asked(here.open("/login"), ada.email)
    here.open(path_of(world, ada)).press("Save the new password", password=NEW)
    assert other.open("/profile").heading == "Welcome back"


def test_two_tabs_each_return_to_their_own_application(world: World, visitor: Visitor, ada: Person) -> None:
    shop, forum = world.application("shop"), world.application("forum")
    asked(visitor.asked_by(shop, state="of the shop"), ada.email)
    first = path_of(world, ada)
    other = visitor.asked_by(forum, state="of the forum")
    page = visitor.open(first).press("Save the new password", password=NEW)
    assert page.press("Sign in", password=NEW).query["state"] == "of the shop"
    assert other.press("Sign in", identifier=ada.email, password=NEW).query["state"] == "of the forum"


@pytest.mark.parametrize("goes_on", ["refresh", "code", "again"])
def test_a_tab_that_still_waits_goes_on_once_the_other_signed_in(
    world: World, visitor: Visitor, ada: Person, goes_on: str
) -> None:
    shop, forum = world.application("shop"), world.application("forum")
    waiting = asked(visitor.asked_by(shop, state="of the shop"), ada.email)
    other = asked(visitor.asked_by(forum, state="of the forum"), ada.email)
    code = code_in(mail_to(world, ada))
    page = other.press("Continue", code=code).press("Save the new password", password=NEW)
    assert page.press("Sign in", password=NEW).query["state"] == "of the forum"
    acts = {
        "refresh": lambda: visitor.open(waiting.address),
        "code": lambda: waiting.press("Continue", code=code),
        "again": lambda: waiting.press("Send it again"),
    }
    landed = acts[goes_on]()
    assert landed.query["state"] == "of the shop"
    assert landed.query["code"]


def test_a_password_that_is_too_old_is_changed_on_the_way(new_world: NewWorld, new_visitor_at) -> None:  # type: ignore[no-untyped-def]  # a fixture's own type
    there = new_world(password_policy={"expiry_days": 30})
    visitor, ada = new_visitor_at(there), there.person("ada@example.com")
    there.aged(ada, days=31)
    page = visitor.asked_by(there.application("shop")).press("Sign in", identifier=ada.email, password=PASSWORD)
    assert page.heading == "Your password is too old"
    assert visitor.open("/profile").heading == "Welcome back"
    assert page.press("Save the new password", password=PASSWORD).status == 422
    assert page.press("Save the new password", password=NEW).query["code"]


def test_the_own_password_is_changed(world: World, new_visitor: NewVisitor, ada: Person) -> None:
    here, there = new_visitor(), new_visitor()
    for browser in (here, there):
        browser.open("/profile").press("Sign in", identifier=ada.email, password=PASSWORD)
    page = here.open("/.well-known/change-password")
    assert page.heading == "Change password"
    assert page.press("Save the new password", old_password="wrong", new_password=NEW).status == 401
    done = page.press("Save the new password", old_password=PASSWORD, new_password=NEW)
    assert "Your password is changed" in done.text
    assert there.open("/profile").heading == "Welcome back"
    assert here.open("/profile").heading == "Ada"


def test_this_was_not_me(world: World, new_visitor: NewVisitor, ada: Person) -> None:
    thief, owner = new_visitor(), new_visitor()
    thief.open("/profile").press("Sign in", identifier=ada.email, password=PASSWORD)
    thief.open("/change-password").press("Save the new password", old_password=PASSWORD, new_password=NEW)
    mail = next(one for one in mails_to(world.services, world.tenant_id, ada.email) if "/not-me" in str(one))
    parts = urlsplit(link_in(mail))
    page = owner.open(f"{parts.path}?{parts.query}")
    assert page.heading == "Was it somebody else?"
    assert thief.open("/profile").heading == "Ada", "looking ends nothing"
    assert page.press("It was not me: close the account to others").heading == "Check your mail"
    assert thief.open("/profile").heading == "Welcome back"
    assert thief.open("/login").press("Sign in", identifier=ada.email, password=NEW).status == 401
    assert owner.open(f"{parts.path}?{parts.query}").heading == "This was done already"
    done = owner.open(path_of(world, ada)).press("Save the new password", password="Amber-window-44")
    assert "Your password is changed" in done.text


def test_a_mail_that_may_not_be_sent_leaves_the_one_before_good(new_world: NewWorld, new_visitor_at) -> None:  # type: ignore[no-untyped-def]  # a fixture's own type
    there = new_world(limits={"forgot_per_minute_per_address": 0})
    ada = there.person("ada@example.com")
    for _ in range(6):
        assert asked(new_visitor_at(there).open("/login"), ada.email).heading == "Check your mail"
    assert len(mails_to(there.services, there.tenant_id, ada.email)) < 6
    assert new_visitor_at(there).open(path_of(there, ada)).heading == "Choose a new password"
