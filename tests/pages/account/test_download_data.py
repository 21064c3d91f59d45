"""Download of the account's data: complete, without secrets, without data of other accounts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from app.identity.assembly.table_modules import metadata
from app.identity.directory.roles.tenant_role_store import role_contexts
from app.identity.platform.services import IdentityServices
from app.identity.platform.store.unit_of_work import UnitOfWork
from tests.support.journeys.account_security import add_app, signed_in
from tests.support.oauth.world import NewWorld, World
from tests.support.services.identity_service import pass_time
from tests.support.visitors.visitor import NewVisitorAt, VisitedPage, Visitor

pytestmark = pytest.mark.both_databases

SECRET_COLUMNS = ("hash", "sealed", "lookup", "private")
"""Parts of the names of columns that hold a secret or its digest."""


@pytest.fixture
def services(own_services: IdentityServices) -> IdentityServices:
    """Return services with a database of their own, because the test reads all of it."""
    return own_services


@pytest.fixture
def tenant(services: IdentityServices, new_world: NewWorld) -> World:
    return new_world(
        two_factor="optional",
        second_factors={"email": False, "passkey": False},
        security_questions={"pet": "First pet?"},
    )


@pytest.fixture
def browser(tenant: World, new_visitor_at: NewVisitorAt) -> Visitor:
    visitor: Visitor = new_visitor_at(tenant)
    return visitor


def document(page: VisitedPage) -> dict[str, Any]:
    assert page.answer is not None
    assert page.answer.headers["Content-Disposition"].startswith('attachment; filename="')
    assert "no-store" in page.answer.headers["Cache-Control"]
    exported: dict[str, Any] = json.loads(page.answer.data)
    return exported


def secrets_at_rest(tenant: World) -> Iterator[str]:
    """Yield every digest, sealed and private value of the tenant's rows, as text."""
    work = UnitOfWork(tenant.services.database, tenant.tenant_id)
    try:
        for table in metadata.tables.values():
            for row in work.all(table.select().where(table.c.tenant_id == tenant.tenant_id)):
                for name, value in row._mapping.items():
                    if any(part in name for part in SECRET_COLUMNS) and value:
                        yield from texts(value)
    finally:
        work.rollback()


def texts(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for item in value.values():
            yield from texts(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from texts(item)
    elif isinstance(value, bytes):
        yield value.hex()
    elif isinstance(value, str) and len(value) > 15:
        yield value


def give_role_context(tenant: World, uid: str) -> None:
    row = {"tenant_id": tenant.tenant_id, "uid": uid, "context": "shop", "additional_permissions": ["orders:read"]}
    with UnitOfWork(tenant.services.database, tenant.tenant_id).separate_transaction() as work:
        work.run(role_contexts.insert(), row)


@pytest.mark.both_databases
def test_download_is_complete_and_holds_no_secret(tenant: World, browser: Visitor) -> None:
    ada, shop = tenant.person("ada@example.com", FirstName="Ada"), tenant.application("shop", client_name="Acme Shop")
    give_role_context(tenant, ada.uid)
    callback = browser.authorize(shop).press("Sign in", identifier=ada.email, password=ada.password)
    tokens = shop.redeem(callback.query["code"]).json or {}
    app, codes_page = add_app(browser, tenant, ada)
    codes = codes_page
    codes_page.press("I’ve saved them")
    browser.open("/security-questions").press("Save", answer_0="A grey owl called Archimedes")
    page = browser.open("/download-data").press("Download")
    exported, text = document(page), page.answer.text if page.answer else ""
    assert (exported["format"], exported["profile"]["FirstName"]) == ("gatehouse-own-data/1", "Ada")
    assert exported["addresses"] == [
        {"type": "Primary", "value": ada.email, "is_confirmed": True, "is_asked_for": False}
    ]
    assert [item["kind"] for item in exported["second_factors"]].count("backup_code") == 10
    assert [item["name"] for item in exported["applications"]] == ["Acme Shop"]
    assert exported["security_questions"] == [{"id": "pet", "question": "First pet?"}]
    assert len(exported["sessions"]) == 1
    shop_context = {"context": "shop", "roles": [], "additional_permissions": ["orders:read"], "expires_at": None}
    assert exported["role_contexts"] == [shop_context]
    assert {"second_factor.enrolled", "tokens.issued", "mail.posted"} <= {item["event"] for item in exported["events"]}
    stored_secrets = set(secrets_at_rest(tenant))
    assert len(stored_secrets) > 20
    cookies = {cookie.value for cookie in (browser.client._cookies or {}).values() if len(cookie.value) > 20}
    shown_secrets = {app.secret, ada.password, tokens["access_token"], tokens["refresh_token"], "Archimedes", *cookies}
    shown_secrets |= {code for code in codes.text.split() if len(code) == 11 and "-" in code}
    assert [item for item in stored_secrets | shown_secrets if item in text] == []


def test_download_holds_nothing_of_other_accounts(
    tenant: World, browser: Visitor, new_visitor_at: NewVisitorAt
) -> None:
    bob = tenant.person("bob@example.com", FirstName="Bob")
    signed_in(new_visitor_at(tenant), bob, "/security")
    signed_in(browser, tenant.person("ada@example.com"), "/download-data")
    page = browser.open("/download-data").press("Download")
    assert document(page)["profile"]["Uid"]
    assert page.answer is not None
    assert [item for item in (bob.uid, bob.email, "Bob") if item in page.answer.text] == []


def test_download_needs_the_password_and_is_limited(tenant: World, browser: Visitor) -> None:
    ada = tenant.person("ada@example.com")
    signed_in(browser, ada, "/download-data")
    pass_time(tenant.services, minutes=6)
    page = browser.open("/download-data")
    assert page.press("Download", password="wrong").status == 401
    for _ in range(5):
        document(page.press("Download", password=ada.password))
    refused = page.press("Download", password=ada.password)
    assert (refused.status, "Too many downloads" in refused.text) == (429, True)
    assert page.press("Download", token="x").status == 403


@pytest.mark.usefixtures("tenant")
def test_download_needs_a_session(browser: Visitor) -> None:
    assert browser.open("/download-data").is_sign_in
