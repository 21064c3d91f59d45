"""Self-service pages in Chromium, in Arabic without scripts: edit, add an address, delete, restore."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.support.accounts.mailbox import link_in, mails_to, path_of
from tests.support.browsers.chromium import Opened
from tests.support.oauth.relying_party import Person
from tests.support.oauth.world import World

PASSWORD, NEW = "correct horse 7", "countess@example.org"


def sign_in(page: Page, person: Person) -> None:
    page.locator("[name=identifier]").fill(person.email)
    page.locator("[name=password]").fill(PASSWORD)
    page.get_by_role("button", name="تسجيل الدخول", exact=True).click()


def test_account_is_edited_deleted_and_restored(world: World, served: str, opened: Opened) -> None:
    ada = world.person("ada@example.com", FirstName="Ada", LastName="Lovelace")
    page = opened(java_script_enabled=False, locale="ar")
    page.goto(f"{served}/profile/edit")
    sign_in(page, ada)
    expect(page.locator("html")).to_have_attribute("dir", "rtl")
    expect(page.locator(".who h2")).to_have_text("Ada Lovelace")
    page.locator("[name=first_name]").fill("آدا")
    page.get_by_role("button", name="حفظ").click()
    expect(page.locator(".who h2")).to_have_text("آدا Lovelace")

    page.goto(f"{served}/emails/add")
    page.locator("[name=email]").fill(NEW)
    page.get_by_role("button", name="إرسال الرسالة").click()
    (mail,) = mails_to(world.services, world.tenant_id, NEW)
    page.goto(served + path_of(link_in(mail)))
    page.locator("form button[type=submit]").first.click()
    page.goto(f"{served}/emails")
    expect(page.locator("bdi", has_text=NEW)).to_be_visible()

    page.goto(f"{served}/delete-account")
    page.get_by_role("button", name="إرسال رابط التأكيد بالبريد").click()
    mail = mails_to(world.services, world.tenant_id, ada.email)[-1]
    page.goto(served + path_of(link_in(mail)))
    page.get_by_role("button", name="حذف الحساب").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("تمت جدولة حذف الحساب")
    page.goto(f"{served}/profile")
    sign_in(page, ada)
    expect(page.get_by_role("heading", level=1)).to_have_text("تمت جدولة حذف الحساب")
    page.get_by_role("button", name="الاحتفاظ بحسابي").click()
    page.goto(f"{served}/profile")
    sign_in(page, ada)
    expect(page.locator(".who h2")).to_have_text("آدا Lovelace")
