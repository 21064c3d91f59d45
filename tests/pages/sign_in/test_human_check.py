"""The page of a locked sign-in's captcha keeps the typed password encrypted, for the same sign-in in the same browser alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.support.accounts.mailbox import mails_to
from tests.support.oauth.relying_party import Person
from tests.support.oauth.world import NewWorld, World
from tests.support.visitors.captchas import WRONG_WORK, solving
from tests.support.visitors.visitor import NewVisitorAt, VisitedPage, Visitor

ADA, BEN = "ada@example.test", "ben@example.test"
CHECK = "Continue"
EXPIRED = "This check has expired."
NewLocking = Callable[..., World]


@pytest.fixture
def new_locking(new_world: NewWorld) -> NewLocking:
    """Return a function that makes a tenant with a captcha from the first wrong password on."""

    def make(**settings: Any) -> World:
        limits = {"sign_in_per_minute_per_address": 0, **settings.pop("limits", {})}
        lockout = {"type": "captcha", "maximum_failed_attempts": 1}
        return new_world(lockout=lockout, captcha={"work_bits": 8}, limits=limits, **settings)

    return make


@pytest.fixture
def world(new_locking: NewLocking) -> World:
    return new_locking()


@pytest.fixture
def ada(world: World) -> Person:
    return locked(world, ADA)


@pytest.fixture
def visitor(world: World, ada: Person, new_visitor_at: NewVisitorAt) -> Visitor:
    lock(new_visitor_at(world), ADA)
    return new_visitor_at(world)


def locked(world: World, email: str) -> Person:
    return world.person(email)


def lock(visitor: Visitor, email: str) -> None:
    visitor.open("/login").press("Sign in", identifier=email, password="wrong")


def at_check(page: VisitedPage, password: str, email: str = ADA) -> VisitedPage:
    """Type the password into the sign-in page of a locked account."""
    checked = page.press("Sign in", identifier=email, password=password, remember="y")
    assert (checked.status, checked.heading) == (403, "One more check")
    return checked


def encrypted_in(page: VisitedPage) -> str:
    return page.form(CHECK).fields["carried_password"]


def stolen_from(page: VisitedPage) -> dict[str, str]:
    """Return the encrypted password of a page with the challenge that it belongs to, solved."""
    fields = page.form(CHECK).fields
    stolen = {name: text for name, text in fields.items() if name == "carried_password" or name.startswith("captcha")}
    return {**stolen, **solving(page, CHECK)}


def is_asked_again(page: VisitedPage, email: str = ADA) -> bool:
    """Return whether the page asks for the password with the reason, and has what was typed beside it."""
    fields = page.form("Sign in").fields
    return (page.status, EXPIRED in page.text, fields["identifier"], fields["password"], page.cost["api"]) == (
        422, True, email, "", 0,
    )  # fmt: skip


@pytest.mark.both_databases
def test_password_is_not_asked_again(ada: Person, visitor: Visitor) -> None:
    page = at_check(visitor.open("/login"), ada.password)
    fields = page.form(CHECK).fields
    assert (fields["identifier"], fields["remember"], "password" in fields) == (ADA, "y", False)
    assert ADA in page.text
    signed_in = page.press(CHECK, **solving(page, CHECK))
    assert signed_in.heading == "Profile"


def test_check_goes_on_to_the_application(world: World, ada: Person, visitor: Visitor) -> None:
    shop = world.application("shop")
    page = at_check(visitor.authorize(shop), ada.password)
    assert page.press(CHECK, **solving(page, CHECK)).address.startswith(shop.redirect_uri)


def test_second_step_of_identifier_first_keeps_it_too(new_locking: NewLocking, new_visitor_at: NewVisitorAt) -> None:
    world = new_locking(identifier_first=True)
    ada, visitor = world.person(ADA), new_visitor_at(world)
    visitor.open("/login").at_password(ADA).press("Sign in", password="wrong")
    page = visitor.open("/login").at_password(ADA).press("Sign in", password=ada.password)
    assert page.heading == "One more check"
    assert page.press(CHECK, **solving(page, CHECK)).heading == "Profile"
    again = page.press(CHECK, carried_password="x", **solving(page, CHECK))
    assert EXPIRED in again.text


def test_reauthentication_keeps_it_too(world: World, ada: Person, new_visitor_at: NewVisitorAt) -> None:
    shop, visitor = world.application("shop"), new_visitor_at(world)
    visitor.open("/login").sign_in(ADA, ada.password)
    lock(new_visitor_at(world), ADA)
    page = visitor.authorize(shop, prompt="login").press("Continue", password=ada.password)
    assert (page.heading, ADA in page.text) == ("One more check", True)
    assert page.press(CHECK, **solving(page, CHECK)).address.startswith(shop.redirect_uri)


def test_wrong_password_counts_after_the_check(
    new_locking: NewLocking, new_visitor_at: NewVisitorAt, subtests: pytest.Subtests
) -> None:
    world = new_locking(limits={"captcha_tries_per_hour_per_account": 2})
    ada = world.person(ADA)
    lock(new_visitor_at(world), ADA)
    visitor = new_visitor_at(world)
    for number in range(2):
        with subtests.test(str(number)):
            page = at_check(visitor.open("/login"), "wrong again")
            refused = page.press(CHECK, **solving(page, CHECK))
            assert (refused.status, "Wrong email or password." in refused.text) == (401, True)
            assert refused.form("Sign in").fields["password"] == ""
    page = at_check(visitor.open("/login"), ada.password)
    assert page.press(CHECK, **solving(page, CHECK)).status == 429


def test_check_before_the_work_is_done_gets_another(ada: Person, visitor: Visitor) -> None:
    page = at_check(visitor.open("/login"), ada.password)
    assert "data-goes-on" in page.html
    page = page.press(CHECK, **WRONG_WORK)
    assert "We couldn’t verify that you’re human. Try again." in page.text
    assert "data-goes-on" not in page.html, "after a refusal the visitor sends the form, so that no script repeats it"
    assert page.press(CHECK, **solving(page, CHECK)).heading == "Profile"


def test_each_try_takes_a_challenge(ada: Person, visitor: Visitor) -> None:
    page = at_check(visitor.open("/login"), "wrong again")
    sent = solving(page, CHECK)
    assert [page.press(CHECK, **sent).status for _ in range(2)] == [401, 403]


# An attacker who has the encrypted password.


def test_expired_password_is_asked_again(world: World, ada: Person, visitor: Visitor) -> None:
    page = at_check(visitor.open("/login"), ada.password)
    clock: Any = world.services.clock
    clock.advance(minutes=9)
    page = page.press(CHECK, **WRONG_WORK)  # the page with the next challenge does not prolong it
    clock.advance(minutes=2)
    again = page.press(CHECK, **solving(page, CHECK))
    assert is_asked_again(again)
    assert again.press("Sign in", password=ada.password, **solving(page, CHECK)).heading == "Profile"


@pytest.mark.parametrize("change", ["", "x", "A" * 40_000, "é", "\x00"])
def test_tampered_password_is_asked_again(ada: Person, visitor: Visitor, change: str) -> None:
    page = at_check(visitor.open("/login"), ada.password)
    encrypted = encrypted_in(page)
    middle = len(encrypted) // 2
    changed = change or f"{encrypted[:middle]}{'A' if encrypted[middle] != 'A' else 'B'}{encrypted[middle + 1 :]}"
    assert is_asked_again(page.press(CHECK, carried_password=changed, **solving(page, CHECK)))


def test_password_of_another_browser_is_refused(
    world: World, ada: Person, visitor: Visitor, new_visitor_at: NewVisitorAt
) -> None:
    stolen = at_check(visitor.open("/login"), ada.password)
    page = at_check(new_visitor_at(world).open("/login"), "unknown")
    assert is_asked_again(page.press(CHECK, **stolen_from(stolen)))


def test_password_of_another_tenant_is_refused(
    new_locking: NewLocking, ada: Person, visitor: Visitor, new_visitor_at: NewVisitorAt
) -> None:
    stolen = at_check(visitor.open("/login"), ada.password)
    other = new_locking()
    other.person(ADA)
    there = new_visitor_at(other)
    lock(there, ADA)
    host = there.home.partition("://")[2].partition(":")[0]
    there.client.set_cookie("gatehouse-browser", visitor.cookie("browser").value, domain=host)
    page = at_check(there.open("/login"), "unknown")
    assert is_asked_again(page.press(CHECK, **stolen_from(stolen)))


def test_password_of_another_interaction_is_refused(world: World, ada: Person, visitor: Visitor) -> None:
    shop = world.application("shop")
    first, second = (at_check(visitor.authorize(shop), ada.password) for _ in range(2))
    assert is_asked_again(second.press(CHECK, **stolen_from(first)))


def test_password_of_another_identifier_is_refused(
    world: World, ada: Person, visitor: Visitor, new_visitor_at: NewVisitorAt
) -> None:
    ben = world.person(BEN)
    lock(new_visitor_at(world), BEN)
    page = at_check(visitor.open("/login"), ada.password)
    assert is_asked_again(page.press(CHECK, identifier=BEN, **solving(page, CHECK)), BEN)
    assert ben.password == ada.password, "only the binding refuses it"


def test_password_of_another_challenge_is_refused(ada: Person, visitor: Visitor) -> None:
    first, second = (at_check(visitor.open("/login"), ada.password) for _ in range(2))
    assert is_asked_again(second.press(CHECK, carried_password=encrypted_in(first), **solving(second, CHECK)))


def test_form_of_another_site_opens_no_password(ada: Person, visitor: Visitor) -> None:
    page = at_check(visitor.open("/login"), ada.password)
    refused = page.press(CHECK, token="forged", **solving(page, CHECK))
    assert (refused.status, refused.form("Sign in").fields["password"]) == (403, "")


# Where the password must not appear.


def test_page_is_not_stored_and_has_no_plain_password(
    ada: Person, visitor: Visitor, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    page = at_check(visitor.open("/login"), ada.password)
    encrypted, done = encrypted_in(page), page.press(CHECK, **solving(page, CHECK))
    assert page.answer is not None
    assert page.answer.headers["Cache-Control"] == "no-store"
    assert page.answer.headers["Referrer-Policy"] == "no-referrer"
    assert ada.password not in page.html
    assert all(secret not in done.address + caplog.text for secret in (encrypted, ada.password))


def test_length_of_the_password_does_not_show(ada: Person, visitor: Visitor) -> None:
    lengths = {len(encrypted_in(at_check(visitor.open("/login"), text))) for text in ("a", "ä" * 20, "x" * 63)}
    assert len(lengths) == 1


# Without scripts.


def test_without_scripts_a_link_is_mailed(world: World, ada: Person, visitor: Visitor) -> None:
    page = at_check(visitor.open("/login"), ada.password)
    sent = page.press("Email me a link")
    assert (sent.status, sent.heading) == (200, "Check your email")
    assert len(mails_to(world.services, world.tenant_id, ADA)) == 1


def test_unknown_account_gets_the_same_check(ada: Person, visitor: Visitor, new_visitor_at: NewVisitorAt) -> None:
    seen = []
    lock(visitor, "absent@example.test")
    for name in (ADA, "absent@example.test"):
        page = at_check(visitor.open("/login"), "unknown", name)
        seen.append((page.comparable_text(name), page.cost["hashes"], page.cost["commits"], len(encrypted_in(page))))
    assert seen[0] == seen[1]
