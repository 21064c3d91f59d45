"""What a message about a forgotten password contains."""

from __future__ import annotations

import re
from typing import Any

import pytest

from app.contract.messages.models import MailTemplate
from app.identity.directory.accounts import account_store
from tests.support.accounts.customers import NEW, Customer, a_customer
from tests.support.accounts.mailbox import links_in, token_in
from tests.support.accounts.social_accounts import doing
from tests.support.tenants.message_templates import add_templates
from tests.support.tenants.tenant_server import NewTenantServer, answered, refused


def codes_in(mail: dict[str, Any]) -> list[str]:
    return re.findall(
        r"(?<![0-9A-Za-z#])[0-9]{6}(?![0-9A-Za-z])", f"{mail['text']} {re.sub('<[^>]+>', ' ', mail['html'])}"
    )


def of_identity_alone(make: NewTenantServer, **settings: Any) -> Customer:
    """Return a customer who signs in by a provider alone."""
    ada = a_customer(make, **settings)
    with doing(ada.tenant) as call:
        account_store.change(call, ada.uid, {"password_hash": None})
    return ada


@pytest.mark.parametrize("has_template", [False, True])
def test_mail_of_account_without_password_has_the_link_alone(
    new_tenant_server: NewTenantServer, has_template: bool
) -> None:
    ada = of_identity_alone(new_tenant_server)
    if has_template:
        html = '<p><a href="#Url#">Go</a> or #OTP#</p>'
        add_templates(
            ada.tenant, MailTemplate.model_validate({"type": "forgotpassword", "subject": "Own", "html": html})
        )
    mail = ada.mail()
    assert links_in(mail)
    assert codes_in(mail) == []
    assert refused(ada.reset(email=ada.email, otp="123456", password=NEW)) == (403, 1039)
    answered(ada.reset(resettoken=token_in(mail), password=NEW))
    answered(ada.logs_in(NEW))
    assert codes_in(ada.mail()), "with a password there is a code again"


def test_code_template_without_a_password_is_not_used(new_tenant_server: NewTenantServer) -> None:
    ada = of_identity_alone(new_tenant_server)
    template = {"type": "forgotpassword", "subject": "Own", "html": "<p>#OTP#</p>"}
    add_templates(ada.tenant, MailTemplate.model_validate(template))
    mail = ada.mail()
    assert mail["subject"] != "Own"
    answered(ada.reset(resettoken=token_in(mail), password=NEW))
    assert ada.mail()["subject"] == "Own"
