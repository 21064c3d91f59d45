"""Delivery by SMTP: parts, headers, TLS and internationalized addresses of the mails."""

from __future__ import annotations

import re
from dataclasses import replace
from email.utils import parsedate_to_datetime
from pathlib import Path

import pytest

from app.contract.messages.models import MailKind, MailTemplate
from app.identity.assembly.worker import Worker
from app.identity.messaging import messaging
from app.identity.messaging.message import MessageFacts
from app.identity.platform.outbox import claims
from tests.support.fakes.smtp_server import Mailbox, certificate, mailbox
from tests.support.tenants.callers import call_of
from tests.support.tenants.message_templates import add_templates
from tests.support.tenants.tenant_server import NewTenantServer, TenantServer

pytestmark = pytest.mark.database_alone
RESET = MessageFacts(url="https://acme.example.com/auth.aspx?vtype=reset&vtoken=t0ken", otp="482913", minutes=1440)


def deliver(
    tenant: TenantServer, server: Mailbox, *to: str, login: str = "", sender: str = "door@id.example.com"
) -> None:
    """Queue a mail to each address and let the worker deliver it."""
    url = f"smtp://{login}localhost:{server.port}"
    settings = replace(tenant.services.settings, mail_url=url, hub_domain="id.example.com", mail_from=sender)
    worker = Worker(settings, tenant.services.database, tenant.services.clock)
    for address in to:
        with call_of(tenant.services, tenant.name) as call:
            messaging.mail(call, MailKind.RESET, address, account=None, facts=RESET)
            call.work.commit()
    while worker.deliver_due():
        pass


def test_template_mail_arrives_over_tls_with_expected_headers(
    acme: TenantServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tls, trusted = certificate(tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", str(trusted))
    html = "<h1>Grüße — ✿</h1><p>" + "a long line " * 200 + "</p><p><a href='#Url#'>Los</a> #OTP#</p>"
    template = {"type": "forgotpassword", "subject": "Grüße ✿ #OTP#", "html": html, "sender_name": "Bäckerei, Süß"}
    add_templates(acme, MailTemplate.model_validate(template))
    with mailbox(tls, login="door:s3cret") as server:
        deliver(acme, server, "ada@example.test", login="door:s3cret@")
        mail, raw = server.mails[-1], server.raw[-1]
    assert server.was_encrypted[-1]
    assert mail["Subject"] == "Grüße ✿ 482913"
    assert mail["From"].addresses[0].display_name == "Bäckerei, Süß"
    assert mail["From"].addresses[0].addr_spec == "door@id.example.com"
    assert mail["To"] == "ada@example.test"
    assert parsedate_to_datetime(mail["Date"]).tzinfo is not None
    assert re.fullmatch(r"<[\w-]+@id\.example\.com>", mail["Message-ID"])
    assert (mail["Auto-Submitted"], mail["X-Auto-Response-Suppress"]) == ("auto-generated", "All")
    assert mail["Content-Language"] == "en"
    assert not {"List-Unsubscribe", "Precedence", "Bcc", "Cc"} & set(mail.keys())
    plain, rich = mail.iter_parts()
    assert [part.get_content_type() for part in (plain, rich)] == ["text/plain", "text/html"]
    assert "Los:\nhttps://acme.example.com/auth.aspx?vtype=reset&vtoken=t0ken\n" in plain.get_content().replace(
        "\r\n", "\n"
    )
    assert "vtype=reset&amp;vtoken=t0ken" in rich.get_content()
    assert max(map(len, raw.splitlines())) <= 998  # RFC 5321 section 4.5.3.1.6
    assert raw.isascii()


def test_internationalized_domain_is_sent_as_ascii(acme: TenantServer) -> None:
    with mailbox() as server:
        deliver(acme, server, "Ada@bücher.example.test", sender="door@straße.example.com")
    assert server.envelopes[-1][0].startswith("FROM:<door@xn--strae-oqa.example.com>")
    assert server.envelopes[-1][1] == "TO:<Ada@xn--bcher-kva.example.test>"
    assert server.mails[-1]["To"] == "Ada@xn--bcher-kva.example.test"


def test_non_ascii_mailbox_is_sent_with_smtputf8(acme: TenantServer) -> None:
    with mailbox() as server:
        server.takes_utf8 = True
        deliver(acme, server, "jörg@bücher.example.test")
    assert "SMTPUTF8" in server.envelopes[-1][0].upper()
    assert server.envelopes[-1][1] == "TO:<jörg@xn--bcher-kva.example.test>"
    assert "To: jörg@xn--bcher-kva.example.test" in server.raw[-1].decode()


def test_non_ascii_mailbox_without_smtputf8_becomes_dead_letter(
    acme: TenantServer,
) -> None:
    with mailbox() as server:
        deliver(acme, server, "jörg@example.test", "ada@example.test")
        assert [mail["To"] for mail in server.mails][-1] == "ada@example.test"
    (dead,) = [row for row in claims.list_messages(acme.services.database, "dead") if row.tenant_id == acme.tenant_id]
    assert "SMTPUTF8" in dead.last_problem


def test_sender_of_a_template_is_the_from_address(new_tenant_server: NewTenantServer) -> None:
    tenant = new_tenant_server(sending={"from_domains": ["acme.example"]})
    template = {"type": "forgotpassword", "subject": "Own", "html": "<p>#OTP#</p>", "from_email": "hello@acme.example"}
    add_templates(tenant, MailTemplate.model_validate(template))
    with mailbox() as server:
        deliver(tenant, server, "ada@example.test")
        mail = server.mails[-1]
    assert mail["From"].addresses[0].addr_spec == "hello@acme.example"
    assert mail["Message-ID"].endswith("@id.example.com>")
