"""Management of a tenant's mail and text message templates."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from werkzeug.test import TestResponse

from app.contract.messages.models import MailTemplate
from tests.support.accounts.customers import a_customer
from tests.support.tenants.machines import ask, machine
from tests.support.tenants.message_templates import add_templates
from tests.support.tenants.tenant_server import NewTenantServer, TenantServer, answered, refused

MAILS, SMS = "/v2/manage/email-templates", "/v2/manage/sms-templates"
MAIL = {"TemplateType": "forgotpassword", "Subject": "Own", "Template": '<p><a href="#Url#">Go</a></p>'}
TEXT = {"SmsTemplateType": "verification", "Name": "short", "Template": "#OTP# at #TenantName#"}


class TemplateManager:
    """A machine client with these scopes, by default all."""

    def __init__(self, tenant: TenantServer, *scopes: str) -> None:
        self.tenant = tenant
        self.token = machine(tenant, *(scopes or ["all"]))

    def __call__(self, method: str, path: str, body: Any = None) -> TestResponse:
        return ask(self.tenant, self.token, method, path, body)


def test_mail_template_is_created_read_changed_sent_and_deleted(new_tenant_server: NewTenantServer) -> None:
    ada = a_customer(new_tenant_server)
    manage = TemplateManager(ada.tenant)
    made = answered(manage("POST", MAILS, MAIL))
    assert (made["TemplateName"], made["VerificationTokenType"], made["IsActive"]) == (
        "forgotpassword-default",
        "link",
        True,
    )
    assert (
        answered(manage("GET", f"{MAILS}/ForgotPassword"))["Data"] == answered(manage("GET", MAILS))["Data"] == [made]
    )
    assert ada.mail()["subject"] == "Own"
    changed = {**MAIL, "TemplateName": made["TemplateName"], "Subject": "Other", "Template": "<p>#OTP#</p>"}
    assert answered(manage("PUT", f"{MAILS}/forgotpassword", changed))["VerificationTokenType"] == "Otp"
    assert ada.mail()["subject"] == "Other"
    by_name = {"TemplateName": made["TemplateName"]}
    assert answered(manage("DELETE", f"{MAILS}/forgotpassword", by_name)) == {"IsDeleted": True}
    assert ada.mail()["subject"].startswith("Reset your")
    assert refused(manage("DELETE", f"{MAILS}/forgotpassword", by_name)) == (404, 7923)


@pytest.mark.both_databases("first")
@pytest.mark.parametrize("path", [SMS, "/v2/manage/smstemplates"])
def test_sms_template_is_created_read_changed_and_deleted(acme: TenantServer, path: str) -> None:
    manage = TemplateManager(acme)
    assert refused(manage("GET", path)) == (404, 7954)
    assert answered(manage("POST", path, TEXT)) == TEXT
    assert refused(manage("POST", path, TEXT)) == (409, 7955)
    assert answered(manage("GET", f"{path}/verification"))["Data"] == [TEXT]
    other = {"Name": "short", "Template": "#OTP#"}
    assert answered(manage("PUT", f"{path}/verification", other))["Template"] == "#OTP#"
    assert refused(manage("PUT", f"{path}/welcome", {"Name": "short", "Template": "Hi"})) == (404, 7954)
    assert answered(manage("DELETE", f"{path}/verification", {"Name": "short"})) == {"IsDeleted": True}


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ({"TemplateType": "nothing"}, (400, 8099)),
        ({"TemplateType": "forgotprovider"}, (404, 7922)),
        ({"Template": "<script>#Url#</script>"}, (400, 7900)),
        ({"Template": "<p>no link</p>"}, (400, 7900)),
        ({"Template": "<p>#Nmae# #Url#</p>"}, (400, 7900)),
        ({"Subject": "a\nBcc: eve@example.com"}, (400, 7900)),
        ({"TemplateName": "a b"}, (400, 7900)),
        ({"VerificationTokenType": "Otp"}, (400, 7900)),
        ({"FromEmail": "boss@bank.example"}, (400, 7900)),
        ({"Template": "x" * 100_001}, (400, 7900)),
        ({"Template": None}, (400, 7900)),
    ],
)
def test_invalid_template_is_refused_and_named(
    acme: TenantServer, body: dict[str, Any], error: tuple[int, int]
) -> None:
    manage = TemplateManager(acme)
    answer = manage("POST", MAILS, {**MAIL, **body})
    assert refused(answer) == error
    if error[1] == 7900:
        assert next(iter(body)) in answer.get_json()["Description"] or "Template" in answer.get_json()["Description"]
    assert refused(manage("GET", MAILS)) == (404, 7922)


def test_all_problems_of_a_template_are_named_at_once(acme: TenantServer) -> None:
    html = "<script>a</script>\n<p>#Nmae# #Url#</p>\n<link rel='x'>"
    answer = TemplateManager(acme)("POST", MAILS, {**MAIL, "Subject": "#Url#", "Template": html})
    assert refused(answer) == (400, 7900)
    description = answer.get_json()["Description"]
    for found in (
        "Subject: expected no #Url#",
        "found #Nmae#",
        "found <script> (in its line 1)",
        "found <link> (in its line 3)",
    ):
        assert found in description


@pytest.mark.parametrize("path", [MAILS, SMS])
def test_unknown_template_type_is_refused(acme: TenantServer, path: str) -> None:
    error = (400, 8099) if path == MAILS else (400, 7959)
    assert refused(TemplateManager(acme)("GET", f"{path}/nothing")) == error


def test_each_template_operation_requires_its_scope(acme: TenantServer) -> None:
    reader = TemplateManager(acme, "template:read")
    answered(TemplateManager(acme)("POST", MAILS, MAIL))
    answered(reader("GET", MAILS))
    name = {"TemplateName": "forgotpassword-default"}
    for method, path, body in (
        ("POST", MAILS, {**MAIL, "TemplateName": "x"}),
        ("PUT", f"{MAILS}/forgotpassword", {**MAIL, **name}),
        ("DELETE", f"{MAILS}/forgotpassword", name),
    ):
        assert refused(reader(method, path, body)) == (403, 6002)
    assert acme.send("GET", MAILS).status_code == 403  # key and secret are not enough


@pytest.mark.both_databases
def test_templates_of_another_tenant_are_not_found(acme: TenantServer, globex: TenantServer) -> None:
    answered(TemplateManager(acme)("POST", MAILS, MAIL))
    other = TemplateManager(globex)
    assert refused(other("GET", MAILS)) == (404, 7922)
    body = {**MAIL, "TemplateName": "forgotpassword-default"}
    assert refused(other("PUT", f"{MAILS}/forgotpassword", body)) == (404, 7923)
    assert len(answered(TemplateManager(acme)("GET", MAILS))["Data"]) == 1


@pytest.mark.both_databases
def test_parallel_creation_of_one_template_succeeds_once(acme: TenantServer) -> None:
    manage = TemplateManager(acme)
    with ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(lambda _: manage("POST", MAILS, MAIL).status_code, range(16)))
    assert sorted(answers) == [200] + [409] * 15


LISTED = {"sending": {"from_domains": ["mail.acme.example"]}}


def test_sender_at_a_listed_domain_is_used(new_tenant_server: NewTenantServer) -> None:
    ada = a_customer(new_tenant_server, **LISTED)
    body = {**MAIL, "FromEmail": "hello@Mail.Acme.example"}
    assert answered(TemplateManager(ada.tenant)("POST", MAILS, body))["FromEmail"] == "hello@Mail.Acme.example"
    assert ada.mail()["from_email"] == "hello@Mail.Acme.example"


@pytest.mark.parametrize("address", ["a@acme.example", "a@sub.mail.acme.example", "a@mail.acme.example.evil.example"])
def test_sender_at_another_domain_is_refused(new_tenant_server: NewTenantServer, address: str) -> None:
    manage = TemplateManager(new_tenant_server(**LISTED))
    answer = manage("POST", MAILS, {**MAIL, "FromEmail": address})
    assert refused(answer) == (400, 7900)
    assert "FromEmail" in answer.get_json()["Description"]


@pytest.mark.parametrize(
    "address",
    [
        "mail.acme.example",
        "a b@mail.acme.example",
        "a,b@mail.acme.example",
        "a@b@mail.acme.example",
        "<a@mail.acme.example>",
    ],
)
def test_malformed_sender_is_refused(new_tenant_server: NewTenantServer, address: str) -> None:
    assert refused(TemplateManager(new_tenant_server(**LISTED))("POST", MAILS, {**MAIL, "FromEmail": address})) == (
        400,
        7900,
    )


def test_sender_of_a_domain_no_longer_listed_is_not_used(new_tenant_server: NewTenantServer) -> None:
    ada = a_customer(new_tenant_server)
    html, sender = MAIL["Template"], "hello@mail.acme.example"
    stored = {"type": "forgotpassword", "subject": "Own", "html": html, "from_email": sender}
    add_templates(ada.tenant, MailTemplate.model_validate(stored))
    sent = ada.mail()
    assert sent["subject"] == "Own"
    assert "from_email" not in sent


def test_installations_own_sender_is_the_default(acme: TenantServer) -> None:
    sender = acme.services.settings.mail_sender
    manage = TemplateManager(acme)
    assert answered(manage("POST", MAILS, {**MAIL, "FromEmail": sender}))["FromEmail"] == sender
    name = {"TemplateName": "forgotpassword-default"}
    assert answered(manage("PUT", f"{MAILS}/forgotpassword", {**MAIL, **name, "FromEmail": ""}))["FromEmail"] == sender
