"""A tenant's message templates: choice by name and language, placeholders, and the fallback to the built-in ones."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import update

from app.contract.messages.models import MailTemplate, TextMessageTemplate
from app.identity.directory.tenants import tenant_writes
from app.identity.messaging.tenant_templates.template_store import template_table
from app.identity.platform.store.unit_of_work import UnitOfWork
from tests.support.accounts.customers import NEW, PATH, Customer, a_customer
from tests.support.accounts.mailbox import code_in, link_in, links_in, sent_messages, token_in
from tests.support.tenants.audit_entries import entries_of
from tests.support.tenants.message_templates import add_templates
from tests.support.tenants.tenant_server import MANAGE, NewTenantServer, TenantServer, answered, refused


def reset_mail(name: str | None, html: str, subject: str = "Own", **more: Any) -> MailTemplate:
    return MailTemplate.model_validate(
        {"type": "forgotpassword", "subject": subject, "html": html, **({"name": name} if name else {}), **more}
    )


@pytest.fixture
def ada(new_tenant_server: NewTenantServer) -> Customer:
    limits = {"mails_by_type": {"forgotpassword": {"amount": 0, "minutes": 1}}}
    return a_customer(new_tenant_server, sending=limits)


def test_named_template_is_used_and_unknown_name_uses_default(ada: Customer) -> None:
    assert "Own" not in ada.mail()["subject"]
    add_templates(
        ada.tenant, reset_mail("spring", "<p>#Url#</p>", "Spring"), reset_mail(None, "<p>#Url#</p>", "Default")
    )
    subjects = {"spring": "Spring", "autumn": "Default", "": "Default", "forgotpassword-default": "Default"}
    for name, subject in subjects.items():
        answered(ada.forgot(emailtemplate=name))
        assert ada.mails()[-1]["subject"] == subject
    assert ada.mail()["subject"] == "Default"


@pytest.mark.both_databases
def test_template_of_another_tenant_or_kind_is_not_used(ada: Customer, acme: TenantServer) -> None:
    add_templates(acme, reset_mail("spring", "<p>#Url#</p>", "Theirs"))
    add_templates(ada.tenant, MailTemplate(type="welcome", name="spring", subject="Welcome?", html="<p>x</p>"))  # type: ignore[arg-type]  # by its name
    answered(ada.forgot(emailtemplate="spring"))
    assert ada.mails()[-1]["subject"].startswith("Reset your")


def test_inactive_template_is_not_used(ada: Customer) -> None:
    add_templates(ada.tenant, reset_mail(None, "<p>#Url#</p>", "Own", is_active=False))
    assert ada.mail()["subject"].startswith("Reset your")


@pytest.mark.parametrize(
    ("language", "subject", "locale"),
    [("de", "Deutsch", "de"), ("ar", "English", "en"), ("en", "English", "en"), (None, "English", "en")],
)
def test_template_follows_account_locale_then_tenant_locale(
    ada: Customer, language: str | None, subject: str, locale: str
) -> None:
    add_templates(
        ada.tenant,
        reset_mail(None, "<p>#Url#</p>", "Plain"),
        reset_mail("forgotpassword-default-en", "<p>#Url#</p>", "English"),
        reset_mail("forgotpassword-default-de", "<p>#Url# #LinkExpiry#</p>", "Deutsch"),
    )
    if language:
        ada.tenant.update(ada.uid, {"LocalLanguage": language})
    mail = ada.mail()
    assert (mail["subject"], mail["language"]) == (subject, locale)
    assert ("24 Stunden" in mail["text"]) == (language == "de")


@pytest.mark.both_databases
def test_placeholders_decide_between_link_and_code(ada: Customer) -> None:
    add_templates(ada.tenant, reset_mail("code", "<p>#OTP#</p>"), reset_mail("link", "<p>#Url#</p>"))
    before = ada.mail()
    token, code = token_in(before), code_in(before)
    answered(ada.forgot(emailtemplate="code"))
    mail = ada.mails()[-1]
    assert "http" not in mail["text"] + mail["html"].partition("<body")[2]
    assert refused(ada.reset(resettoken=token, password=NEW))[1] == 975  # the code replaced the older link
    assert ada.by_code(code).status_code == 403
    answered(ada.by_code(code_in(mail)))


def test_template_with_link_alone_creates_no_code(ada: Customer) -> None:
    add_templates(ada.tenant, reset_mail(None, '<p><a href="#Url#?vtype=reset&amp;vtoken=#GUID#">Go</a></p>'))
    mail = ada.mail()
    with pytest.raises(IndexError):
        code_in(mail)
    assert ada.by_code("123456").status_code == 403
    answered(ada.reset(resettoken=token_in(mail), password=NEW))


def test_link_leads_to_page_named_in_request(new_tenant_server: NewTenantServer) -> None:
    ada = a_customer(new_tenant_server, url_whitelist=("https://app.example.com",))
    add_templates(ada.tenant, reset_mail(None, '<p><a href="#Url#">Go</a></p>'))
    answered(ada.forgot(resetpasswordurl="https://app.example.com/new?a=1"))
    assert link_in(ada.mails()[-1]).startswith("https://app.example.com/new?a=1&vtype=reset&vtoken=")


def test_management_call_returns_token_whatever_the_template(ada: Customer) -> None:
    add_templates(ada.tenant, reset_mail(None, "<p>#OTP#</p>"))
    made = answered(ada.tenant.send("POST", f"{MANAGE}/forgot/token", {"email": ada.email}, sendemail="true"))
    assert made["ForgotToken"] not in str(ada.mails()[-1])
    answered(ada.reset(resettoken=made["ForgotToken"], password=NEW))


def test_account_values_cannot_inject_links_or_markup(ada: Customer) -> None:
    add_templates(ada.tenant, reset_mail(None, "<p>Hello #Name#, #FirstName#</p><p>#Url#</p>", "For #FirstName#"))
    ada.tenant.update(ada.uid, {"FirstName": "#Url# #OTP# & co", "LastName": "Bcc: x"})
    mail = ada.mail()
    assert mail["subject"] == "For #Url# #OTP# & co"
    assert len(links_in(mail["text"])) == len(links_in(mail["html"])) == 1
    assert "#Url# #OTP# &amp; co" in mail["html"]


def test_placeholders_hold_values_of_the_account(new_tenant_server: NewTenantServer) -> None:
    ada = a_customer(new_tenant_server, custom_fields=("Shoe",))
    html = "<p>#Name#|#UserName#|#Email#|#City#|#Shoe#|#TenantName#|#Country#|#LinkExpiry#</p><p>#Url#</p>"
    add_templates(ada.tenant, reset_mail(None, html))
    ada.tenant.update(
        ada.uid,
        {"FirstName": "Ada", "LastName": "Lovelace", "City": "London", "CustomFields": {"Shoe": "42"}},
    )
    expected = f"Ada Lovelace|{ada.username}|{ada.email}|London|42|{ada.tenant.name.title()}||24 hours"
    assert ada.mail()["text"].splitlines()[0] == expected


@pytest.mark.both_databases
def test_template_that_fails_to_render_falls_back_and_is_audited(ada: Customer) -> None:
    add_templates(ada.tenant, reset_mail(None, "<p>#Url#</p>"))
    with UnitOfWork(ada.tenant.services.database, ada.tenant.tenant_id).separate_transaction() as work:
        broken = {"subject": "Own", "html": "<script>#Url#</script>"}
        where = template_table.c.tenant_id == ada.tenant.tenant_id
        work.run(update(template_table).where(where).values(content=broken))
        tenant_writes.change(work)
    ada.tenant.services.directory.clear_cache()
    assert ada.mail()["subject"].startswith("Reset your")
    ((_, record),) = entries_of(ada.tenant, "template.not_drawn")
    assert (record["kind"], record["name"]) == ("forgotpassword", "forgotpassword-default")
    assert "<script>" in record["problem"]


def test_template_that_hides_link_and_code_falls_back(ada: Customer) -> None:
    add_templates(ada.tenant, reset_mail(None, "#FProv<p>#Url#</p>FProv#"))
    assert ada.mail()["subject"].startswith("Reset your")
    assert len(entries_of(ada.tenant, "template.not_drawn")) == 1


def test_mail_with_a_code_alone_revokes_the_earlier_link(new_tenant_server: NewTenantServer) -> None:
    tenant = new_tenant_server(email_verification_codes=True)
    code = {"type": "registration", "name": "code", "subject": "Code", "html": "<p>#OTP#</p>"}
    add_templates(tenant, MailTemplate.model_validate(code))
    email = f"{tenant.name}@example.test"
    tenant.create(Email=[{"Type": "Primary", "Value": email}], EmailVerified=False)
    path = "/identity/v2/auth/register"
    answered(tenant.send("PUT", path, {"email": email}, with_secret=False))
    link = token_in(sent_messages(tenant.services, tenant.tenant_id)[-1])
    answered(tenant.send("PUT", path, {"email": email}, with_secret=False, emailtemplate="code"))
    verify = "/identity/v2/auth/email"
    assert refused(tenant.send("GET", verify, with_secret=False, verificationtoken=link)) == (403, 975)
    body = {"otp": code_in(sent_messages(tenant.services, tenant.tenant_id)[-1]), "email": email}
    answered(tenant.send("PUT", verify, body, with_secret=False))


def test_verification_and_welcome_mail_use_named_templates(new_tenant_server: NewTenantServer) -> None:
    tenant = new_tenant_server(email_verification_codes=True, email_login=True)
    add_templates(
        tenant,
        MailTemplate.model_validate(
            {"type": "registration", "name": "code", "subject": "Code", "html": "<p>#OTP#</p>"}
        ),
        MailTemplate.model_validate({"type": "registration", "subject": "Link", "html": "<p>#Url#</p>"}),
        MailTemplate.model_validate({"type": "welcome", "name": "hi", "subject": "Hi there", "html": "<p>#Email#</p>"}),
    )
    email = f"{tenant.name}@example.test"
    tenant.create(Email=[{"Type": "Primary", "Value": email}], EmailVerified=False)
    path = "/identity/v2/auth/register"
    made = answered(tenant.send("PUT", path, {"email": email}, with_secret=False, emailtemplate="code"))
    mail = sent_messages(tenant.services, tenant.tenant_id)[-1]
    assert mail["subject"] == "Code"
    assert "http" not in mail["text"]
    verify = "/identity/v2/auth/email"
    body = {"otp": code_in(mail), "email": email}
    assert made["IsPosted"]
    answered(tenant.send("PUT", verify, body, with_secret=False, welcomeemailtemplate="hi"))
    welcome = sent_messages(tenant.services, tenant.tenant_id)[-1]
    assert (welcome["subject"], welcome["text"]) == ("Hi there", f"{email}\n")


def test_text_message_uses_template_of_tenant(new_tenant_server: NewTenantServer) -> None:
    ada = a_customer(new_tenant_server, phone_login=True)
    add_templates(
        ada.tenant,
        TextMessageTemplate.model_validate({"type": "forgotpassword", "text": "#TenantName#: #OTP# (#OTPExpiry#)"}),
        TextMessageTemplate.model_validate({"type": "forgotpassword", "name": "short", "text": "“#OTP#”"}),
    )
    for query, expected in (({}, "{tenant}: {code} (5 minutes)"), ({"smstemplate": "short"}, '"{code}"')):
        answered(ada.ask("POST", {"phone": ada.phone}, path=f"{PATH}/otp", **query))
        text = sent_messages(ada.tenant.services, ada.tenant.tenant_id, "sms")[-1]["text"]
        first, _, last = text.partition("\n\n")
        assert first == expected.format(tenant=ada.tenant.name.title(), code=code_in({"text": first}))
        assert last.startswith(f"@{ada.tenant.name}.")
