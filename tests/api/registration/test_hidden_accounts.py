"""Registration with `hide_unknown_accounts`: taken and free addresses get the same response."""

from __future__ import annotations

from typing import Any

import pytest

from app.identity.directory.accounts.tables import accounts
from app.identity.platform.store.unit_of_work import UnitOfWork
from tests.support.accounts.mailbox import link_in, links_in, mails_to, token_in
from tests.support.accounts.registering import ADA, UNLIMITED, primary, register
from tests.support.tenants.tenant_server import NewTenantServer, TenantServer, refused

VERIFY = "/identity/v2/auth/email"


@pytest.fixture
def acme(new_tenant_server: NewTenantServer) -> TenantServer:
    return new_tenant_server(limits=UNLIMITED, hide_unknown_accounts=True)


def account_count(acme: TenantServer) -> int:
    work = UnitOfWork(acme.services.database, acme.tenant_id)
    try:
        return len(work.all(accounts.select().where(accounts.c.tenant_id == acme.tenant_id)))
    finally:
        work.rollback()


def mails(acme: TenantServer, to: str = ADA) -> list[dict[str, Any]]:
    return mails_to(acme.services, acme.tenant_id, to)


def test_taken_address_gets_same_response_as_free_one(acme: TenantServer) -> None:
    acme.create(Email=primary(ADA), EmailVerified=True)
    taken, free = register(acme), register(acme, "free@example.test")
    assert (taken.status_code, taken.get_json()) == (free.status_code, free.get_json())
    assert taken.headers["X-Gatehouse-Cost"].split("hashes=")[1][0] == "1"
    assert account_count(acme) == 2
    assert not links_in(mails(acme)[-1])


@pytest.mark.both_databases
def test_verification_link_of_other_tenant_is_refused(acme: TenantServer, new_tenant_server: NewTenantServer) -> None:
    register(acme)
    other = new_tenant_server(limits=UNLIMITED)
    answer = other.send("GET", VERIFY, with_secret=False, verificationtoken=token_in(mails(acme)[-1]))
    assert refused(answer) == (403, 1063)


def test_verification_mail_links_to_requested_page(new_tenant_server: NewTenantServer) -> None:
    acme = new_tenant_server(limits=UNLIMITED, url_whitelist=["https://shop.example"])
    register(acme, query={"verificationurl": "https://shop.example/welcome?x=1"})
    link = link_in(mails(acme)[-1])
    assert link.startswith("https://shop.example/welcome?x=1&vtype=emailverification&vtoken=")


def test_prevent_option_suppresses_verification_mail(acme: TenantServer) -> None:
    register(acme, query={"options": "preventverificationemail,preventverificationsms"})
    assert mails(acme) == []


def test_disabled_verification_sends_no_mail(new_tenant_server: NewTenantServer) -> None:
    acme = new_tenant_server(limits=UNLIMITED, email_verification="disabled")
    register(acme)
    assert mails(acme) == []


@pytest.mark.both_databases
def test_second_registration_with_pending_uid_is_refused(new_tenant_server: NewTenantServer) -> None:
    acme = new_tenant_server(limits=UNLIMITED, hide_unknown_accounts=True, custom_uid=True)
    assert [register(acme, Uid=uid).status_code for uid in ("first", "second")] == [200, 200]
    assert refused(register(acme, Uid="second")) == (403, 1044)
    assert link_in(mails(acme)[-1])
