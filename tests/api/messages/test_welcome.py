"""The welcome email names what the account signs in with on the pages."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.accounts.mailbox import mails_to
from tests.support.fakes.identity_provider import ADA, FakeProvider
from tests.support.fakes.native_apps import an_app
from tests.support.services.identity_service import on_one_database
from tests.support.tenants.tenant_server import NewTenantServer, TenantServer, answered

pytestmark = on_one_database
EMAIL, NUMBER = "ada@example.test", "+442079460123"
ACCOUNT: dict[str, Any] = {
    "Email": [{"Type": "Primary", "Value": EMAIL}], "EmailVerified": True, "UserName": "countess", "PhoneId": NUMBER,
    "PhoneIdVerified": True,
}  # fmt: skip


def welcome(tenant: TenantServer, **members: Any) -> str:
    """Create an account and return the text of its welcome."""
    uid = str(tenant.create(**{**ACCOUNT, **members})["Uid"])
    bearer = str(tenant.tokens(uid)["access_token"])
    answered(tenant.send("GET", "/identity/v2/auth/account/sendwelcomeemail", bearer=bearer))
    return plain(mails_to(tenant.services, tenant.tenant_id, EMAIL)[-1])


def plain(mail: dict[str, Any]) -> str:
    """Return the text of a mail, without the characters that keep a name from becoming a link."""
    return "".join(letter for letter in str(mail["text"]) if letter.isprintable() or letter == "\n").replace(
        "\u2060", ""
    )


@pytest.mark.parametrize(
    ("settings", "members", "name"),
    [
        ({}, {}, EMAIL),
        ({"username_login": True}, {}, "countess"),
        ({"phone_login": True}, {}, NUMBER),
        ({"username_login": True, "phone_login": True, "email_login": False}, {}, "countess"),
        ({"username_login": True, "phone_login": True, "email_login": False}, {"UserName": None}, NUMBER),
        ({"username_login": True, "email_login": True}, {}, EMAIL),
    ],
    ids=str,
)
def test_welcome_names_what_pages_take(
    new_tenant_server: NewTenantServer, settings: dict[str, Any], members: dict[str, Any], name: str
) -> None:
    text = welcome(new_tenant_server(**settings), **members)
    assert f"Sign in with {name}." in text, text


@pytest.mark.parametrize("settings", [{}, {"username_login": True}], ids=["email", "username"])
def test_welcome_after_a_providers_sign_in_names_the_provider(
    new_tenant_server: NewTenantServer, fake_provider: FakeProvider, settings: dict[str, Any]
) -> None:
    app = an_app(new_tenant_server, fake_provider, **settings)
    app.changes("google", trusts_email=True)
    answered(app.ask("google", google_access_token=app.upstream.access_token()))
    text = plain(mails_to(app.tenant.services, app.tenant.tenant_id, ADA["email"])[-1])
    assert "Sign in with Google." in text, text


def test_username_in_the_welcome_is_no_link(new_tenant_server: NewTenantServer) -> None:
    tenant = new_tenant_server(username_login=True)
    welcome(tenant, UserName="www.evil.example")
    mail = mails_to(tenant.services, tenant.tenant_id, EMAIL)[-1]
    assert "www.evil.example" not in mail["text"] + mail["html"]
