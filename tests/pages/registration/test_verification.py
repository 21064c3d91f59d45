"""Email verification pages: "check your mail" and the mailed link."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

import pytest
from sqlalchemy import select

from app.contract.messages.models import MailKind, MailTemplate
from app.identity.platform.audit import audit
from app.identity.platform.store.unit_of_work import UnitOfWork
from tests.support.accounts.mailbox import code_in, link_in, older_form, path_of, token_of
from tests.support.journeys.verification import (
    ADA,
    PASSWORD,
    PendingVerification,
    change,
    is_verified,
    unverified,
    verification_mails,
    wait,
)
from tests.support.oauth.world import NewWorld, World
from tests.support.tenants.message_templates import add_templates
from tests.support.visitors.visitor import NewVisitor, NewVisitorAt, Visitor


def link_views(world: World) -> list[str]:
    """Return who opened mailed links, in order, from the audit log."""
    work = UnitOfWork(world.services.database, world.tenant_id)
    try:
        of_links = (audit.c.tenant_id == world.tenant_id, audit.c.event == "verification.link_looked_at")
        return [row.facts["by"] for row in work.all(select(audit.c.facts).where(*of_links).order_by(audit.c.entry_id))]
    finally:
        work.rollback()


@pytest.fixture
def pending(world: World, visitor: Visitor) -> PendingVerification:
    return PendingVerification(world, visitor)


def test_unverified_address_is_asked_to_check_mail(pending: PendingVerification) -> None:
    assert pending.page.heading == "Check your email"
    assert f"Verify {ADA} with" in pending.page.text
    assert urlsplit(pending.page.address).path == "/verify"
    assert len(verification_mails(pending.world)) == 1


@pytest.mark.parametrize(
    ("html", "sentence", "has_code", "has_number"),
    [
        ('<a href="#Url#">Verify</a>', "with the link we sent you", False, True),
        ("<p>#OTP#</p>", "with the code we sent you", True, False),
        ('<a href="#Url#">Verify</a> <p>#OTP#</p>', "with the link or code we sent you", True, True),
    ],
    ids=["link", "code", "both"],
)
def test_page_names_what_the_own_template_sends(
    world: World, visitor: Visitor, html: str, sentence: str, has_code: bool, has_number: bool
) -> None:
    add_templates(world, MailTemplate(type=MailKind.VERIFICATION, subject="Verify", html=html))
    pending = PendingVerification(world, visitor)
    wrong = pending.page.press("Verify", code="000000") if has_code else pending.page.press("Continue")
    for page in (pending.page, wrong):
        assert f"Verify {ADA} {sentence}." in page.text
        assert ('name="code"' in page.html) is has_code
        assert ("Opening the link on another device?" in page.text) is has_number
    assert has_code or "or enter the code" not in wrong.text


def test_link_continues_to_the_application(pending: PendingVerification) -> None:
    link_page = pending.visitor.open(pending.link)
    assert link_page.heading == "Verify your email"
    assert ADA in link_page.text
    assert not is_verified(pending.world, pending.ada)
    assert pending.is_at_application(link_page.press("Verify"))
    assert is_verified(pending.world, pending.ada)


def test_code_continues_to_the_application(pending: PendingVerification) -> None:
    code = code_in(verification_mails(pending.world)[-1])
    assert pending.is_at_application(pending.page.press("Verify", code=f"{code[:3]} {code[3:]}"))


def test_legacy_link_address_resolves(pending: PendingVerification) -> None:
    link = older_form(pending.link).replace("/verify?", "/auth.aspx?vtype=emailverification&")
    link_page = pending.visitor.open(link)
    assert link_page.heading == "Verify your email"
    assert pending.is_at_application(link_page.press("Verify"))


@pytest.mark.both_databases
def test_scanners_do_not_use_up_links_and_are_audited(pending: PendingVerification, new_visitor: NewVisitor) -> None:
    scanner = new_visitor()
    assert scanner.send("HEAD", pending.link, None).status == 200
    assert scanner.send("GET", pending.link, None, **{"User-Agent": "Barracuda Sentinel (EE)"}).status == 200
    assert scanner.send("GET", pending.link, None, **{"User-Agent": ""}).status == 200
    assert scanner.send("GET", pending.link, None, **{"Sec-Purpose": "prefetch"}).status == 200
    assert not is_verified(pending.world, pending.ada)
    assert pending.visitor.open(pending.link).heading == "Verify your email"
    assert link_views(pending.world) == ["machine"] * 4 + ["browser"]


def test_click_in_another_browser_alone_signs_none_in(pending: PendingVerification, new_visitor: NewVisitor) -> None:
    confirmed = new_visitor().open(pending.link).press("Verify")
    assert confirmed.heading == "Email verified"
    assert token_of(pending.link) not in confirmed.address
    assert not confirmed.visitor.cookies("session")
    first = pending.page.press("Continue")
    assert (first.heading, first.visitor.cookies("session")) == ("Email verified", [])
    signing_in = first.follow("Continue to Acme Shop")
    assert pending.is_at_application(signing_in.press("Sign in", identifier=ADA, password=PASSWORD))


def test_other_browser_gets_link_to_the_application(pending: PendingVerification, new_visitor: NewVisitor) -> None:
    """The interaction belongs to the first browser, so only the application's home can be offered."""
    confirmed = new_visitor().open(pending.link).press("Verify")
    assert "Acme Shop" in confirmed.text
    home = re.findall(r'href="([^"]+)"[^>]*>Continue to Acme Shop', confirmed.html)
    assert len(home) == 1
    assert pending.shop.redirect_uri.startswith(home[0])


def test_used_link_is_reported_and_offers_to_continue(pending: PendingVerification, new_visitor: NewVisitor) -> None:
    link = pending.link
    new_visitor().open(link).press("Verify")
    again = new_visitor().open(link)
    assert "It’s already verified" in again.text
    assert again.follow("Go to sign in").is_sign_in
    own_page = pending.visitor.open(link)
    assert "It’s already verified" in own_page.text
    assert pending.is_at_application(own_page.press("Continue to Acme Shop"))


def test_double_submit_is_harmless(pending: PendingVerification) -> None:
    link_page = pending.visitor.open(pending.link)
    assert pending.is_at_application(link_page.press("Verify"))
    after = link_page.press("Verify")
    assert after.status == 200
    assert pending.visitor.open(pending.page.address).status in (200, 410)


def test_expired_link_is_renewed(pending: PendingVerification, new_visitor: NewVisitor) -> None:
    wait(pending.world, minutes=4321)
    visitor = new_visitor()
    expired = visitor.open(pending.link)
    assert expired.heading == "Link expired"
    waiting = expired.press("Request new link")
    assert waiting.heading == "Check your email"
    assert len(verification_mails(pending.world)) == 2
    assert visitor.open(pending.link).press("Verify").heading == "Email verified"


def test_newer_mail_invalidates_the_older_link(pending: PendingVerification) -> None:
    older = pending.link
    wait(pending.world, seconds=31)
    sent = pending.page.press("Resend email")
    assert "Email resent" in sent.text
    assert pending.visitor.open(older).heading == "Link expired"
    assert pending.is_at_application(pending.visitor.open(pending.link).press("Verify"))


@pytest.mark.parametrize("token", ["x", "", "%00", "a" * 2000, "%F0%9F%9A%AA", "<script>"])
def test_malformed_token_is_reported_incomplete(visitor: Visitor, token: str) -> None:
    seen = visitor.open(f"/verify?vtoken={token}&x=1")
    assert seen.is_sign_in or seen.heading in ("Link incomplete", "The app’s request is incomplete")


def test_link_of_another_tenant_is_unknown(
    pending: PendingVerification, new_world: NewWorld, new_visitor_at: NewVisitorAt
) -> None:
    other = new_visitor_at(new_world())
    for link in (path_of(pending.link), older_form(pending.link)):
        assert other.open(link).heading == "Link incomplete"


def test_link_of_deactivated_account_is_refused(pending: PendingVerification) -> None:
    link_page = pending.visitor.open(pending.link)
    change(pending.world, pending.ada, is_active=False)
    assert link_page.press("Verify").heading == "Link expired"
    assert not is_verified(pending.world, pending.ada)


def test_resend_waits_for_the_cool_down(pending: PendingVerification) -> None:
    early = pending.page.press("Resend email")
    assert early.status == 429
    assert early.answer is not None
    assert 0 < int(early.answer.headers["Retry-After"]) <= 30
    assert "Email sent" in early.text
    assert ADA in early.text
    assert len(verification_mails(pending.world)) == 1
    wait(pending.world, seconds=31)
    assert early.press("Resend email").status == 200
    assert len(verification_mails(pending.world)) == 2


def test_immediate_second_sign_in_sends_no_mail(pending: PendingVerification) -> None:
    again = pending.page.follow("Change").press("Sign in", identifier=ADA, password=PASSWORD)
    assert again.heading == "Check your email"
    assert len(verification_mails(pending.world)) == 1


def test_continue_before_verification_is_refused(pending: PendingVerification) -> None:
    early = pending.page.press("Continue")
    assert early.status == 403
    assert "Link not opened yet" in early.text
    assert early.form("Verify").fields["code"] == ""


@pytest.mark.both_databases
def test_wrong_and_locked_codes_look_the_same(pending: PendingVerification) -> None:
    wrong = f"{(int(code_in(verification_mails(pending.world)[-1])) + 1) % 1_000_000:06d}"
    wait(pending.world, seconds=31)  # the cool-down shows no seconds any more
    pages = [pending.page.press("Verify", code=wrong) for _ in range(8)]
    assert {seen.status for seen in pages} == {403}
    assert len({seen.text for seen in pages}) == 1
    assert "Wrong or expired code" in pages[0].text
    assert not is_verified(pending.world, pending.ada)


def test_empty_code_is_named(pending: PendingVerification) -> None:
    empty = pending.page.press("Verify")
    assert empty.status == 422
    assert 'id="code-problem"' in empty.html
    assert ADA in empty.text


def test_foreign_form_token_is_refused(pending: PendingVerification) -> None:
    assert "We couldn’t verify your request" in pending.page.press("Verify", code="123456", token="x").text
    link_page = pending.visitor.open(pending.link)
    assert "We couldn’t verify your request" in link_page.press("Verify", token="x").text
    assert not is_verified(pending.world, pending.ada)


def test_waiting_page_lasts_for_hours(pending: PendingVerification) -> None:
    for minutes in (50, 15, 6 * 60):
        wait(pending.world, minutes=minutes)
        assert pending.visitor.open(pending.page.address).heading == "Check your email"
    confirmed = pending.visitor.open(pending.link).press("Verify")
    assert confirmed.heading == "Email verified"


@pytest.mark.both_databases
def test_changed_password_must_be_typed_again(pending: PendingVerification) -> None:
    change(pending.world, pending.ada, password_hash=None)
    confirmed = pending.visitor.open(pending.link).press("Verify")
    assert confirmed.heading == "Email verified"
    assert not confirmed.visitor.cookies("session")
    assert confirmed.follow("Continue to Acme Shop").is_sign_in


def test_verification_without_application_ends_at_profile(world: World, visitor: Visitor) -> None:
    unverified(world)
    page = visitor.open("/login").press("Sign in", identifier=ADA, password=PASSWORD)
    assert page.heading == "Check your email"
    final = visitor.open(link_in(verification_mails(world)[-1])).press("Verify")
    assert urlsplit(final.address).path == "/profile"


def test_verification_signs_in_if_tenant_enables_it(new_world: NewWorld, new_visitor_at: NewVisitorAt) -> None:
    world = new_world(login_on_email_verification=True)
    pending, other = PendingVerification(world, new_visitor_at(world)), new_visitor_at(world)
    final = other.open(pending.link).press("Verify")
    assert urlsplit(final.address).path == "/profile"
    assert final.visitor.cookies("session")


def test_verification_ends_sessions_if_tenant_enables_it(new_world: NewWorld, new_visitor_at: NewVisitorAt) -> None:
    world = new_world(logout_on_email_verification=True)
    visitor, ada = new_visitor_at(world), world.person(ADA)
    visitor.open("/login").press("Sign in", identifier=ADA, password=PASSWORD)
    assert urlsplit(visitor.open("/profile").address).path == "/profile"
    change(world, ada, email_verified=False)
    second = new_visitor_at(world)
    second.open("/login").press("Sign in", identifier=ADA, password=PASSWORD)
    second.open(link_in(verification_mails(world)[-1])).press("Verify")
    assert visitor.open("/profile").is_sign_in
    assert urlsplit(second.open("/profile").address).path == "/profile"


def test_two_tabs_return_to_their_own_applications(world: World, visitor: Visitor) -> None:
    first, second = PendingVerification(world, visitor), world.application("games", client_name="Games")
    other = visitor.authorize(second).press("Sign in", identifier=ADA, password=PASSWORD)
    assert other.heading == "Check your email"
    link = link_in(verification_mails(world)[-1])
    final = visitor.open(link).press("Verify")
    assert final.address.startswith(second.redirect_uri)
    assert first.is_at_application(visitor.open(first.page.address))


def test_each_page_makes_one_api_call(pending: PendingVerification) -> None:
    assert pending.visitor.open(pending.page.address).cost["api"] == 1
    link_page = pending.visitor.open(pending.link)
    assert link_page.cost["api"] == 1
    assert pending.page.press("Verify", code="000000").cost["api"] == 1
    assert pending.visitor.open("/verify?confirmed=now").cost["api"] == 0


def test_link_page_is_not_stored_and_sends_no_referrer(pending: PendingVerification) -> None:
    link_page = pending.visitor.open(pending.link)
    assert link_page.answer is not None
    assert link_page.answer.headers["Cache-Control"] == "no-store"
    assert link_page.answer.headers["Referrer-Policy"] == "no-referrer"


def test_page_and_digits_follow_the_visitors_language(world: World, visitor: Visitor) -> None:
    unverified(world)
    visitor.language = "ar"
    page = visitor.open("/login").press("تسجيل الدخول", identifier=ADA, password=PASSWORD)
    assert (page.language, page.heading) == ("ar", "تفقّد بريدك الإلكتروني")
    assert 'dir="rtl"' in page.html
    code = "".join(chr(0x660 + int(digit)) for digit in code_in(verification_mails(world)[-1]))
    assert urlsplit(page.press("تأكيد", code=code).address).path == "/profile"
