"""The page of second factors: list, add, remove, backup codes, trusted browsers."""

from __future__ import annotations

import re

import pytest

from app.identity.credentials.credential_store import credentials
from app.identity.platform.audit import audit
from app.identity.platform.store.unit_of_work import UnitOfWork
from tests.support.accounts.mailbox import code_in, link_in, links_to, mails_to, sent_messages
from tests.support.journeys.account_security import APP_ALONE, add_app, choose_app, mails, signed_in
from tests.support.journeys.second_factors import app_of, close_browser, code_now, codes_on, enrol_totp, sign_in
from tests.support.oauth.relying_party import Person
from tests.support.oauth.world import NewWorld, World
from tests.support.services.identity_service import pass_time
from tests.support.visitors.people import main_of
from tests.support.visitors.visitor import NewVisitorAt, Visitor


@pytest.fixture
def tenant(new_world: NewWorld) -> World:
    return new_world(two_factor="optional", **APP_ALONE)


@pytest.fixture
def browser(tenant: World, new_visitor_at: NewVisitorAt) -> Visitor:
    visitor: Visitor = new_visitor_at(tenant)
    return visitor


def test_owner_reads_own_address_in_full(new_world: NewWorld, new_visitor_at: NewVisitorAt) -> None:
    tenant = new_world(two_factor="optional", second_factors={"email": True, "passkey": False})
    page = signed_in(new_visitor_at(tenant), tenant.person("ada@example.com"), "/second-factors")
    choice = page.html.partition('value="email"')[2].partition("</button>")[0]
    assert "ada@example.com" in choice
    assert "*" not in choice


def test_added_factor_brings_backup_codes_and_a_mail(
    tenant: World, browser: Visitor, new_visitor_at: NewVisitorAt
) -> None:
    ada = tenant.person("ada@example.com")
    overview = signed_in(browser, ada, "/security")
    assert "Off" in overview.text
    app, codes_page = add_app(browser, tenant, ada)
    assert codes_page.heading == "Save your backup codes", "the first factor brings backup codes"
    assert len(codes_on(codes_page)) == 10
    listed = codes_page.press("I’ve saved them")
    assert "Two-step verification is on" in listed.text
    assert "10 left" in listed.text
    assert "Last used " in listed.text
    assert "Backup codes 10 left" in browser.open("/security").text
    assert [row for row in mails(tenant, ada) if row.startswith("A two-step verification method was added")] != []
    pass_time(tenant.services, seconds=30)
    assert sign_in(new_visitor_at(tenant), tenant, ada).press("Verify", code=code_now(tenant, app)).query["code"]


def test_wrong_first_code_enrols_nothing(tenant: World, browser: Visitor) -> None:
    ada = tenant.person("ada@example.com")
    page = choose_app(signed_in(browser, ada))
    wrong = page.press("Verify", code="000000")
    assert (wrong.status, wrong.title.startswith("Error: ")) == (403, True)
    assert app_of(wrong).secret == app_of(page).secret
    assert "Set up" in browser.open("/second-factors").text


def test_key_on_the_page_has_20_bytes(tenant: World, browser: Visitor) -> None:
    page = choose_app(signed_in(browser, tenant.person("ada@example.com")))
    assert page.heading == "Set up your authenticator app"
    assert len(app_of(page).secret) == 32
    places = [page.html.index(part) for part in ('class="qr"', 'class="key"', 'name="code"', "</main>")]
    assert places == sorted(places)


def test_first_factor_needs_the_password_in_stale_session(tenant: World, browser: Visitor) -> None:
    ada = tenant.person("ada@example.com")
    signed_in(browser, ada)
    pass_time(tenant.services, minutes=11)
    page = browser.open("/second-factors/add?kind=totp")
    assert "Your password" in page.text
    assert not re.search(r'class="key"|<code>', page.html), "no secret is shown before reauthentication"
    refused = page.press("Continue", password="wrong")
    assert (refused.status, "Wrong password." in refused.text) == (401, True)
    assert "Wrong password." not in refused.press("Continue", password=ada.password).text


@pytest.mark.parametrize("address", ["/second-factors/remove?kind=totp", "/second-factors/off", "/backup-codes"])
def test_changing_factors_needs_the_existing_factor(tenant: World, browser: Visitor, address: str) -> None:
    ada = tenant.person("ada@example.com")
    app, _ = add_app(browser, tenant, ada)
    pass_time(tenant.services, minutes=11)
    page = browser.open(address)
    assert page.heading == "Two-step verification"
    assert not re.search(r'class="key"|<code>', page.html), "no secret is shown before reauthentication"
    assert page.press("Verify", code="000000").status == 403
    after = browser.open(address).press("Verify", code=code_now(tenant, app))
    assert after.address == browser.home + address


def test_stale_session_reauthenticates_and_keeps_secret(tenant: World, browser: Visitor) -> None:
    ada = tenant.person("ada@example.com")
    page = choose_app(signed_in(browser, ada))
    app = app_of(page)
    pass_time(tenant.services, minutes=6)
    needs_sign_in = page.press("Verify", code=code_now(tenant, app))
    assert needs_sign_in.heading == "Confirm it’s you"
    again = needs_sign_in.press("Continue", password=ada.password)
    assert app_of(again).secret == app.secret
    assert again.press("Verify", code=code_now(tenant, app)).heading == "Save your backup codes"


def test_removing_the_only_factor_leaves_the_password(
    tenant: World, browser: Visitor, new_visitor_at: NewVisitorAt
) -> None:
    ada = tenant.person("ada@example.com")
    add_app(browser, tenant, ada)
    page = browser.open("/second-factors").follow("Remove")
    assert "turns off two-step verification" in page.text
    assert "Method removed" in page.press("Remove").text
    assert mails(tenant, ada)[-1].startswith("A two-step verification method was removed")
    assert sign_in(new_visitor_at(tenant), tenant, ada).query.get("code")


def test_turning_off_removes_every_factor_at_once(new_world: NewWorld, new_visitor_at: NewVisitorAt) -> None:
    tenant = new_world(two_factor="optional", second_factors={"email": True, "passkey": False})
    ada, browser = tenant.person("ada@example.com"), new_visitor_at(tenant)
    add_app(browser, tenant, ada)[1].press("I’ve saved them")
    page = browser.open("/second-factors").press("Email")
    page.press("Verify", code=code_in(mails_to(tenant.services, tenant.tenant_id, ada.email)[-1]))
    assert enrolled_kinds(tenant, ada) == ["backup_code"] * 10 + ["email", "totp"]
    before = mails(tenant, ada)
    confirmation = browser.open("/second-factors").follow("Turn off…")
    assert "Two-step verification is off" in confirmation.press("Turn off").text
    assert enrolled_kinds(tenant, ada) == []
    *earlier, notice = mails(tenant, ada)
    assert (earlier, notice.startswith("Two-step verification was turned off for your")) == (before, True)
    assert removals(tenant) == ["email", "totp"]
    confirmation.press("Turn off")  # a second click
    assert len(mails(tenant, ada)) == len(before) + 1
    assert sign_in(new_visitor_at(tenant), tenant, ada).query.get("code")


def test_required_verification_is_not_turned_off(tenant: World, browser: Visitor) -> None:
    """The requirement may begin between the page and its button."""
    ada = tenant.person("ada@example.com")
    add_app(browser, tenant, ada)[1].press("I’ve saved them")
    page = browser.open("/second-factors/off")
    tenant.change_settings(two_factor="required")
    refused = page.press("Turn off")
    assert (refused.status, "Your account requires two-step verification" in refused.text) == (403, True)
    assert "totp" in enrolled_kinds(tenant, ada)
    assert browser.open("/second-factors/off").address.endswith("/second-factors")
    assert "so it can’t be turned off" in browser.open("/second-factors").text


def test_removing_required_factor_enrols_at_next_sign_in(new_world: NewWorld, new_visitor_at: NewVisitorAt) -> None:
    tenant = new_world(two_factor="required", **APP_ALONE)
    ada, visitor = tenant.person("ada@example.com"), new_visitor_at(tenant)
    enrol_totp(visitor, tenant, ada)
    page = visitor.open("/second-factors/remove?kind=totp")
    assert "the next time you sign in" in page.text
    page.press("Remove")
    close_browser(visitor)
    assert sign_in(visitor, tenant, ada).heading == "Protect your account"


def test_forged_removal_changes_nothing(tenant: World, browser: Visitor) -> None:
    ada = tenant.person("ada@example.com")
    add_app(browser, tenant, ada)
    page = browser.open("/second-factors/remove?kind=totp")
    assert page.press("Remove", token="x").status == 403
    page.press("Remove", kind="nothing")
    page.press("Remove", kind="backup_code")
    assert "Backup codes 0 left" in browser.open("/security").text


def test_new_backup_codes_send_a_mail(tenant: World, browser: Visitor) -> None:
    ada = tenant.person("ada@example.com")
    _, codes_page = add_app(browser, tenant, ada)
    codes_page.press("I’ve saved them")
    before = len(mails(tenant, ada))
    new = browser.open("/backup-codes").press("Create backup codes")
    assert len(mails(tenant, ada)) == before
    new.press("I’ve saved them")
    assert len(mails(tenant, ada)) == before + 1


@pytest.mark.both_databases
def test_security_alert_removes_a_new_factor(tenant: World, browser: Visitor) -> None:
    """An attacker's factor must not lock the owner out."""
    ada = tenant.person("ada@example.com")
    add_app(browser, tenant, ada)
    report_compromise(tenant, browser, ada)
    assert enrolled_kinds(tenant, ada) == []


def test_security_alert_keeps_an_older_factor(tenant: World, browser: Visitor) -> None:
    """Access to the mailbox must not bypass the factor."""
    ada = tenant.person("ada@example.com")
    app, _ = add_app(browser, tenant, ada)
    pass_time(tenant.services, days=1)
    page = signed_in(browser, ada, "/change-password").press("Verify", code=code_now(tenant, app))
    page.press("Save password", old_password=ada.password, new_password="Zebra-kettle-92")
    report_compromise(tenant, browser, ada)
    assert enrolled_kinds(tenant, ada) == ["totp"]


@pytest.mark.both_databases
@pytest.mark.parametrize("first", ["the newest alert", "a reset"])
def test_alert_of_a_factor_outlives_a_reset(tenant: World, browser: Visitor, first: str) -> None:
    """A reset keeps the thief's factor, which locks the owner out: its own alert must end it then."""
    ada = tenant.person("ada@example.com")
    app, _ = add_app(browser, tenant, ada)
    alert = alerts(tenant)[-1]
    pass_time(tenant.services, days=1)
    page = signed_in(browser, ada, "/change-password").press("Verify", code=code_now(tenant, app))
    page.press("Save password", old_password=ada.password, new_password="Zebra-kettle-92")
    if first == "a reset":
        browser.open("/forgot-password").press("Send reset link", identifier=ada.email)
    else:
        report_compromise(tenant, browser, ada)
    link = link_in(sent_messages(tenant.services, tenant.tenant_id)[-1])
    reset = browser.open(link).press("Save password", password="Amber-window-44")
    assert reset.heading == "Two-step verification"
    assert enrolled_kinds(tenant, ada) == ["totp"]
    assert browser.open(alert).press("Secure my account").heading == "Check your email"
    assert enrolled_kinds(tenant, ada) == []


def alerts(tenant: World) -> list[str]:
    return [
        link for mail in sent_messages(tenant.services, tenant.tenant_id) for link in links_to(mail["text"], "/not-me")
    ]


def report_compromise(tenant: World, visitor: Visitor, ada: Person) -> None:
    """Follow the newest security alert and close the account."""
    page = visitor.open(alerts(tenant)[-1])
    assert page.press("Secure my account").status == 200


def removals(tenant: World) -> list[str]:
    """Return the kinds whose removal is in the audit log."""
    work = UnitOfWork(tenant.services.database, tenant.tenant_id)
    try:
        rows = work.all(
            audit.select().where(audit.c.tenant_id == tenant.tenant_id, audit.c.event == "second_factor.removed")
        )
        return sorted(row.facts["kind"] for row in rows)
    finally:
        work.rollback()


def enrolled_kinds(tenant: World, ada: Person) -> list[str]:
    work = UnitOfWork(tenant.services.database, tenant.tenant_id)
    try:
        rows = work.all(credentials.select().where(credentials.c.uid == ada.uid, credentials.c.is_enrolled.is_(True)))
        return sorted(row.kind for row in rows)
    finally:
        work.rollback()


def test_trusted_browser_is_listed_and_revoked(tenant: World, browser: Visitor, new_visitor_at: NewVisitorAt) -> None:
    ada = tenant.person("ada@example.com")
    app, _ = add_app(browser, tenant, ada)
    pass_time(tenant.services, seconds=30)
    visitor = new_visitor_at(tenant)
    sign_in(visitor, tenant, ada).press("Verify", code=code_now(tenant, app), trust="y")
    page = browser.open("/security")
    assert "Trusted devices" in page.text
    assert "Trusted devices updated" in page.press("Remove").text
    assert "Trusted devices" not in main_of(browser.open("/security"))
    close_browser(visitor)
    assert sign_in(visitor, tenant, ada).heading == "Two-step verification"
