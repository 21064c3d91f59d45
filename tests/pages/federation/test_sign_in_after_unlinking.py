"""An identity is unlinked exactly where its account gets in without it: by a password, or by a reset of one."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask
from werkzeug.test import Client as WsgiClient

from app.identity.directory.accounts import account_store
from app.identity.directory.accounts.identifiers import EMAIL
from tests.support.accounts import social_accounts
from tests.support.accounts.customers import NEW, UNLIMITED
from tests.support.accounts.mailbox import code_in, links_in, path_of, sent_messages
from tests.support.accounts.social_accounts import SOCIAL, doing
from tests.support.oauth.world import World
from tests.support.services.identity_service import on_one_database
from tests.support.tenants.tenant_server import PASSWORD, NewTenantServer, TenantServer
from tests.support.visitors.visitor import Forms, NewVisitorAt, VisitedPage, Visitor

TENANTS: dict[str, dict[str, Any]] = {
    "email": {},
    "username alone": {"username_login": True},
    "phone alone": {"phone_login": True},
    "username and phone": {"username_login": True, "phone_login": True, "email_login": False},
    "email and username": {"email_login": True, "username_login": True},
    "email and phone": {"email_login": True, "phone_login": True},
    "all": {"email_login": True, "username_login": True, "phone_login": True},
}
ACCOUNTS: dict[str, tuple[str, ...]] = {
    "a verified email": ("email",),
    "an unverified email": ("unverified",),
    "a username": ("username",),
    "a verified number": ("phone",),
    "an email and a username": ("email", "username"),
    "an unverified email and a username": ("unverified", "username"),
    "an email and a number": ("email", "phone"),
    "a username and a number": ("username", "phone"),
    "nothing": (),
}


class LinkedAccount:
    """An account with one identity, what else it has, and its owner's browser."""

    def __init__(self, tenant: TenantServer, names: tuple[str, ...], *, has_password: bool) -> None:
        self.tenant, self.identity = tenant, social_accounts.new_identity()
        email, username = f"{secrets.token_hex(5)}@example.test", f"u{secrets.token_hex(5)}"
        phone = f"+4420794{secrets.randbelow(90_000) + 10_000}"
        body: dict[str, Any] = {"Email": [{"Type": "Primary", "Value": email}], "EmailVerified": "email" in names}
        body |= {"UserName": username} if "username" in names else {}
        body |= {"PhoneId": phone, "PhoneIdVerified": True} if "phone" in names else {}
        self.uid = str(tenant.create(**body)["Uid"])
        has_email = bool({"email", "unverified"} & {*names})
        with doing(tenant) as call:
            if not has_email:
                account_store.remove_identifiers(call, self.uid, EMAIL)
                account_store.change(call, self.uid, {"email": None, "emails": []})
            if not has_password:
                account_store.change(call, self.uid, {"password_hash": None})
        own = {"email": email if has_email else "", "username": body.get("UserName"), "phone": body.get("PhoneId")}
        self.names = {kind: value for kind, value in own.items() if value}
        self.reached_at = {email, phone} if "unverified" not in names else {phone}
        """Where a message reaches the owner: an unverified address may be another person's."""
        social_accounts.linked_to(tenant, self.uid, self.identity)

    def unlinks(self) -> bool:
        body = {"provider": self.identity.provider, "providerid": self.identity.subject}
        bearer = str(self.tenant.tokens(self.uid)["access_token"])
        return self.tenant.send("DELETE", "/identity/v2/auth/socialidentity", body, bearer=bearer).status_code == 200

    def gets_in(self, browser: Callable[[], Visitor]) -> bool:
        if any(self._signs_in(browser(), name, PASSWORD) for name in self.names.values()):
            return True
        is_reset = any(self._resets(browser(), name) for name in self.names.values())
        return is_reset and any(self._signs_in(browser(), name, NEW) for name in self.names.values())

    def _signs_in(self, visitor: Visitor, name: str, password: str) -> bool:
        visitor.open("/login").press("Sign in", identifier=name, password=password)
        return not visitor.open("/profile").is_sign_in

    def _resets(self, visitor: Visitor, name: str) -> bool:
        """Set a password on the pages by a message to the owner."""
        page, before = visitor.open("/forgot-password"), self._messages()
        page = page.press(*_buttons_beside(page, "identifier"), identifier=name)
        if not (new := self._messages()[len(before) :]) or new[-1]["to"] not in self.reached_at:
            return False
        links = links_in(new[-1])
        page = visitor.open(path_of(links[0])) if links else page.press("Verify", code=code_in(new[-1]))
        page.press("Save password", password=NEW)
        return True

    def _messages(self) -> list[dict[str, Any]]:
        services, tenant_id = self.tenant.services, self.tenant.tenant_id
        return [*sent_messages(services, tenant_id), *sent_messages(services, tenant_id, "sms")]


def _buttons_beside(page: VisitedPage, field: str) -> list[str]:
    return next([*form.buttons][:1] for form in Forms(page.html).found if field in form.fields)


@on_one_database
@pytest.mark.parametrize("account", ACCOUNTS)
@pytest.mark.parametrize("tenant", TENANTS)
@pytest.mark.parametrize("has_password", [False, True], ids=["without password", "with password"])
def test_identity_is_unlinked_where_the_account_gets_in(
    new_tenant_server: NewTenantServer,
    identity_app: Flask,
    new_visitor_at: NewVisitorAt,
    tenant: str,
    account: str,
    *,
    has_password: bool,
) -> None:
    made = new_tenant_server(**SOCIAL, **TENANTS[tenant], email_verification="optional", limits=UNLIMITED)
    world = World(made.services, WsgiClient(identity_app), made.tenant_id, made.name, made.api_key)
    who = LinkedAccount(made, ACCOUNTS[account], has_password=has_password)
    assert who.unlinks() is who.gets_in(lambda: new_visitor_at(world))
