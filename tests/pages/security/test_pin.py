"""PIN pages: required or offered at sign-in, set later, reset by a mailed link."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.accounts.mailbox import code_in, link_in, mails_to, path_of
from tests.support.oauth.relying_party import Person
from tests.support.oauth.world import NewWorld, World
from tests.support.services.identity_service import pass_time
from tests.support.tenants.tenant_server import TenantServer, answered
from tests.support.visitors.visitor import NewVisitorAt, VisitedPage, Visitor

PIN, OTHER = "270486", "905142"
REQUIRED = {"pin": {"is_on": True, "required": True}}
OFFERED = {"pin": {"is_on": True, "ask_on_login": True}}


def world_with(new_world: NewWorld, new_visitor_at: NewVisitorAt, **settings: Any) -> tuple[World, Visitor, Person]:
    tenant = new_world(**settings)
    visitor: Visitor = new_visitor_at(tenant)
    return tenant, visitor, tenant.person("ada@example.com")


def sign_in(visitor: Visitor, tenant: World, ada: Person, name: str = "shop") -> VisitedPage:
    shop = tenant.application(name, client_name="Acme Shop")
    return visitor.authorize(shop).press("Sign in", identifier=ada.email, password=ada.password)


def test_required_pin_is_set_once_before_the_callback(new_world: NewWorld, new_visitor_at: NewVisitorAt) -> None:
    tenant, visitor, ada = world_with(new_world, new_visitor_at, **REQUIRED)
    page = sign_in(visitor, tenant, ada)
    assert page.heading == "Set PIN"
    assert "Not now" not in page.html
    page = page.press("Save PIN", pin="1234")
    assert (page.status, page.heading) == (400, "Set PIN")
    assert "Too easy to guess" in page.text
    assert "Use 4 to 6 digits." in page.press("Save PIN", pin="12").text
    assert page.press("Save PIN", pin=PIN).address.startswith("https://shop.example")
    assert visitor.authorize(tenant.application("other")).address.startswith("https://")


def test_required_pin_cannot_be_skipped(new_world: NewWorld, new_visitor_at: NewVisitorAt) -> None:
    tenant, visitor, ada = world_with(new_world, new_visitor_at, **REQUIRED)
    page = sign_in(visitor, tenant, ada)
    sent = {**page.form("Save PIN").fields, "do": "skip"}
    assert visitor.send("POST", f"{visitor.home}/set-pin", sent).heading == "Set PIN"


def test_offered_pin_can_be_declined_for_good(new_world: NewWorld, new_visitor_at: NewVisitorAt) -> None:
    tenant, visitor, ada = world_with(new_world, new_visitor_at, **OFFERED)
    page = sign_in(visitor, tenant, ada)
    assert page.press("Not now").address.startswith("https://shop.example")
    assert visitor.authorize(tenant.application("other")).address.startswith("https://")


@pytest.mark.parametrize("minutes_later", [0, 10])
def test_stale_session_needs_the_password_to_set_a_pin(
    new_world: NewWorld, new_visitor_at: NewVisitorAt, minutes_later: int
) -> None:
    tenant, visitor, ada = world_with(new_world, new_visitor_at, pin={"is_on": True})
    sign_in(visitor, tenant, ada)
    pass_time(tenant.services, minutes=minutes_later)
    page = visitor.open("/pin")
    if minutes_later:
        assert page.press("Save PIN", pin=PIN, password="wrong").status == 401
        page = visitor.open("/pin")
    page = page.press("Save PIN", pin=PIN, **({"password": ada.password} if minutes_later else {}))
    assert page.address.endswith("/security?done=saved")
    assert visitor.open("/pin").heading == "Change PIN"


def test_mailed_link_sets_a_new_pin_once(new_world: NewWorld, new_visitor_at: NewVisitorAt, identity_app: Any) -> None:
    tenant, visitor, ada = world_with(new_world, new_visitor_at, **REQUIRED)
    sign_in(visitor, tenant, ada).press("Save PIN", pin=PIN)
    program = TenantServer(tenant.services, identity_app, tenant.tenant_id, tenant.name, tenant.api_key, "")
    answered(program.send("POST", "/identity/v2/auth/pin/forgot/email", {"email": ada.email}, with_secret=False))
    link = link_in(mails_to(tenant.services, tenant.tenant_id, ada.email)[-1])
    path = path_of(link)
    assert path.startswith("/p/")
    page = visitor.open(path)
    assert page.heading == "Reset PIN"
    assert page.press("Save PIN", pin=OTHER).heading == "Your PIN was changed"
    assert visitor.open(path).heading == "Link already used"


@pytest.mark.parametrize("services", ["sqlite"], indirect=True)
@pytest.mark.parametrize("pins", [REQUIRED, OFFERED])
def test_stale_session_reauthenticates_before_setting_pin(
    new_world: NewWorld, new_visitor_at: NewVisitorAt, pins: dict[str, Any]
) -> None:
    tenant, visitor, ada = world_with(new_world, new_visitor_at, passwordless_email=True)
    sign_in(visitor, tenant, ada)
    pass_time(tenant.services, minutes=10)
    ada.set_columns(password_hash=None)
    tenant.change_settings(**pins)
    page = visitor.authorize(tenant.application("other"))
    if pins is OFFERED:
        assert page.heading == "Set PIN"
        page = page.press("Save PIN", pin=PIN)
    assert page.heading == "Confirm it’s you"
    page = page.follow("Get an email link").press("Email me a link")
    page = page.press("Sign in", code=code_in(mails_to(tenant.services, tenant.tenant_id, ada.email)[-1]))
    assert page.heading == "Set PIN"
    assert page.press("Save PIN", pin=PIN).query["code"]
