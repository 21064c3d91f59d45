"""A second factor demanded by risk: the account signs in from a new browser (decision 0106)."""

from __future__ import annotations

from typing import Any

from sqlalchemy import update

from app.identity.directory.accounts.tables import accounts
from app.identity.platform.store.unit_of_work import UnitOfWork
from tests.support.accounts.mailbox import code_in, sent_messages
from tests.support.accounts.risky_sign_ins import CHROME
from tests.support.journeys.passwordless import by_mail, link_path
from tests.support.journeys.second_factors import close_browser, code_now, enrol_totp, sign_in
from tests.support.oauth.relying_party import Person
from tests.support.oauth.world import NewWorld, World
from tests.support.services.identity_service import on_one_database, pass_time
from tests.support.visitors.visitor import NewVisitorAt, Visitor

pytestmark = on_one_database
DEMAND: dict[str, Any] = {"risk": {"browser": "demand"}}


def known_in_firefox(tenant: World, new_visitor_at: NewVisitorAt) -> Person:
    """Return a person who has signed in once, with Firefox."""
    ada = tenant.person("ada@example.com")
    assert sign_in(new_visitor_at(tenant), tenant, ada).query["code"]
    return ada


def in_chrome(visitor: Visitor) -> Visitor:
    visitor.agent = CHROME
    return visitor


def code(tenant: World, kind: str = "mail") -> str:
    return code_in(sent_messages(tenant.services, tenant.tenant_id, kind)[-1])


def test_mailed_code_passes_and_browser_is_known_after(new_world: NewWorld, new_visitor_at: NewVisitorAt) -> None:
    tenant = new_world(**DEMAND)
    ada, visitor = known_in_firefox(tenant, new_visitor_at), in_chrome(new_visitor_at(tenant))
    page = sign_in(visitor, tenant, ada)
    assert page.heading == "Two-step verification"
    assert "You haven’t signed in from here before." in page.text
    assert "Do not ask again" not in page.text
    assert visitor.open("/profile").heading != "Profile"
    wrong = page.press("Verify", code="000000")
    assert "Wrong or expired code" in wrong.text
    assert wrong.press("Verify", code=code(tenant)).query["code"]
    close_browser(visitor)
    assert sign_in(visitor, tenant, ada).query["code"]


def test_trusted_browser_is_asked_if_risky(new_world: NewWorld, new_visitor_at: NewVisitorAt) -> None:
    tenant = new_world(two_factor="required", second_factors={"email": False, "passkey": False}, **DEMAND)
    ada = tenant.person("ada@example.com")
    app, _ = enrol_totp(new_visitor_at(tenant), tenant, ada)
    visitor = new_visitor_at(tenant)
    pass_time(tenant.services, seconds=30)
    sign_in(visitor, tenant, ada).press("Verify", code=code_now(tenant, app), trust="y")
    close_browser(visitor)
    assert sign_in(visitor, tenant, ada).query["code"]
    close_browser(in_chrome(visitor))
    page = sign_in(visitor, tenant, ada)
    assert "You haven’t signed in from here before." in page.text
    pass_time(tenant.services, seconds=30)
    assert page.press("Verify", code=code_now(tenant, app)).query["code"]


def test_mailed_link_sign_in_demands_a_texted_code(new_world: NewWorld, new_visitor_at: NewVisitorAt) -> None:
    texted = {"phone_login": True, "email_login": True, "passwordless_email": True, "second_factors": {"sms": True}}
    tenant = new_world(**texted, **DEMAND)
    ada, visitor = known_in_firefox(tenant, new_visitor_at), in_chrome(new_visitor_at(tenant))
    with UnitOfWork(tenant.services.database, tenant.tenant_id).separate_transaction() as work:
        number = {"phone": "+4930123456", "phone_verified": True}
        work.run(update(accounts).where(accounts.c.uid == ada.uid).values(**number))
    by_mail(visitor.open("/login"), ada.email)
    page = visitor.open(link_path(tenant)).press("Sign in")
    assert (page.heading, "texted to" in page.text) == ("Two-step verification", True)
    assert page.press("Verify", code=code(tenant, "sms")).address.endswith("/profile")
