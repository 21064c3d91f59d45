"""Pages left open whose sign-in goes on in another place: at a provider, in a mailbox, at an organization, on a device, on a PIN page."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import select

from app.contract.applications.file import DEVICE_GRANT
from app.identity.authentication.sign_in.tables import interactions
from app.identity.platform.store.unit_of_work import UnitOfWork
from tests.support.accounts.mailbox import link_in, mails_to
from tests.support.fakes.identity_provider import FakeProvider
from tests.support.oauth.world import NewWorld, World
from tests.support.organizations.members import Company
from tests.support.services.identity_service import pass_time
from tests.support.visitors.visitor import NewVisitorAt, VisitedPage, Visitor

PASSWORD = "correct horse 7"
ADA: dict[str, Any] = {"email": "ada@example.com", "email_verified": True, "given_name": "Ada", "sub": "1"}


def signed_in(page: VisitedPage, **typed: str) -> VisitedPage:
    return page.press("Sign in", **{"identifier": "ada@example.com", "password": PASSWORD, **typed})


@pytest.fixture
def federated(new_world: NewWorld, fake_provider: FakeProvider) -> World:
    return new_world(connections={"globex": fake_provider.openid(title="Globex", trusts_email=True)})


def test_long_stay_at_a_provider_ends_at_the_app(
    federated: World, new_visitor_at: NewVisitorAt, fake_provider: FakeProvider
) -> None:
    visitor, shop = new_visitor_at(federated), federated.application("shop")
    attempt = visitor.authorize(shop, state="kept").query["attempt"]
    away = visitor.open(f"/sign-in/with?provider=globex&attempt={attempt}")
    pass_time(federated.services, minutes=55)
    assert visitor.open(fake_provider.callback_url(away.address, **ADA)).query["state"] == "kept"


def test_longer_stay_at_a_provider_keeps_the_request(
    federated: World, new_visitor_at: NewVisitorAt, fake_provider: FakeProvider
) -> None:
    visitor, shop = new_visitor_at(federated), federated.application("shop")
    federated.person("ada@example.com")
    attempt = visitor.authorize(shop, state="kept").query["attempt"]
    away = visitor.open(f"/sign-in/with?provider=globex&attempt={attempt}")
    pass_time(federated.services, hours=9)
    page = visitor.open(fake_provider.callback_url(away.address, **ADA))
    assert page.is_sign_in
    assert signed_in(page).query["state"] == "kept"


def test_identity_of_an_earlier_visitor_is_forgotten(
    federated: World, new_visitor_at: NewVisitorAt, fake_provider: FakeProvider
) -> None:
    """Who comes to a shared browser hours later neither sees nor links the previous person's identity at a provider."""
    visitor, shop = new_visitor_at(federated), federated.application("shop")
    federated.person("ada@example.com")
    attempt = visitor.authorize(shop).query["attempt"]
    away = visitor.open(f"/sign-in/with?provider=globex&attempt={attempt}")
    offered = visitor.open(
        fake_provider.callback_url(away.address, **{**ADA, "email": "eve@example.com", "email_verified": False})
    )
    assert "eve@example.com" in offered.html
    pass_time(federated.services, minutes=61)
    assert "eve@example.com" not in visitor.open(offered.address).html


def test_mailed_link_opened_hours_later_ends_at_the_app(new_world: NewWorld, new_visitor_at: NewVisitorAt) -> None:
    world = new_world(passwordless_email=True, sign_in_link_minutes=600)
    world.person("ada@example.com")
    visitor = new_visitor_at(world)
    attempt = visitor.authorize(world.application("shop"), state="kept").query["attempt"]
    sent = visitor.open(f"/sign-in/mail?attempt={attempt}").press("Email me a link", identifier="ada@example.com")
    assert sent.heading == "Check your email"
    pass_time(world.services, hours=9)
    link = link_in(mails_to(world.services, world.tenant_id, "ada@example.com")[-1])
    page = visitor.open(link)
    label = next(label for label in ("Sign in", "Continue") if f">{label}<" in page.html)
    assert page.press(label).query["state"] == "kept"


def test_organization_page_left_open_goes_on(company: Company, world: World, visitor: Visitor) -> None:
    for name in ("Globex Gardens", "Initech"):
        company.join(company.ada, company.business.create(name), "Owner")
    app = world.application("Crm", client_name="Acme Shop", organization_usage="prompt")
    page = visitor.authorize(app, state="kept").press(
        "Sign in", identifier=company.ada.email, password=company.ada.password
    )
    pass_time(world.services, minutes=31)
    assert page.press("Initech").query["state"] == "kept"


def test_device_page_left_open_connects(world: World, visitor: Visitor) -> None:
    world.person("ada@example.com")
    tv = world.application("tv", secret=None, grant_types=[DEVICE_GRANT], redirect_uris=[])
    body = tv.start_device(scope="openid").json or {}
    page = visitor.open("/device").press("Continue", user_code=body["user_code"])
    pass_time(world.services, seconds=min(int(body["expires_in"]) - 5, 895))
    assert signed_in(page).press("Connect device").heading == "Device connected"


def test_device_page_of_an_expired_code_ends_there(world: World, visitor: Visitor) -> None:
    world.person("ada@example.com")
    tv = world.application("tv", secret=None, grant_types=[DEVICE_GRANT], redirect_uris=[])
    body = tv.start_device(scope="openid").json or {}
    page = visitor.open("/device").press("Continue", user_code=body["user_code"])
    pass_time(world.services, hours=9)
    assert "expired" in signed_in(page).text.lower()


def test_pin_page_left_open_ends_at_the_app(new_world: NewWorld, new_visitor_at: NewVisitorAt) -> None:
    world = new_world(pin={"is_on": True, "required": True})
    world.person("ada@example.com")
    page = signed_in(new_visitor_at(world).authorize(world.application("shop"), state="kept"))
    pass_time(world.services, minutes=31)
    shown_page = page.press("Save PIN", pin="270486")
    assert "Enter your password to continue" in shown_page.text, "a credential needs a sign-in of a moment ago"
    assert shown_page.press("Save PIN", pin="270486", password=PASSWORD).query["state"] == "kept"


@pytest.mark.both_databases
def test_restart_keeps_nothing_that_was_chosen(company: Company, world: World, visitor: Visitor) -> None:
    """The chosen organization is gone from the row: who goes on after a restart chooses anew."""
    for name in ("Globex Gardens", "Initech"):
        company.join(company.ada, company.business.create(name), "Owner")
    app = world.application("Crm", organization_usage="prompt", require_consent=True)
    page = visitor.authorize(app).press("Sign in", identifier=company.ada.email, password=company.ada.password)
    page = page.press("Initech")
    assert "org_id" in _request_of(world)
    pass_time(world.services, hours=9)
    visitor.open(page.address)
    assert _request_of(world).keys().isdisjoint({"org_id", "org_uid", "account_chosen", "connected", "second_factor"})


def _request_of(world: World) -> dict[str, Any]:
    query = select(interactions.c.request).where(interactions.c.tenant_id == world.tenant_id)
    with UnitOfWork(world.services.database, world.tenant_id).separate_transaction() as work:
        return dict(work.run(query).scalar_one())
