"""Two pending registrations with one email: no operation verifies it; only our page does, which asks for a password."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

import pytest
from flask import Flask

from tests.support.accounts.mailbox import code_in, link_in, mails_to, token_in
from tests.support.accounts.registering import ADA, REGISTER, UNLIMITED, register
from tests.support.tenants.tenant_server import MANAGE, NewTenantServer, TenantServer, answered, refused
from tests.support.visitors.plain_client import PlainClient
from tests.support.visitors.visitor import VisitedPage, Visitor

pytestmark = pytest.mark.both_databases

VERIFY, LOGIN, SHOP = "/identity/v2/auth/email", "/identity/v2/auth/login", "https://shop.example/verify"
OWNERS, ATTACKERS = "Teapot-zebra-17", "Kettle-zebra-91"
ORDERS = pytest.mark.parametrize(
    "order", [(OWNERS, ATTACKERS), (ATTACKERS, OWNERS)], ids=["owner first", "attacker first"]
)


class Contest:
    """The owner and an attacker both registered through the API; all mails are in the owner's mailbox."""

    def __init__(self, tenant: TenantServer, hub: Flask, order: tuple[str, ...]) -> None:
        self.tenant, self.hub, self.order = tenant, hub, order
        for password in order:
            answered(register(tenant, Password=password, query={"verificationurl": SHOP}))

    @property
    def mails(self) -> list[dict[str, Any]]:
        return mails_to(self.tenant.services, self.tenant.tenant_id, ADA)

    def mail_of(self, password: str) -> dict[str, Any]:
        return self.mails[self.order.index(password)]

    def ask(self, method: str, path: str, body: Any = None, **query: Any) -> Any:
        return self.tenant.send(method, path, body, with_secret=False, **query)

    def verify_code(self, code: str) -> Any:
        return self.ask("PUT", VERIFY, {"email": ADA, "otp": code})

    def signed_in(self) -> dict[str, int]:
        return {word: self.ask("POST", LOGIN, {"email": ADA, "password": word}).status_code for word in self.order}

    def opens(self, link: str) -> VisitedPage:
        visitor = Visitor(PlainClient(self.hub), self.tenant.services.settings.hub_url(self.tenant.name))
        return visitor.open("{0.path}?{0.query}".format(urlsplit(link))).press("Verify")

    @property
    def is_verified(self) -> bool:
        stored = answered(self.tenant.send("GET", MANAGE, email=ADA))
        return bool(stored["EmailVerified"])


@pytest.fixture
def tenant(new_tenant_server: NewTenantServer) -> TenantServer:
    open_ = UNLIMITED | {"sign_in_per_minute_per_address": 0}
    return new_tenant_server(
        limits=open_, hide_unknown_accounts=True, email_verification_codes=True, url_whitelist=["https://shop.example"]
    )


@ORDERS
def test_link_does_not_verify_contested_email(tenant: TenantServer, hub_app: Flask, order: tuple[str, ...]) -> None:
    contest = Contest(tenant, hub_app, order)
    for mail in contest.mails:
        for _ in range(2):
            assert refused(contest.ask("GET", VERIFY, verificationtoken=token_in(mail))) == (403, 979)
    assert not contest.is_verified
    assert set(contest.signed_in().values()) == {401}


@ORDERS
def test_code_does_not_verify_contested_email(tenant: TenantServer, hub_app: Flask, order: tuple[str, ...]) -> None:
    """The first mail has a code because only one registration existed; later mails have none."""
    contest = Contest(tenant, hub_app, order)
    first, second = contest.mails
    assert refused(contest.verify_code(code_in(first))) == (403, 1188)
    assert refused(contest.ask("GET", VERIFY, email=ADA, otp=code_in(first))) == (403, 1188)
    with pytest.raises(IndexError):
        code_in(second)
    named = answered(contest.ask("PUT", REGISTER, {"email": ADA}))["UUID"]
    assert refused(contest.ask("PUT", VERIFY, {"uuid": named, "otp": "000000"})) == (403, 1185)
    assert not contest.is_verified


@ORDERS
def test_owner_claims_email_on_page_with_password(tenant: TenantServer, hub_app: Flask, order: tuple[str, ...]) -> None:
    """The first registration's mail links to the relying party; a new mail links to our page."""
    contest = Contest(tenant, hub_app, order)
    link = link_in(contest.mail_of(OWNERS))
    if order[0] == OWNERS:
        assert link.startswith(SHOP)
        answered(contest.ask("PUT", REGISTER, {"email": ADA}, verificationurl=SHOP))
        link = link_in(contest.mails[-1])
    assert link.startswith(tenant.services.settings.hub_url(tenant.name))
    page = contest.opens(link)
    assert page.heading == "Verify your email"
    assert page.press("Verify", password=ATTACKERS).status == 401
    assert not contest.is_verified
    page.press("Verify", password=OWNERS)
    assert contest.signed_in() == {OWNERS: 200, ATTACKERS: 401}


@ORDERS
def test_attackers_link_needs_attackers_password(tenant: TenantServer, hub_app: Flask, order: tuple[str, ...]) -> None:
    contest = Contest(tenant, hub_app, order)
    token = token_in(contest.mail_of(ATTACKERS))
    page = contest.opens(f"/verify?vtype=emailverification&vtoken={token}")
    assert page.press("Verify", password=OWNERS).status == 401
    assert not contest.is_verified


def test_operation_verifies_again_after_claim(tenant: TenantServer, hub_app: Flask) -> None:
    """The owner registered first; the other pending account is removed."""
    contest = Contest(tenant, hub_app, (OWNERS, ATTACKERS))
    token = token_in(contest.mail_of(OWNERS))
    contest.opens(f"/verify?vtoken={token}").press("Verify", password=OWNERS)
    stored = answered(tenant.send("GET", MANAGE, email=ADA))
    tenant.update(stored["Uid"], {"EmailVerified": False})
    answered(contest.ask("PUT", REGISTER, {"email": ADA}, verificationurl=SHOP))
    assert link_in(contest.mails[-1]).startswith(SHOP)
    answered(contest.ask("GET", VERIFY, verificationtoken=token_in(contest.mails[-1])))
    assert contest.signed_in() == {OWNERS: 200, ATTACKERS: 401}
