"""The second-factor page: enrolment and verification after the password."""

from __future__ import annotations

import re
from urllib.parse import unquote, urlsplit

import pytest

from tests.support.browsers import page_samples
from tests.support.journeys.second_factors import (
    APP_ALONE,
    app_of,
    close_browser,
    code_now,
    codes_on,
    enrol_totp,
    sign_in,
)
from tests.support.oauth.world import NewWorld, World
from tests.support.services.identity_service import pass_time
from tests.support.visitors.visitor import NewVisitorAt, Visitor, is_empty_with_focus

REQUIRED = {"two_factor": "required", "second_factors": APP_ALONE}


@pytest.fixture
def tenant(new_world: NewWorld) -> World:
    return new_world(**REQUIRED)


@pytest.fixture
def browser(tenant: World, new_visitor_at: NewVisitorAt) -> Visitor:
    visitor: Visitor = new_visitor_at(tenant)
    return visitor


def test_required_factor_is_enrolled_at_sign_in(tenant: World, browser: Visitor) -> None:
    ada = tenant.person("ada@example.com")
    page = sign_in(browser, tenant, ada)
    assert page.heading == "Protect your account"
    assert "<svg" in page.html
    (link,) = re.findall(r'href="(otpauth:[^"]+)"', page.html)
    assert unquote(urlsplit(link).path) == f"/{tenant.name.title()}:{ada.email}"
    codes_page = page.press("Verify", code=code_now(tenant, app_of(page)))
    assert codes_page.heading == "Save your backup codes"
    assert len(codes_on(codes_page)) == 10
    assert codes_page.answer is not None
    assert "no-store" in codes_page.answer.headers["Cache-Control"]
    assert codes_page.press("I’ve saved them").query["code"]


def test_method_is_remembered_after_second_factor(tenant: World, browser: Visitor) -> None:
    page = sign_in(browser, tenant, tenant.person("ada@example.com"))
    assert browser.cookie("method").value == "!password"
    page.press("Verify", code=code_now(tenant, app_of(page)))
    assert browser.cookie("method").value == "password"


def test_enrolled_factor_is_asked_after_the_password(
    tenant: World, browser: Visitor, new_visitor_at: NewVisitorAt
) -> None:
    ada = tenant.person("ada@example.com")
    app, _ = enrol_totp(browser, tenant, ada)
    pass_time(tenant.services, seconds=30)
    page = sign_in(new_visitor_at(tenant), tenant, ada)
    assert page.heading == "Two-step verification"
    wrong = page.press("Verify", code="000000")
    assert wrong.status == 403
    assert "Wrong code" in wrong.text
    assert wrong.title.startswith("Error: ")
    assert is_empty_with_focus(wrong, "code")
    assert wrong.press("Verify", code=code_now(tenant, app)).query["code"]


def test_no_session_starts_before_the_second_factor(tenant: World, browser: Visitor) -> None:
    ada = tenant.person("ada@example.com")
    page = sign_in(browser, tenant, ada)
    assert not [cookie for cookie in browser.client._cookies or {} if "session" in str(cookie)]
    assert browser.open("/profile").heading != "Profile"
    assert page.heading == "Protect your account"


def test_reload_shows_the_same_enrolment_key(tenant: World, browser: Visitor) -> None:
    page = sign_in(browser, tenant, tenant.person("ada@example.com"))
    again = browser.open(page.address)
    assert app_of(again).secret == app_of(page).secret


def test_backup_code_replaces_the_factor(tenant: World, browser: Visitor, new_visitor_at: NewVisitorAt) -> None:
    ada = tenant.person("ada@example.com")
    _, codes_page = enrol_totp(browser, tenant, ada)
    code = codes_on(codes_page)[0]
    codes_page.press("I’ve saved them")
    visitor = new_visitor_at(tenant)
    choices = sign_in(visitor, tenant, ada).follow("Try another way")
    assert "Backup code" in choices.text
    page = visitor.open(choices.address.replace("kind=choose", "kind=backup_code"))
    assert "Enter one of your backup codes" in page.text
    assert page.press("Verify", backup_code=code).query["code"]


def test_trusted_browser_skips_factor_until_it_expires(
    tenant: World, browser: Visitor, new_visitor_at: NewVisitorAt
) -> None:
    ada = tenant.person("ada@example.com")
    app, _ = enrol_totp(browser, tenant, ada)
    pass_time(tenant.services, seconds=30)
    visitor = new_visitor_at(tenant)
    sign_in(visitor, tenant, ada).press("Verify", code=code_now(tenant, app), trust="y")
    close_browser(visitor)
    assert sign_in(visitor, tenant, ada).query.get("code")
    pass_time(tenant.services, days=31)
    close_browser(visitor)
    assert sign_in(visitor, tenant, ada).heading == "Two-step verification"


@pytest.mark.both_databases
def test_too_many_wrong_codes_restart_the_sign_in(
    tenant: World, browser: Visitor, new_visitor_at: NewVisitorAt
) -> None:
    ada = tenant.person("ada@example.com")
    enrol_totp(browser, tenant, ada)
    page = sign_in(new_visitor_at(tenant), tenant, ada, client_uri="https://shop.example/")
    for _ in range(5):
        page = page.press("Verify", code="000000")
    assert "Too many attempts" in page.text
    after = page.visitor.send("POST", page.address, {**page.form("Verify").fields, "do": "prove", "code": "000000"})
    assert "Back to sign in" in after.text
    assert "Back to Acme Shop" in after.text
    assert "/forgot-password?attempt=" in after.html


def test_choices_begin_with_the_method_used_last(tenant: World, browser: Visitor, new_visitor_at: NewVisitorAt) -> None:
    ada = tenant.person("ada@example.com")
    _, codes_page = enrol_totp(browser, tenant, ada)
    codes_page.press("I’ve saved them")
    choices = sign_in(new_visitor_at(tenant), tenant, ada).follow("Try another way")
    rows = re.findall(r'name="kind" value="(\w+)">(.*?)</button>', choices.html, re.DOTALL)
    assert [(kind, "Last used" in row) for kind, row in rows] == [("totp", True), ("backup_code", False)]


def test_choices_begin_with_the_strongest_method() -> None:
    page = page_samples.rendered("ChooseFactorPage", "to enrol one", "en")
    kinds = re.findall(r'name="kind" value="(\w+)"', page.html)
    assert kinds == ["passkey", "totp", "push", "duo", "sms", "email", "backup_code", "security_questions"]
    in_sight, _, others = page.html.partition("4 more methods")
    assert ("passkey" in in_sight.partition("Recommended")[0], 'value="duo"' in in_sight, 'value="sms"' in others) == (
        True,
    ) * 3


def test_nothing_is_recommended_beside_the_last_used() -> None:
    page = page_samples.rendered("ChooseFactorPage", "other ways", "en")
    assert ("Last used" in page.html, "Recommended" in page.html) == (True, False)


@pytest.mark.parametrize("typed", ["12345", "1234567", "12 34 5a"])
def test_code_of_another_form_is_no_try(
    tenant: World, browser: Visitor, new_visitor_at: NewVisitorAt, typed: str
) -> None:
    ada = tenant.person("ada@example.com")
    app, _ = enrol_totp(browser, tenant, ada)
    pass_time(tenant.services, seconds=30)
    page = sign_in(new_visitor_at(tenant), tenant, ada)
    for _ in range(8):
        page = page.press("Verify", code=typed)
        assert (page.status, "Enter a 6-digit code." in page.text) == (422, True)
        assert is_empty_with_focus(page, "code")
    assert page.press("Verify", code=code_now(tenant, app)).query.get("code")


def test_second_factor_page_expires_after_ten_minutes(tenant: World, browser: Visitor) -> None:
    page = sign_in(browser, tenant, tenant.person("ada@example.com"))
    pass_time(tenant.services, minutes=11)
    assert browser.open(page.address).is_sign_in
