"""Password reset on the hosted pages, by mailed link and by code."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

import pytest

from app.contract.messages.models import MailKind, MailTemplate
from tests.support.accounts.mailbox import code_in, link_in, links_to, mails_to, token_in
from tests.support.oauth.relying_party import Person
from tests.support.oauth.world import NewWorld, World
from tests.support.services.identity_service import pass_time
from tests.support.tenants.message_templates import add_templates
from tests.support.visitors.visitor import NewVisitor, NewVisitorAt, VisitedPage, Visitor

PASSWORD = "correct horse 7"
NEW = "Quartz-lantern-58"


@pytest.fixture
def ada(world: World) -> Person:
    return world.person("ada@example.com", FirstName="Ada")


def request_reset(page: VisitedPage, name: str) -> VisitedPage:
    """Request a reset from the login page."""
    return page.follow("Forgot password?").press("Send reset link", identifier=name)


def mail_to(world: World, person: Person) -> dict[str, object]:
    return mails_to(world.services, world.tenant_id, person.email)[-1]


def reset_path(world: World, person: Person) -> str:
    parts = urlsplit(link_in(mail_to(world, person)))
    return f"{parts.path}?{parts.query}"


def test_reset_by_link_continues_to_the_application(world: World, visitor: Visitor, ada: Person) -> None:
    sent = request_reset(visitor.authorize(world.application("shop")), ada.email)
    assert sent.heading == "Check your email"
    page = visitor.open(reset_path(world, ada))
    assert page.heading == "Choose a new password"
    assert page.press("Save password", password=NEW).query["code"]


@pytest.mark.parametrize(
    ("html", "content", "has_code"),
    [('<a href="#Url#">Reset</a>', "a link", False), ("<p>#OTP#</p>", "a code", True)],
    ids=["link", "code"],
)
def test_page_names_what_the_own_template_sends_to_anyone(
    world: World, new_visitor: NewVisitor, ada: Person, html: str, content: str, has_code: bool
) -> None:
    add_templates(world, MailTemplate(type=MailKind.RESET, subject="Reset", html=html))
    for name in (ada.email, "absent@example.com"):
        page = request_reset(new_visitor().open("/login"), name)
        assert f"If {name} has an account, we’ve emailed it {content}" in page.text
        assert ('name="code"' in page.html) is has_code
        assert ("Opening the link on another device?" in page.text) is not has_code


def test_tenant_may_ask_for_the_new_password(new_world: NewWorld, new_visitor_at) -> None:  # type: ignore[no-untyped-def]  # a fixture's own type
    tenant = new_world(login_on_password_reset=False)
    visitor, ada = new_visitor_at(tenant), tenant.person("ada@example.com")
    request_reset(visitor.authorize(tenant.application("shop")), ada.email)
    again = visitor.open(reset_path(tenant, ada)).press("Save password", password=NEW)
    assert urlsplit(again.address).path == "/login"
    assert "Password changed" in again.text
    assert again.form("Sign in").fields["identifier"] == ada.email
    assert again.press("Sign in", password=NEW).query["code"]


def test_reset_by_code_continues_to_the_application(world: World, visitor: Visitor, ada: Person) -> None:
    sent = request_reset(visitor.authorize(world.application("shop")), ada.email)
    code = code_in(mail_to(world, ada))
    page = sent.press("Verify", code=f" {code[:3]}-{code[3:]} ")
    assert page.heading == "Choose a new password"
    assert page.press("Save password", password=NEW).query["code"]


def test_code_in_arabic_digits_is_accepted(world: World, visitor: Visitor, ada: Person) -> None:
    sent = request_reset(visitor.open("/login"), ada.email)
    arabic = code_in(mail_to(world, ada)).translate(str.maketrans("0123456789", "٠١٢٣٤٥٦٧٨٩"))
    assert sent.press("Verify", code=arabic).heading == "Choose a new password"


def test_reset_signs_in_if_the_tenant_enables_it(new_world: NewWorld, new_visitor_at, world: World) -> None:  # type: ignore[no-untyped-def]  # a fixture's own type
    tenant = new_world(login_on_password_reset=True)
    visitor, ada = new_visitor_at(tenant), tenant.person("ada@example.com")
    request_reset(visitor.authorize(tenant.application("shop")), ada.email)
    final = visitor.open(reset_path(tenant, ada)).press("Save password", password=NEW)
    assert final.query["code"]


def test_reset_does_not_bypass_required_second_factor(new_world: NewWorld, new_visitor_at) -> None:  # type: ignore[no-untyped-def]  # a fixture's own type
    tenant = new_world(login_on_password_reset=True, two_factor="required")
    visitor, ada = new_visitor_at(tenant), tenant.person("ada@example.com")
    request_reset(visitor.authorize(tenant.application("shop")), ada.email)
    final = visitor.open(reset_path(tenant, ada)).press("Save password", password=NEW)
    assert "code" not in final.query
    assert final.heading == "Protect your account"


def test_known_and_unknown_identifiers_get_the_same_pages(world: World, new_visitor: NewVisitor, ada: Person) -> None:
    known = request_reset(new_visitor().open("/login"), ada.email)
    unknown = request_reset(new_visitor().open("/login"), "bob@example.com")
    assert known.status == unknown.status == 200
    assert known.comparable_text(but_for=ada.email) == unknown.comparable_text(but_for="bob@example.com")
    wrong, wrong_unknown = known.press("Verify", code="000000"), unknown.press("Verify", code="000000")
    assert wrong.status == wrong_unknown.status == 403
    assert wrong.comparable_text(but_for=ada.email) == wrong_unknown.comparable_text(but_for="bob@example.com")
    assert mails_to(world.services, world.tenant_id, "bob@example.com") == []


def test_wrong_codes_do_not_reveal_the_account(world: World, new_visitor: NewVisitor, ada: Person) -> None:
    known = request_reset(new_visitor().open("/login"), ada.email)
    unknown = request_reset(new_visitor().open("/login"), "bob@example.com")
    for _ in range(8):
        known, unknown = known.press("Verify", code="000000"), unknown.press("Verify", code="000000")
        assert known.status == unknown.status
        assert known.comparable_text(but_for=ada.email) == unknown.comparable_text(but_for="bob@example.com")


def test_opening_the_link_does_not_use_it_up(
    world: World, visitor: Visitor, new_visitor: NewVisitor, ada: Person
) -> None:
    request_reset(visitor.open("/login"), ada.email)
    link = reset_path(world, ada)
    for _ in range(3):
        assert new_visitor().open(link).heading == "Choose a new password"
    assert new_visitor().send("HEAD", f"{visitor.home}{link}", None).status == 200
    page = new_visitor().open(link)
    assert page.answer
    assert page.answer.headers["Referrer-Policy"] == "no-referrer"
    assert page.press("Save password", password=NEW).status == 200


def test_used_link_offers_a_new_one(world: World, visitor: Visitor, new_visitor: NewVisitor, ada: Person) -> None:
    request_reset(visitor.open("/login"), ada.email)
    link = reset_path(world, ada)
    visitor.open(link).press("Save password", password=NEW)
    used = new_visitor().open(link)
    assert used.heading == "Link already used"
    before = len(mails_to(world.services, world.tenant_id, ada.email))
    assert used.press("Request new link").heading == "Check your email"
    assert len(mails_to(world.services, world.tenant_id, ada.email)) == before + 1


def test_newer_link_invalidates_the_older(world: World, visitor: Visitor, new_visitor: NewVisitor, ada: Person) -> None:
    request_reset(visitor.open("/login"), ada.email)
    older = reset_path(world, ada)
    request_reset(new_visitor().open("/login"), ada.email)
    assert visitor.open(older).heading == "Link expired"


def test_truncated_link_is_reported_incomplete(world: World, visitor: Visitor, ada: Person) -> None:
    request_reset(visitor.open("/login"), ada.email)
    token = token_in(mail_to(world, ada))
    assert visitor.open(f"/reset-password?vtoken={token[:-4]}").heading == "Link incomplete"


def test_link_of_another_tenant_is_unknown(
    world: World, new_world: NewWorld, new_visitor_at: NewVisitorAt, visitor: Visitor, ada: Person
) -> None:
    request_reset(visitor.open("/login"), ada.email)
    token = token_in(mail_to(world, ada))
    other_visitor = new_visitor_at(new_world())
    assert other_visitor.open(f"/reset-password?vtoken={token}").heading == "Link incomplete"


def test_legacy_mail_addresses_resolve(world: World, visitor: Visitor, ada: Person) -> None:
    request_reset(visitor.open("/login"), ada.email)
    token = token_in(mail_to(world, ada))
    assert visitor.open(f"/auth.aspx?vtype=reset&vtoken={token}").heading == "Choose a new password"
    assert visitor.open("/auth.aspx?action=forgotpassword").heading == "Forgot password?"


def test_legacy_return_url_gets_action_completed(new_world: NewWorld, new_visitor_at) -> None:  # type: ignore[no-untyped-def]  # a fixture's own type
    tenant = new_world(url_whitelist=("https://shop.example",))
    visitor, ada = new_visitor_at(tenant), tenant.person("ada@example.com")
    page = visitor.open("/auth.aspx?action=forgotpassword&return_url=https%3A%2F%2Fshop.example%2Fdone")
    final = page.press("Send reset link", identifier=ada.email)
    assert final.address == "https://shop.example/done?action_completed=forgotpassword"


def test_refused_password_keeps_the_link_valid(world: World, visitor: Visitor, ada: Person) -> None:
    request_reset(visitor.open("/login"), ada.email)
    page = visitor.open(reset_path(world, ada)).press("Save password", password="short")
    assert page.status == 422
    assert "Doesn’t meet the requirements yet." in page.text
    assert page.press("Save password", password=PASSWORD).status == 422
    assert page.press("Save password", password=NEW).address.endswith("/profile?changed=password")


def test_password_manager_sees_the_username(world: World, visitor: Visitor, ada: Person) -> None:
    request_reset(visitor.open("/login"), ada.email)
    page = visitor.open(reset_path(world, ada))
    assert page.form("Save password").fields["username"] == ada.email
    assert re.search(r'<input[^>]*autocomplete="username"[^>]*readonly', page.html)
    assert 'autocomplete="new-password"' in page.html


def test_resend_waits_for_the_cool_down(world: World, visitor: Visitor, ada: Person) -> None:
    sent = request_reset(visitor.open("/login"), ada.email)
    early = sent.press("Resend email")
    assert early.status == 429
    assert "we’ve emailed it a link and a code" in early.text
    assert len(mails_to(world.services, world.tenant_id, ada.email)) == 1
    pass_time(world.services, seconds=31)
    assert "Email resent" in sent.press("Resend email").text
    assert len(mails_to(world.services, world.tenant_id, ada.email)) == 2


def test_reset_ends_every_session(world: World, new_visitor: NewVisitor, ada: Person) -> None:
    other, here = new_visitor(), new_visitor()
    other.open("/profile").press("Sign in", identifier=ada.email, password=PASSWORD)
    request_reset(here.open("/login"), ada.email)
    here.open(reset_path(world, ada)).press("Save password", password=NEW)
    assert other.open("/profile").is_sign_in


def test_two_tabs_return_to_their_own_applications(world: World, visitor: Visitor, ada: Person) -> None:
    shop, forum = world.application("shop"), world.application("forum")
    request_reset(visitor.authorize(shop, state="of the shop"), ada.email)
    first = reset_path(world, ada)
    other = visitor.authorize(forum, state="of the forum")
    assert visitor.open(first).press("Save password", password=NEW).query["state"] == "of the shop"
    assert other.press("Sign in", identifier=ada.email, password=NEW).query["state"] == "of the forum"


@pytest.mark.parametrize("trigger", ["refresh", "code", "again"])
def test_waiting_tab_continues_after_other_tab_signed_in(
    world: World, visitor: Visitor, ada: Person, trigger: str
) -> None:
    shop, forum = world.application("shop"), world.application("forum")
    waiting = request_reset(visitor.authorize(shop, state="of the shop"), ada.email)
    other = request_reset(visitor.authorize(forum, state="of the forum"), ada.email)
    code = code_in(mail_to(world, ada))
    done = other.press("Verify", code=code).press("Save password", password=NEW)
    assert done.query["state"] == "of the forum"
    actions = {
        "refresh": lambda: visitor.open(waiting.address),
        "code": lambda: waiting.press("Verify", code=code),
        "again": lambda: waiting.press("Resend email"),
    }
    final = actions[trigger]()
    assert final.query["state"] == "of the shop"
    assert final.query["code"]


def test_expired_password_is_changed_during_sign_in(new_world: NewWorld, new_visitor_at) -> None:  # type: ignore[no-untyped-def]  # a fixture's own type
    tenant = new_world(password_policy={"expiry_days": 30})
    visitor, ada = new_visitor_at(tenant), tenant.person("ada@example.com")
    tenant.set_password_age(ada, days=31)
    page = visitor.authorize(tenant.application("shop")).press("Sign in", identifier=ada.email, password=PASSWORD)
    assert page.heading == "Your password has expired"
    assert visitor.open("/profile").is_sign_in
    assert page.press("Save password", password=PASSWORD).status == 422
    assert page.press("Save password", password=NEW).query["code"]


def test_changing_password_ends_other_sessions(world: World, new_visitor: NewVisitor, ada: Person) -> None:
    here, tenant = new_visitor(), new_visitor()
    for browser in (here, tenant):
        browser.open("/profile").press("Sign in", identifier=ada.email, password=PASSWORD)
    page = here.open("/.well-known/change-password")
    assert page.heading == "Change password"
    assert page.press("Save password", old_password="wrong", new_password=NEW).status == 401
    result = page.press("Save password", old_password=PASSWORD, new_password=NEW)
    assert "Password changed" in result.text
    assert tenant.open("/profile").is_sign_in
    assert here.open("/profile").profile_name == "Ada"


def test_security_alert_link_locks_the_account(world: World, new_visitor: NewVisitor, ada: Person) -> None:
    attacker, owner = new_visitor(), new_visitor()
    attacker.open("/profile").press("Sign in", identifier=ada.email, password=PASSWORD)
    attacker.open("/change-password").press("Save password", old_password=PASSWORD, new_password=NEW)
    mail = next(item for item in mails_to(world.services, world.tenant_id, ada.email) if links_to(item, "/not-me"))
    parts = urlsplit(link_in(mail))
    page = owner.open(f"{parts.path}?{parts.query}")
    assert page.heading == "Secure your account"
    assert attacker.open("/profile").profile_name == "Ada", "opening the page ends no session"
    assert page.press("Secure my account").heading == "Check your email"
    assert attacker.open("/profile").is_sign_in
    assert attacker.open("/login").press("Sign in", identifier=ada.email, password=NEW).status == 401
    assert owner.open(f"{parts.path}?{parts.query}").heading == "Account already secured"
    result = owner.open(reset_path(world, ada)).press("Save password", password="Amber-window-44")
    assert result.address.endswith("/profile?changed=password")


def test_throttled_mail_keeps_the_previous_link_valid(new_world: NewWorld, new_visitor_at) -> None:  # type: ignore[no-untyped-def]  # a fixture's own type
    tenant = new_world(limits={"forgot_per_minute_per_address": 0})
    ada = tenant.person("ada@example.com")
    for _ in range(6):
        assert request_reset(new_visitor_at(tenant).open("/login"), ada.email).heading == "Check your email"
    assert len(mails_to(tenant.services, tenant.tenant_id, ada.email)) < 6
    assert new_visitor_at(tenant).open(reset_path(tenant, ada)).heading == "Choose a new password"
