"""Sign-in journeys in Chromium, with hub and identity service in one process."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect
from sqlalchemy import select, update

from app.identity.directory.accounts.tables import accounts
from app.identity.directory.tenants.tables import tenants
from app.identity.platform.store.unit_of_work import UnitOfWork
from tests.support.browsers.chromium import Opened
from tests.support.browsers.hub_in_browser import sign_in_address, the_shop
from tests.support.oauth.world import World
from tests.support.services.identity_service import CHEAP

PASSWORD = "correct horse 7"


@pytest.mark.parametrize("services", ["sqlite", "postgres"], indirect=True)
@pytest.mark.parametrize("has_script", [True, False])
def test_sign_in_returns_to_the_shop(world: World, served: str, opened: Opened, has_script: bool) -> None:
    shop, ada = the_shop(world, served), world.person("ada@example.com")
    page = opened(java_script_enabled=has_script)
    page.goto(sign_in_address(served, shop))
    expect(page.get_by_text("to continue to Acme Shop")).to_be_visible()
    page.get_by_label("Email").fill(ada.email)
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url("http://127.0.0.1:*/cb?**")
    expect(page.get_by_role("heading")).to_have_text("Welcome to the shop")


def test_wrong_password_keeps_the_email(world: World, served: str, opened: Opened) -> None:
    shop, ada = the_shop(world, served), world.person("ada@example.com")
    page = opened()
    page.goto(sign_in_address(served, shop))
    page.get_by_label("Email").fill(ada.email)
    page.get_by_label("Password", exact=True).fill("wrong")
    page.keyboard.press("Enter")
    expect(page.locator("#password-problem")).to_contain_text("Wrong email or password.")
    expect(page.get_by_label("Password", exact=True)).to_be_focused()
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.keyboard.press("Enter")
    page.wait_for_url("http://127.0.0.1:*/cb?**")


def test_profile_signs_in_through_the_callback(world: World, served: str, opened: Opened) -> None:
    ada = world.person("ada@example.com", FirstName="Ada", LastName="Lovelace")
    page = opened()
    callbacks: list[str] = []
    page.on("request", lambda request: callbacks.append(request.url) if "/callback/profile?" in request.url else None)
    page.goto(f"{served}/profile")
    page.get_by_label("Email").fill(ada.email)
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    expect(page.locator(".who h2")).to_have_text("Ada Lovelace")
    assert len(callbacks) == 1


def test_chosen_language_persists(world: World, served: str, opened: Opened) -> None:
    shop, ada = the_shop(world, served, require_consent=True), world.person("ada@example.com")
    page = opened(locale="en-GB")
    page.goto(sign_in_address(served, shop))
    page.get_by_text("English").click()
    page.get_by_role("link", name="العربية").click()
    assert page.locator("html").get_attribute("dir") == "rtl"
    page.get_by_label("البريد الإلكتروني").fill(ada.email)
    page.get_by_label("كلمة المرور", exact=True).fill(PASSWORD)
    page.get_by_role("button", name="تسجيل الدخول").click()
    page.get_by_role("button", name="السماح بالوصول", exact=True).click()
    page.wait_for_url("http://127.0.0.1:*/cb?**")


def test_back_after_sign_in_shows_the_profile(world: World, served: str, opened: Opened) -> None:
    shop, ada = the_shop(world, served), world.person("ada@example.com")
    page = opened()
    page.goto(sign_in_address(served, shop))
    page.get_by_label("Email").fill(ada.email)
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url("http://127.0.0.1:*/cb?**")
    page.go_back()
    expect(page.get_by_role("heading", level=1)).to_have_text("Profile")


def test_ending_other_sessions_signs_them_out(world: World, served: str, opened: Opened) -> None:
    ada = world.person("ada@example.com", FirstName="Ada", LastName="Lovelace")
    here, tenant = opened(), opened()
    for page in (tenant, here):
        page.goto(f"{served}/profile")
        page.get_by_label("Email").fill(ada.email)
        page.get_by_label("Password", exact=True).fill(PASSWORD)
        page.get_by_role("button", name="Sign in").click()
    here.get_by_role("link", name="Security").click()
    here.get_by_role("button", name="Sign out all others").click()
    expect(here.get_by_role("status")).to_contain_text("Signed out")
    tenant.reload()
    expect(tenant.get_by_role("heading", level=1)).to_have_text("Welcome back")  # it signed in before


def change_settings(world: World, **settings: object) -> None:
    """Change the tenant's settings."""
    where = tenants.c.tenant_id == world.tenant_id
    with UnitOfWork(world.services.database, world.tenant_id).separate_transaction() as work:
        stored = work.run(select(tenants.c.settings).where(where)).scalar_one()
        work.run(update(tenants).where(where).values(settings={**stored, **settings}))
    world.services.directory.clear_cache()


def lock_out(page: Page, address: str, email: str) -> None:
    page.goto(address)
    page.get_by_label("Email").fill(email)
    page.get_by_label("Password", exact=True).fill("wrong")
    page.get_by_role("button", name="Sign in").click()
    expect(page.locator("#password-problem")).to_contain_text("Wrong email or password.")
    page.get_by_label("Password", exact=True).fill(PASSWORD)


def test_proof_of_work_solves_the_captcha(world: World, served: str, opened: Opened) -> None:
    change_settings(world, lockout={"type": "captcha", "maximum_failed_attempts": 1})
    shop, ada = the_shop(world, served), world.person("ada@example.com")
    page = opened()
    page_errors: list[str] = []
    page.on("pageerror", lambda problem: page_errors.append(str(problem)))
    lock_out(page, sign_in_address(served, shop), ada.email)
    expect(page.locator("#captcha[role=status]")).to_have_text("You’re human. You can continue.", timeout=60_000)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url("http://127.0.0.1:*/cb?**")
    assert page_errors == []


def test_early_submit_waits_for_the_proof_of_work(world: World, served: str, opened: Opened) -> None:
    change_settings(world, lockout={"type": "captcha", "maximum_failed_attempts": 1}, captcha={"work_bits": 14})
    shop, ada = the_shop(world, served), world.person("ada@example.com")
    page = opened()
    page.add_init_script(
        "window.now = Date.now; var hours = 0; Date.now = () => hours += 3600000"
    )  # stops the proof of work
    lock_out(page, sign_in_address(served, shop), ada.email)
    assert page.locator("[name=captcha_work]").input_value() == ""
    page.get_by_role("button", name="Sign in").click()  # it waits for the proof of work, then submits
    expect(page.locator("form.busy .button[aria-busy=true]")).to_have_text("Checking…")
    page.evaluate("Date.now = window.now")
    page.wait_for_url("http://127.0.0.1:*/cb?**", timeout=60_000)


def test_security_question_unlocks_the_account(world: World, served: str, opened: Opened) -> None:
    lockout = {"type": "security_question", "maximum_failed_attempts": 1}
    change_settings(world, lockout=lockout, security_questions={"pet": "Your first pet?"})
    shop, ada = the_shop(world, served), world.person("ada@example.com")
    with UnitOfWork(world.services.database, world.tenant_id).separate_transaction() as work:
        private = {"security_answers": {"pet": world.services.hashing.hash("rex", CHEAP)}}
        where = (accounts.c.tenant_id == world.tenant_id, accounts.c.uid == ada.uid)
        work.run(update(accounts).where(*where).values(private=private))
    page = opened()
    lock_out(page, sign_in_address(served, shop), ada.email)
    page.get_by_label("Your first pet?").fill("Rex")
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url("http://127.0.0.1:*/cb?**")
