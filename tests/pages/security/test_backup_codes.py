"""Backup codes: saved before the sign-in continues, valid only then, downloaded without scripts, warned about when few are left."""

from __future__ import annotations

import re

import pytest

from app.identity.credentials.second_factors.authenticators import backup_code
from tests.support.journeys.second_factors import code_now, codes_on, enrol_totp, sign_in
from tests.support.oauth.relying_party import Person
from tests.support.oauth.world import NewWorld, World
from tests.support.services.identity_service import pass_time
from tests.support.visitors.visitor import NewVisitorAt, VisitedPage, Visitor, is_empty_with_focus

APP = {"second_factors": {"email": False, "passkey": False}}


@pytest.fixture
def tenant(new_world: NewWorld) -> World:
    return new_world(two_factor="required", **APP)


@pytest.fixture
def ada(tenant: World) -> Person:
    return tenant.person("ada@example.com")


@pytest.fixture
def browser(tenant: World, new_visitor_at: NewVisitorAt) -> Visitor:
    return new_visitor_at(tenant)


def interaction_of(page: VisitedPage) -> str:
    return page.form("I’ve saved them").fields["attempt"]


def by_code(visitor: Visitor, tenant: World, ada: Person, code: str) -> VisitedPage:
    """Sign in with a backup code."""
    choices = sign_in(visitor, tenant, ada).follow("Try another way")
    return choices.press("Backup code").press("Verify", backup_code=code)


def test_sign_in_waits_until_codes_are_saved(tenant: World, browser: Visitor, ada: Person) -> None:
    _, page = enrol_totp(browser, tenant, ada)
    assert page.heading == "Save your backup codes"
    attempt, fields = interaction_of(page), page.form("I’ve saved them").fields
    assert "Skip for now" not in page.html
    for address in (f"/login?attempt={attempt}", f"/consent?attempt={attempt}", f"/passkeys/offer?attempt={attempt}"):
        assert browser.open(address).heading in ("Backup codes", "Sign in faster next time"), address
    skipped = browser.send("POST", f"{browser.home}/backup-codes", {**fields, "sheet": "", "do": "skip"})
    assert skipped.heading == "Backup codes", "a forged skip leads back"
    allowed = browser.send("POST", f"{browser.home}/consent", {**fields, "decision": "allow"})
    assert allowed.heading == "Backup codes", "a forged consent leads back"
    offered = browser.send("POST", f"{browser.home}/passkeys/offer", {**fields, "do": "skip"})
    assert offered.heading == "Backup codes", "a forged answer to another page leads back"
    assert page.press("I’ve saved them").query.get("code") is not None


def test_tenant_may_let_people_skip(tenant: World, browser: Visitor, ada: Person) -> None:
    tenant.change_settings(second_factors={**APP["second_factors"], "skip_backup_codes": True})
    _, page = enrol_totp(browser, tenant, ada)
    assert page.press("Skip for now").query["code"]
    assert "Backup codes 0 left" in browser.open("/security").text


def test_codes_work_only_after_they_are_saved(
    tenant: World, browser: Visitor, ada: Person, new_visitor_at: NewVisitorAt
) -> None:
    _, page = enrol_totp(browser, tenant, ada)
    first = codes_on(page)
    page.press("I’ve saved them")
    unsaved = browser.open("/backup-codes").press("Create backup codes")
    second = codes_on(unsaved)
    refused = by_code(new_visitor_at(tenant), tenant, ada, second[0])
    assert (refused.status, "Wrong or used code." in refused.text) == (403, True)
    assert is_empty_with_focus(refused, "backup_code")
    assert by_code(new_visitor_at(tenant), tenant, ada, first[0]).query["code"], "the old ones work meanwhile"
    assert "Two-step verification is on" in unsaved.press("I’ve saved them").text
    assert by_code(new_visitor_at(tenant), tenant, ada, first[1]).status == 403
    assert by_code(new_visitor_at(tenant), tenant, ada, second[0]).query["code"]


def test_replaced_codes_cannot_be_saved(tenant: World, browser: Visitor, ada: Person) -> None:
    _, page = enrol_totp(browser, tenant, ada)
    page.press("I’ve saved them")
    older = browser.open("/backup-codes").press("Create backup codes")
    newer = browser.open("/backup-codes").press("Create backup codes")
    assert "Those codes were replaced" in older.press("I’ve saved them").text
    assert "Two-step verification is on" in newer.press("I’ve saved them").text
    assert "Those codes were replaced" in newer.press("I’ve saved them").text, "a second save changes nothing"
    assert "10 left" in browser.open("/second-factors").text


def test_download_is_a_text_file_of_these_codes(tenant: World, browser: Visitor, ada: Person) -> None:
    _, page = enrol_totp(browser, tenant, ada)
    file = page.press("Download")
    assert file.answer is not None
    headers = file.answer.headers
    assert headers["Content-Type"] == "text/plain; charset=utf-8"
    assert re.fullmatch(r'attachment; filename="[a-z0-9-]+-backup-codes\.txt"', headers["Content-Disposition"])
    assert "no-store" in headers["Cache-Control"]
    assert re.findall(r"^ ?\d+  (\S+)\r$", file.html, re.MULTILINE) == codes_on(page)
    assert ada.email in file.html
    assert page.press("I’ve saved them").query["code"], "the page is still usable"


@pytest.mark.parametrize("sheet", ["", "x", "AAAA" * 200])
def test_forged_sheet_is_no_file(tenant: World, browser: Visitor, ada: Person, sheet: str) -> None:
    _, page = enrol_totp(browser, tenant, ada)
    assert page.press("Download", sheet=sheet).heading == "Backup codes"
    assert page.press("I’ve saved them", sheet=sheet).heading == "Backup codes"
    assert page.press("Download", token="x").status == 403


def test_sheet_of_another_tenant_is_refused(
    tenant: World, browser: Visitor, ada: Person, new_world: NewWorld, new_visitor_at: NewVisitorAt
) -> None:
    _, page = enrol_totp(browser, tenant, ada)
    other = new_world(two_factor="required", **APP)
    _, theirs = enrol_totp(new_visitor_at(other), other, other.person("eve@example.com"))
    assert page.press("I’ve saved them", sheet=theirs.form("I’ve saved them").fields["sheet"]).heading == "Backup codes"


def test_batch_of_another_account_is_refused(
    tenant: World, browser: Visitor, ada: Person, new_visitor_at: NewVisitorAt
) -> None:
    _, page = enrol_totp(browser, tenant, ada)
    _, theirs = enrol_totp(new_visitor_at(tenant), tenant, tenant.person("eve@example.com"))
    mixed = page.press("I’ve saved them", sheet=theirs.form("I’ve saved them").fields["sheet"])
    assert "Those codes were replaced" in mixed.text
    assert page.press("I’ve saved them").query["code"]


def test_few_codes_left_are_counted(
    tenant: World, browser: Visitor, ada: Person, new_visitor_at: NewVisitorAt, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backup_code, "CODE_COUNT", 3)
    enrol_totp(browser, tenant, ada)[1].press("I’ve saved them")
    choices = sign_in(new_visitor_at(tenant), tenant, ada).follow("Try another way")
    assert "3 left" in choices.text
    assert "You have 3 codes left." in choices.press("Backup code").text


@pytest.mark.parametrize("creates", [True, False], ids=["new codes", "not now"])
def test_last_code_warns_and_offers_new_ones(
    tenant: World,
    browser: Visitor,
    ada: Person,
    monkeypatch: pytest.MonkeyPatch,
    new_visitor_at: NewVisitorAt,
    creates: bool,
) -> None:
    monkeypatch.setattr(backup_code, "CODE_COUNT", 1)
    _, page = enrol_totp(browser, tenant, ada)
    page.press("I’ve saved them")
    visitor = new_visitor_at(tenant)
    shown_page = sign_in(visitor, tenant, ada).follow("Try another way").press("Backup code")
    assert "This is your last code." in shown_page.text
    warned = shown_page.press("Verify", backup_code=codes_on(page)[0])
    assert "You used your last backup code" in warned.text
    if not creates:
        assert warned.press("Not now").query["code"], "new ones are offered, not required"
        return
    new = warned.press("Create backup codes")
    assert new.press("I’ve saved them").query["code"]
    assert "You used your last" in by_code(new_visitor_at(tenant), tenant, ada, codes_on(new)[0]).text


def test_reload_of_the_codes_page_shows_no_code(tenant: World, browser: Visitor, ada: Person) -> None:
    _, page = enrol_totp(browser, tenant, ada)
    again = browser.open(f"/backup-codes?attempt={interaction_of(page)}")
    assert codes_on(again) == []
    assert again.press("Create backup codes").press("I’ve saved them").query["code"]


def test_not_you_leaves_the_pending_sign_in(
    tenant: World, browser: Visitor, ada: Person, new_visitor_at: NewVisitorAt
) -> None:
    app, codes_page = enrol_totp(browser, tenant, ada)
    codes_page.press("I’ve saved them")
    pass_time(tenant.services, seconds=30)
    page = sign_in(new_visitor_at(tenant), tenant, ada)
    assert "ada@example.com" in page.text
    left = page.press("Not you?")
    assert left.is_sign_in
    expired = page.press("Verify", code=code_now(tenant, app))
    assert expired.is_sign_in, "the first factor no longer counts"


def test_username_sign_in_hides_the_email_address(new_world: NewWorld, new_visitor_at: NewVisitorAt) -> None:
    tenant = new_world(two_factor="required", username_login=True, email_login=True, **APP)
    ada, browser = tenant.person("ada@example.com"), new_visitor_at(tenant)
    enrol_totp(browser, tenant, ada)[1].press("I’ve saved them")
    browser.open("/username").press("Save", username="countess")
    shop = tenant.application("other", client_name="Acme Shop")
    page = new_visitor_at(tenant).authorize(shop).press("Sign in", identifier="countess", password=ada.password)
    assert page.heading == "Two-step verification"
    assert "countess" in page.text
    assert "ada@example.com" not in page.html
