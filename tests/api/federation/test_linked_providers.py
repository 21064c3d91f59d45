"""Responses to servers and emails list the providers that an account signs in with."""

from __future__ import annotations

from typing import Any

import pytest

from app.contract.messages.models import MailTemplate
from tests.support.accounts.mailbox import sent_messages
from tests.support.accounts.social_accounts import CONNECTIONS, linked_to, new_identity, without_password
from tests.support.tenants.message_templates import add_templates
from tests.support.tenants.tenant_server import MANAGE, NewTenantServer, TenantServer, answered

TOKENS: dict[str, dict[str, Any]] = {
    "forgot/token": {},
    "emailtoken/forgotpassword": {},
    "emailtoken/passwordlesslogin": {},
    "emailtoken/deleteuser": {},
}
"""Operations that return a token with the providers, and what their bodies have beside the account."""


@pytest.fixture
def tenant(new_tenant_server: NewTenantServer) -> TenantServer:
    return new_tenant_server(connections=CONNECTIONS, passwordless_email=True)


def named(tenant: TenantServer, operation: str, **account: str) -> list[str]:
    body = {**TOKENS[operation], **account}
    found: list[str] = answered(tenant.send("POST", f"{MANAGE}/{operation}", body))["IdentityProviders"]
    return found


def test_token_lists_linked_providers(tenant: TenantServer, subtests: pytest.Subtests) -> None:
    email = f"{tenant.name}@example.test"
    uid = without_password(tenant, new_identity("google"), email=email)
    assert named(tenant, "forgot/token", email=email) == ["google"]
    linked_to(tenant, uid, new_identity("github"))
    linked_to(tenant, uid, new_identity("google"))
    for operation in TOKENS:
        with subtests.test(operation):
            account = {"uid": uid} if operation.endswith("deleteuser") else {"email": email}
            assert named(tenant, operation, **account) == ["google", "github"]


def test_token_of_account_with_password_lists_both(tenant: TenantServer) -> None:
    email = f"b{tenant.name}@example.test"
    made = tenant.create(Email=[{"Type": "Primary", "Value": email}])
    assert named(tenant, "forgot/token", email=email) == ["Email"]
    linked_to(tenant, made["Uid"], new_identity("github"))
    assert named(tenant, "forgot/token", email=email) == ["Email", "github"]


def test_reset_mail_names_linked_providers(tenant: TenantServer) -> None:
    html = "<p>#Url#</p>#FProv<p>You sign in with #Providers#.</p>FProv#"
    template = {"type": "forgotpassword", "subject": "Reset", "html": html}
    add_templates(tenant, MailTemplate.model_validate(template))
    email = f"c{tenant.name}@example.test"
    made = tenant.create(Email=[{"Type": "Primary", "Value": email}])
    sends: dict[str, Any] = {"sendemail": "true"}
    answered(tenant.send("POST", f"{MANAGE}/forgot/token", {"email": email}, **sends))
    assert "You sign in with" not in str(sent_messages(tenant.services, tenant.tenant_id)[-1])
    linked_to(tenant, made["Uid"], new_identity("google"))
    linked_to(tenant, made["Uid"], new_identity("github"))
    answered(tenant.send("POST", f"{MANAGE}/forgot/token", {"email": email}, **sends))
    assert "You sign in with Google, GitHub." in str(sent_messages(tenant.services, tenant.tenant_id)[-1])
