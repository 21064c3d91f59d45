"""A form of an account page changes the account that the page showed, or nothing (decision 0244)."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import urljoin

import pytest
from sqlalchemy import select

from app.identity.directory.accounts.tables import accounts
from app.identity.platform.store.unit_of_work import UnitOfWork
from tests.support.oauth.relying_party import Person, RelyingParty
from tests.support.oauth.world import NewWorld, World
from tests.support.visitors.visitor import NewVisitorAt, VisitedPage, Visitor

PASSWORD = "correct horse 7"
CHANGED = "You switched accounts"
ADDRESSES = [
    "/profile/edit",
    "/emails",
    "/emails/add",
    "/change-password",
    "/security",
    "/security-questions",
    "/passkeys",
    "/pin",
    "/second-factors",
    "/identities",
    "/applications",
    "/consents",
    "/organizations",
    "/organizations/create",
    "/download-data",
    "/delete-account",
    "/logout",
    "/passkeys/add",
    "/second-factors/add",
    "/confirm",
]


@pytest.fixture
def world(new_world: NewWorld) -> World:
    return new_world(
        two_factor="optional",
        passkeys=True,
        passkey_settings={"progressive_enrollment": False},
        pin={"is_on": True},
        organizations={"enabled": True},
    )


@pytest.fixture
def visitor(world: World, new_visitor_at: NewVisitorAt) -> Visitor:
    return new_visitor_at(world)


@pytest.fixture
def shop(world: World) -> RelyingParty:
    return world.application("shop", client_name="Acme Shop")


@pytest.fixture
def ada(world: World) -> Person:
    return world.person("ada@example.com")


@pytest.fixture
def grace(world: World) -> Person:
    return world.person("grace@example.com")


@pytest.fixture
def both(visitor: Visitor, shop: RelyingParty, ada: Person, grace: Person) -> Visitor:
    """The browser is signed in to both accounts, Ada's is the current one."""
    visitor.authorize(shop).press("Sign in", identifier=grace.email, password=PASSWORD)
    login = visitor.authorize(shop, prompt="select_account").press("Use another account")
    login.press("Sign in", identifier=ada.email, password=PASSWORD)
    return visitor


def use(visitor: Visitor, shop: RelyingParty, person: Person) -> None:
    """Choose the account in another tab."""
    visitor.authorize(shop, prompt="select_account").press(person.email)


def first_name(world: World, person: Person) -> str:
    where = (accounts.c.tenant_id == world.tenant_id, accounts.c.uid == person.uid)
    with UnitOfWork(world.services.database, world.tenant_id).separate_transaction() as work:
        return str(work.run(select(accounts.c.profile).where(*where)).scalar_one().get("FirstName", ""))


def sentence(page: VisitedPage) -> str:
    return re.sub(r" ([.,])", r"\1", page.text)


def switch_back(page: VisitedPage, **typed: str) -> VisitedPage:
    """Press the button as a browser does: status 307 sends the same form to the new address."""
    form = page.form("Switch back")
    sent: dict[str, Any] = {**form.fields, **typed}
    answer = page.visitor.client.post("/switch-back", base_url=page.visitor.home, data=sent)
    assert answer.status_code == 307, answer.headers
    return page.visitor.send("POST", urljoin(page.visitor.home, answer.headers["Location"]), sent)


@pytest.mark.parametrize("direction", ["to the other", "and back"])
def test_form_of_another_account_changes_nothing(
    world: World, both: Visitor, shop: RelyingParty, ada: Person, grace: Person, direction: str
) -> None:
    first, second = (ada, grace) if direction == "to the other" else (grace, ada)
    use(both, shop, first)
    page = both.open("/profile/edit")
    use(both, shop, second)
    refused = page.press("Save", first_name="Augusta")
    assert (refused.status, refused.heading) == (409, CHANGED)
    assert f"You’re now signed in as {second.email}. This form was for {first.email}," in sentence(refused)
    assert "Augusta" not in (first_name(world, first), first_name(world, second))


def test_switching_back_sends_the_form_again(
    world: World, both: Visitor, shop: RelyingParty, ada: Person, grace: Person
) -> None:
    page = both.open("/profile/edit")
    use(both, shop, grace)
    saved = switch_back(page.press("Save", first_name="Augusta"))
    assert saved.status == 200
    assert "Augusta" in both.open("/profile/edit").html
    assert first_name(world, ada) == "Augusta"
    assert first_name(world, grace) != "Augusta"


def test_page_keeps_no_password(both: Visitor, shop: RelyingParty, grace: Person) -> None:
    page = both.open("/change-password")
    use(both, shop, grace)
    refused = page.press("Save password", old_password=PASSWORD, new_password="Another-horse 8")
    assert refused.heading == CHANGED
    assert PASSWORD not in refused.html
    assert "Another-horse" not in refused.html
    again = switch_back(refused)
    assert (again.status, again.heading) == (422, page.heading)
    assert both.open("/logout").press("Sign out").heading == "You’re signed out"


def test_current_account_may_stay(both: Visitor, shop: RelyingParty, grace: Person) -> None:
    page = both.open("/emails/add")
    use(both, shop, grace)
    refused = page.press("Send email", email="countess@example.org", password=PASSWORD)
    assert refused.heading == CHANGED
    fresh = refused.follow("Use this account")
    assert fresh.heading == page.heading
    assert "countess" not in fresh.html
    assert "countess@example.org" not in both.open("/emails").text


def test_account_that_is_signed_out_is_not_named(both: Visitor, shop: RelyingParty, ada: Person, grace: Person) -> None:
    page = both.open("/profile/edit")
    use(both, shop, grace)
    both.authorize(shop, prompt="select_account").press(f"Sign out of {ada.email}")
    refused = page.press("Save", first_name="Augusta")
    assert (refused.status, refused.heading) == (409, CHANGED)
    assert ada.email not in refused.text
    assert "This form was for another account" in refused.text
    assert refused.follow("Continue").heading == page.heading


def test_sign_out_of_another_account_signs_no_account_out(both: Visitor, shop: RelyingParty, grace: Person) -> None:
    page = both.open("/logout")
    use(both, shop, grace)
    assert page.press("Sign out").heading == CHANGED
    assert grace.email in both.open("/profile").text


def test_form_that_is_shown_again_stays_one_of_its_account(both: Visitor, shop: RelyingParty, grace: Person) -> None:
    page = both.open("/emails/add").press("Send email", email="")
    assert page.status == 422
    use(both, shop, grace)
    assert page.press("Send email", email="countess@example.org").heading == CHANGED


def test_forged_account_opens_nothing(both: Visitor, shop: RelyingParty, ada: Person, grace: Person) -> None:
    page = both.open("/profile/edit")
    for forged in (grace.uid, "x", "x" * 300, "<script>"):
        assert page.press("Save", first_name="Augusta", shown_uid=forged).heading == CHANGED
    refused = page.press("Save", first_name="Augusta", shown_uid=grace.uid)
    outsider = both.client.post(
        "/switch-back", base_url=both.home, data={**refused.form("Switch back").fields, "shown_uid": "f" * 32}
    )
    assert outsider.status_code in (302, 303)
    assert ada.email in both.open("/profile").text
    planted = {**refused.form("Switch back").fields, "switch_back_to": "https://evil.example/"}
    assert both.send("POST", f"{both.home}/switch-back", planted).heading == both.open("/profile").heading
    assert ada.email in both.open("/profile").text


def test_form_of_an_account_that_is_no_text_is_refused(both: Visitor) -> None:
    """The page for another account asks the identity service, which refuses the value."""
    refused = both.open("/profile/edit").press("Save", shown_uid="a\0b")
    assert (refused.status, refused.heading) == (400, "The app’s request is incomplete")
    assert refused.answer is not None
    assert refused.answer.headers["X-Frame-Options"] == "DENY"


def test_form_without_a_token_switches_nothing(both: Visitor, shop: RelyingParty, ada: Person, grace: Person) -> None:
    page = both.open("/profile/edit")
    use(both, shop, grace)
    refused = page.press("Save", first_name="Augusta")
    both.send("POST", f"{both.home}/switch-back", {**refused.form("Switch back").fields, "token": "x"})
    assert grace.email in both.open("/profile").text


@pytest.mark.parametrize("address", ["/emails", "/change-password", "/security", "/pin", "/applications", "/logout"])
def test_form_of_another_site_is_not_offered_again(both: Visitor, grace: Person, address: str) -> None:
    """The page's token would make it one of ours."""
    refused = both.send("POST", f"{both.home}{address}", {"shown_uid": grace.uid, "email": "eve@evil.example"})
    assert (refused.status, refused.heading) == (409, CHANGED)
    assert "Switch back" not in refused.html
    assert "eve@evil.example" not in refused.html
    assert grace.email not in refused.text


@pytest.mark.both_databases
def test_form_of_an_older_page_still_works(world: World, both: Visitor, ada: Person) -> None:
    """A page that an older version rendered names no account."""
    both.open("/profile/edit").press("Save", first_name="Augusta", shown_uid="")
    assert first_name(world, ada) == "Augusta"


def test_forms_of_account_pages_name_the_account(both: Visitor, ada: Person, subtests: pytest.Subtests) -> None:
    for address in ADDRESSES:
        with subtests.test(address):
            page = both.open(address)
            forms = re.findall(r'<form[^>]*method="post".*?</form>', page.html, re.DOTALL)
            for form in (item for item in forms if 'action="/locale"' not in item):
                assert f'name="shown_uid" value="{ada.uid}"' in form, form
