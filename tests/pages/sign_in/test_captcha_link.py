"""Without scripts, an emailed link solves the captcha of a locked sign-in and of a sign-up."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.support.accounts.mailbox import link_in, mails_to, path_of
from tests.support.oauth.relying_party import Person
from tests.support.oauth.world import NewWorld, World
from tests.support.visitors.captchas import solving
from tests.support.visitors.visitor import NewVisitorAt, VisitedPage, Visitor

ADA, NEW, PASSWORD = "ada@example.test", "neu@example.test", "Zebra-kettle-91"
LIMITS = {"sign_in_per_minute_per_address": 0, "forgot_per_minute_per_address": 0, "register_per_minute_per_address": 0}
FORM = ({"name": "email", "required": True}, {"name": "first_name"}, {"name": "password", "type": "password"})


@pytest.fixture
def world(new_world: NewWorld) -> World:
    return new_world(
        lockout={"type": "captcha", "maximum_failed_attempts": 1},
        registration_captcha=True,
        registration_form=FORM,
        captcha={"work_bits": 8},
        limits=LIMITS,
    )


@pytest.fixture
def ada(world: World) -> Person:
    return world.person(ADA)


@pytest.fixture
def visitor(world: World, new_visitor_at: NewVisitorAt) -> Visitor:
    return new_visitor_at(world)


def mails(world: World, to: str) -> list[Any]:
    return mails_to(world.services, world.tenant_id, to)


def locked(visitor: Visitor, name: str = ADA) -> VisitedPage:
    return visitor.open("/login").press("Sign in", identifier=name, password="wrong")


def link_to(world: World, email: str) -> str:
    return path_of(link_in(mails(world, email)[-1]))


def test_link_unlocks_a_sign_in_in_another_browser(
    world: World, ada: Person, visitor: Visitor, new_visitor_at: NewVisitorAt
) -> None:
    sent = locked(visitor).press("Sign in", password=ada.password)
    assert (sent.status, sent.heading) == (200, "Check your email")
    assert f"If {ADA} has an account, we’ve emailed it a link" in sent.text
    page = new_visitor_at(world).open(link_to(world, ADA))
    assert "Check passed. Enter your password again." in page.text
    assert page.form("Sign in").fields["identifier"] == ADA
    assert page.press("Sign in", password=ada.password).heading == "Profile"


def test_link_goes_on_to_the_application(world: World, ada: Person, visitor: Visitor) -> None:
    shop = world.application("shop")
    page = visitor.authorize(shop).press("Sign in", identifier=ADA, password="wrong")
    page.press("Sign in", password=ada.password)
    page = visitor.open(link_to(world, ADA))
    assert page.press("Sign in", password=ada.password).address.startswith(shop.redirect_uri)


def test_opening_the_link_spends_nothing_and_one_try_does(world: World, ada: Person, visitor: Visitor) -> None:
    locked(visitor).press("Sign in", password=ada.password)
    link = link_to(world, ADA)
    for _ in range(3):
        page = visitor.open(link)
    again = page.press("Sign in", password="wrong")
    assert (again.status, "Wrong email or password." in again.text) == (401, True)
    assert page.press("Sign in", password=ada.password).status == 403
    used = visitor.open(link)
    assert (used.status >= 400, used.heading) == (True, "Link already used")


@pytest.mark.both_databases
def test_one_of_many_tries_at_once_counts(world: World, ada: Person, new_visitor_at: NewVisitorAt) -> None:
    locked(new_visitor_at(world)).press("Sign in", password=ada.password)
    link = link_to(world, ADA)
    pages = [new_visitor_at(world).open(link) for _ in range(4)]
    with ThreadPoolExecutor(4) as pool:
        statuses = list(pool.map(lambda page: page.press("Sign in", password="wrong").status, pages))
    assert sorted(statuses) == [401, 403, 403, 403]


def test_link_expires(world: World, ada: Person, visitor: Visitor) -> None:
    locked(visitor).press("Sign in", password=ada.password)
    page = visitor.open(link_to(world, ADA))
    clock: Any = world.services.clock
    clock.advance(minutes=31)
    assert page.press("Sign in", password=ada.password).status == 403
    assert visitor.open(link_to(world, ADA)).heading == "Link expired"
    assert visitor.open("/h/unknown").heading == "Link incomplete"


def test_unknown_account_sees_the_same_and_gets_nothing(
    world: World, ada: Person, new_visitor_at: NewVisitorAt
) -> None:
    seen = []
    for name in (ADA, "absent@example.test"):
        page = locked(new_visitor_at(world), name).press("Sign in", password="wrong")
        cost = {part: page.cost[part] for part in ("hashes", "commits")}
        seen.append((page.status, page.comparable_text(name), cost))
    assert seen[0] == seen[1]
    assert len(mails(world, ADA)) == 1
    assert not mails(world, "absent@example.test")


def test_links_are_limited_by_address(new_world: NewWorld, new_visitor_at: NewVisitorAt) -> None:
    limits = {**LIMITS, "forgot_per_minute_per_address": 2}
    world = new_world(lockout={"type": "captcha", "maximum_failed_attempts": 1}, limits=limits)
    page = locked(new_visitor_at(world))
    statuses = [page.press("Sign in", password="wrong").status for _ in range(3)]
    assert statuses == [200, 200, 429]


def test_sign_up_keeps_what_was_typed_but_no_password(
    world: World, visitor: Visitor, new_visitor_at: NewVisitorAt
) -> None:
    sent = visitor.open("/register").press("Create account", email=NEW, first_name="Neo", password=PASSWORD)
    assert (sent.status, sent.heading) == (200, "Check your email")
    page = new_visitor_at(world).open(link_to(world, NEW))
    fields = page.form("Create account").fields
    assert (fields["email"], fields["first_name"], fields["password"]) == (NEW, "Neo", "")
    done = page.press("Create account", password=PASSWORD)
    assert done.heading == "Check your email"
    assert "code" in done.html


def test_sign_up_with_a_known_address_looks_the_same(world: World, ada: Person, new_visitor_at: NewVisitorAt) -> None:
    seen = []
    for email in ("first@example.test", ADA, NEW):  # the first one reads the tenant, too
        page = new_visitor_at(world).open("/register").press("Create account", email=email, password=PASSWORD)
        seen.append((page.status, page.comparable_text(email), page.cost["sql"]))
        assert len(mails(world, email)) == 1
    assert seen[1] == seen[2]


def test_challenge_of_one_use_is_refused_for_another(world: World, ada: Person, visitor: Visitor) -> None:
    unlock = locked(visitor)
    register = visitor.open("/register")
    stolen = {name: register.form("Create account").fields[name] for name in ("captcha_challenge", "captcha_asked")}
    sent = {**stolen, **solving(register, "Create account")}
    assert unlock.press("Sign in", password=ada.password, **sent).status == 403
    assert unlock.press("Sign in", password=ada.password, **solving(unlock)).heading == "Profile"


def test_work_of_zero_bits_cannot_be_claimed(world: World, ada: Person, visitor: Visitor) -> None:
    page = locked(visitor)
    seed = page.form("Sign in").fields["captcha_asked"].partition(".")[2]
    refused = page.press("Sign in", password=ada.password, captcha_asked=f"0.{seed}", captcha_work="00")
    assert refused.status == 403
