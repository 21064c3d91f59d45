"""The database holds no readable link, code, token, cookie or password."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy.engine import make_url

from app.identity.assembly.table_modules import metadata
from app.identity.platform.services import IdentityServices
from app.identity.platform.store.unit_of_work import UnitOfWork
from tests.support.accounts.customers import NEW, a_customer
from tests.support.accounts.mailbox import code_in, mails_to, sent_messages, token_in
from tests.support.accounts.registering import register
from tests.support.fakes.smtp_server import mailbox
from tests.support.oauth.world import NewWorld
from tests.support.tenants.posting import worker_of
from tests.support.tenants.tenant_server import NewTenantServer, answered
from tests.support.visitors.visitor import NewVisitorAt

pytestmark = pytest.mark.both_databases

BY_SMS = "/identity/v2/auth/password/otp"


@pytest.fixture
def services(own_services: IdentityServices) -> IdentityServices:
    """Return services with a database of their own, because the test reads all of it."""
    return own_services


def columns_containing(services: IdentityServices, tenant_id: str, secret: str) -> set[str]:
    """Return the columns, as `table.column`, in which the tenant's rows contain a text."""
    found = set()
    work = UnitOfWork(services.database, tenant_id)
    try:
        for name, table in metadata.tables.items():
            for row in work.all(table.select().where(table.c.tenant_id == tenant_id)):
                found |= {f"{name}.{key}" for key, value in row._mapping.items() if secret in readable(value)}
    finally:
        work.rollback()
    return found


def readable(value: Any) -> str:
    """Return the searchable text of a value; instants are skipped because microseconds look like codes."""
    if isinstance(value, datetime):
        return ""
    return value.decode("latin-1") if isinstance(value, bytes) else json.dumps(value, ensure_ascii=False)


def assert_unreadable(services: IdentityServices, tenant_id: str, secrets: Iterable[str]) -> None:
    """Assert that no column of the tenant and no SQLite file, the journal included, contains a secret."""
    secrets = set(secrets)
    assert {secret: where for secret in secrets if (where := columns_containing(services, tenant_id, secret))} == {}
    if services.database.is_sqlite:
        file = Path(make_url(services.database.url).database or "")
        raw = b"".join(path.read_bytes() for path in file.parent.glob(f"{file.name}*"))
        assert tenant_id.encode() in raw
        assert [secret for secret in secrets if len(secret) > 20 and secret.encode() in raw] == []


@pytest.mark.database_alone
def test_links_and_codes_in_the_outbox_are_unreadable(
    services: IdentityServices, new_tenant_server: NewTenantServer
) -> None:
    customer = a_customer(new_tenant_server, phone_login=True, email_verification_codes=True)
    tenant = customer.tenant
    answered(register(tenant, "bob@example.test"))
    answered(customer.forgot())
    answered(customer.ask("POST", {"phone": customer.phone}, path=BY_SMS))
    mails = sent_messages(services, tenant.tenant_id)
    tokens = {token_in(mail) for mail in mails}
    sent = tokens | {code_in(mail) for mail in (*mails, *sent_messages(services, tenant.tenant_id, "sms"))}
    assert (len(mails), len(tokens), len(sent)) == (2, 2, 5)
    assert_unreadable(services, tenant.tenant_id, sent)
    with mailbox() as server:
        server.refusals = [f"550 spam: {mail['text'].splitlines()}" for mail in mails]
        while worker_of(services, f"smtp://127.0.0.1:{server.port}").deliver_due():
            pass
        assert server.refusals == []
    assert_unreadable(services, tenant.tenant_id, sent)


def test_tokens_and_cookies_of_a_sign_in_are_unreadable(
    services: IdentityServices, new_world: NewWorld, new_visitor_at: NewVisitorAt
) -> None:
    world = new_world(reset_password_codes=True)
    visitor, ada, shop = new_visitor_at(world), world.person("ada@example.com"), world.application("shop")
    page = visitor.authorize(shop).follow("Forgot password?").press("Send reset link", identifier=ada.email)
    (mail,) = mails_to(services, world.tenant_id, ada.email)
    callback = page.press("Verify", code=code_in(mail)).press("Save password", password=NEW)
    tokens = shop.redeem(callback.query["code"]).json or {}
    token_values = {tokens[name] for name in ("access_token", "refresh_token", "id_token")}
    cookies = {cookie.value for cookie in (visitor.client._cookies or {}).values() if len(cookie.value) > 20}
    assert cookies
    assert_unreadable(
        services, world.tenant_id, {token_in(mail), code_in(mail), callback.query["code"], NEW, *token_values, *cookies}
    )
