"""The journeys of a person, in Chromium, over the whole house in one process."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect
from sqlalchemy import select, update

from app.contract.captcha import Question
from app.identity.directory.accounts.tables import accounts
from app.identity.directory.tenants.tables import tenants
from app.identity.platform.store.unit import UnitOfWork
from tests.support.captchas import answer_to
from tests.support.hub_in_browser import Opened, sign_in_address, the_shop
from tests.support.identity_service import CHEAP
from tests.support.oauth_world import World

PASSWORD = "correct horse 7"


@pytest.mark.parametrize("services", ["sqlite", "postgres"], indirect=True)
@pytest.mark.parametrize("has_script", [True, False])
def test_a_person_comes_from_the_shop_and_returns_to_it(
    world: World, served: str, opened: Opened, has_script: bool
) -> None:
    shop, ada = the_shop(world, served), world.person("ada@example.com")
    page = opened(java_script_enabled=has_script)
    page.goto(sign_in_address(served, shop))
    expect(page.get_by_text("Sign in to continue to Acme Shop.")).to_be_visible()
    page.get_by_label("Email").fill(ada.email)
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url("http://127.0.0.1:*/cb?**")
    expect(page.get_by_role("heading")).to_have_text("Welcome to the shop")


def test_a_wrong_password_is_mended_without_typing_the_email_again(world: World, served: str, opened: Opened) -> None:
    shop, ada = the_shop(world, served), world.person("ada@example.com")
    page = opened()
    page.goto(sign_in_address(served, shop))
    page.get_by_label("Email").fill(ada.email)
    page.get_by_label("Password", exact=True).fill("wrong")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("That did not work")
    expect(page.locator("#summary")).to_be_focused()
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.keyboard.press("Enter")
    page.wait_for_url("http://127.0.0.1:*/cb?**")


def test_the_profile_signs_in_through_the_callback(world: World, served: str, opened: Opened) -> None:
    ada = world.person("ada@example.com", FirstName="Ada", LastName="Lovelace")
    page = opened()
    callbacks: list[str] = []
    page.on("request", lambda request: callbacks.append(request.url) if "/callback/profile?" in request.url else None)
    page.goto(f"{served}/profile")
    page.get_by_label("Email").fill(ada.email)
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Ada Lovelace")
    assert len(callbacks) == 1


def test_the_language_stays_over_every_click(world: World, served: str, opened: Opened) -> None:
    shop, ada = the_shop(world, served, require_consent=True), world.person("ada@example.com")
    page = opened(locale="en-GB")
    page.goto(sign_in_address(served, shop))
    page.get_by_text("English").click()
    page.get_by_role("link", name="العربية").click()
    assert page.locator("html").get_attribute("dir") == "rtl"
    page.get_by_label("البريد الإلكتروني").fill(ada.email)
    page.get_by_label("كلمة المرور", exact=True).fill(PASSWORD)
    page.get_by_role("button", name="تسجيل الدخول").click()
    page.get_by_role("button", name="السماح", exact=True).click()
    page.wait_for_url("http://127.0.0.1:*/cb?**")


def test_back_after_the_end_shows_no_form_of_the_past(world: World, served: str, opened: Opened) -> None:
    shop, ada = the_shop(world, served), world.person("ada@example.com")
    page = opened()
    page.goto(sign_in_address(served, shop))
    page.get_by_label("Email").fill(ada.email)
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url("http://127.0.0.1:*/cb?**")
    page.go_back()
    expect(page.get_by_role("heading", level=1)).to_have_text(ada.email)


def test_signing_out_elsewhere_ends_that_session(world: World, served: str, opened: Opened) -> None:
    ada = world.person("ada@example.com", FirstName="Ada", LastName="Lovelace")
    here, there = opened(), opened()
    for page in (there, here):
        page.goto(f"{served}/profile")
        page.get_by_label("Email").fill(ada.email)
        page.get_by_label("Password", exact=True).fill(PASSWORD)
        page.get_by_role("button", name="Sign in").click()
    here.get_by_role("link", name="Security").click()
    here.get_by_role("button", name="Sign out everywhere else").click()
    expect(here.get_by_role("status")).to_contain_text("Signed out there")
    there.reload()
    expect(there.get_by_role("heading", level=1)).to_have_text("Welcome back")


def locking(world: World, **settings: object) -> None:
    """Let the tenant lock an account at the first wrong password."""
    where = tenants.c.tenant_id == world.tenant_id
    with UnitOfWork(world.services.database, world.tenant_id).separate_transaction() as work:
        held = work.run(select(tenants.c.settings).where(where)).scalar_one()
        work.run(update(tenants).where(where).values(settings={**held, **settings}))
    world.services.directory.clear_cache()


def locked_out(page: Page, address: str, email: str) -> None:
    page.goto(address)
    page.get_by_label("Email").fill(email)
    page.get_by_label("Password", exact=True).fill("wrong")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("alert")).to_contain_text("That did not work")
    page.get_by_label("Password", exact=True).fill(PASSWORD)


def test_a_browser_answers_the_captcha_of_a_locked_account_by_itself(world: World, served: str, opened: Opened) -> None:
    locking(world, lockout={"type": "captcha", "maximum_failed_attempts": 1})
    shop, ada = the_shop(world, served), world.person("ada@example.com")
    page = opened()
    complaints: list[str] = []
    page.on("pageerror", lambda problem: complaints.append(str(problem)))
    locked_out(page, sign_in_address(served, shop), ada.email)
    expect(page.get_by_role("status")).to_contain_text("There is nothing to answer", timeout=60_000)
    expect(page.locator("#captcha")).to_be_hidden()
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url("http://127.0.0.1:*/cb?**")
    assert complaints == []


def test_a_form_that_is_sent_before_the_work_is_done_waits_for_it(world: World, served: str, opened: Opened) -> None:
    locking(world, lockout={"type": "captcha", "maximum_failed_attempts": 1}, captcha={"work_bits": 14})
    shop, ada = the_shop(world, served), world.person("ada@example.com")
    page = opened()
    page.add_init_script("window.now = Date.now; var hours = 0; Date.now = () => hours += 3600000")  # no time to work
    locked_out(page, sign_in_address(served, shop), ada.email)
    assert page.locator("[name=captcha_work]").input_value() == ""
    page.get_by_role("button", name="Sign in").click()
    expect(page.locator("form.busy")).to_be_visible()
    page.evaluate("Date.now = window.now")
    page.wait_for_url("http://127.0.0.1:*/cb?**", timeout=60_000)


def test_without_javascript_a_person_answers_the_captcha(world: World, served: str, opened: Opened) -> None:
    locking(world, lockout={"type": "captcha", "maximum_failed_attempts": 1})
    shop, ada = the_shop(world, served), world.person("ada@example.com")
    page = opened(java_script_enabled=False)
    locked_out(page, sign_in_address(served, shop), ada.email)
    asked = page.locator("[name=captcha_asked]").get_attribute("value") or ""
    _bits, _seed, kind, *numbers = asked.split(".")
    question = Question.model_validate({"kind": kind, "numbers": numbers})
    page.locator("#captcha").fill(str(answer_to(question)))
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url("http://127.0.0.1:*/cb?**")


def test_a_person_answers_the_security_question_of_a_locked_account(world: World, served: str, opened: Opened) -> None:
    lockout = {"type": "security_question", "maximum_failed_attempts": 1}
    locking(world, lockout=lockout, security_questions={"pet": "Your first pet?"})
    shop, ada = the_shop(world, served), world.person("ada@example.com")
    with UnitOfWork(world.services.database, world.tenant_id).separate_transaction() as work:
        kept = {"security_answers": {"pet": world.services.hashing.hash("rex", CHEAP)}}
        where = (accounts.c.tenant_id == world.tenant_id, accounts.c.uid == ada.uid)
        work.run(update(accounts).where(*where).values(private=kept))
    page = opened()
    locked_out(page, sign_in_address(served, shop), ada.email)
    page.get_by_label("Your first pet?").fill("Rex")
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url("http://127.0.0.1:*/cb?**")
