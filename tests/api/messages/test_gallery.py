"""The message gallery shows every mail and text message as each tenant sends it."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path

import pytest
from werkzeug.test import Client

from app.contract.messages.models import MailKind, SmsKind
from app.demo.inbox import create_inbox
from app.identity.administration.configuration import apply_configuration
from app.identity.administration.configuration.file.read_configuration import read_file
from app.identity.messaging.samples import EMAIL_SAMPLES
from app.identity.platform.services import IdentityServices
from app.kit.package_files import HOME as ROOT


@pytest.fixture
def inbox(own_services: IdentityServices) -> Client:
    """The inbox of the demo with the tenants of the demo."""
    apply_configuration.apply(own_services, read_file(ROOT / "examples" / "demo.yaml"))
    return Client(create_inbox(own_services.database, own_services.encryption))


@pytest.mark.parametrize(
    ("language", "mail", "message"),
    [
        ("en", "Your garden is ready, Ada", "482913 opens the gate at Globex."),
        ("de", "Ihr Garten ist bereit, Ada", "482913 öffnet das Tor bei Globex."),
        ("ar", "Your garden is ready, Ada", "482913 opens the gate at Globex. It works for 5 minutes;"),
    ],
)
def test_gallery_shows_every_kind_and_own_templates_in_language(
    inbox: Client, language: str, mail: str, message: str
) -> None:
    page = inbox.get("/gallery", query_string={"tenant": "globex", "language": language}).text
    for kind in (*MailKind, *SmsKind):
        assert kind.value in page
    assert mail in page
    assert message in page
    assert (
        page.count("the tenant&#39;s own") + page.count("the tenant's own") == len(EMAIL_SAMPLES[MailKind.WELCOME]) + 1
    )
    assert "opens the gate" not in inbox.get("/gallery", query_string={"tenant": "acme"}).text


def test_gallery_mail_is_sandboxed(inbox: Client) -> None:
    query = {"tenant": "globex", "name": "MailWelcome.welcome-default", "state": "notice"}
    answer = inbox.get("/gallery/mail.html", query_string=query)
    assert "Plant something on a Monday" in answer.text
    assert "#0b7a5b" in answer.text
    policy = answer.headers["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'")
    assert "sandbox" in policy


def test_gallery_mail_has_the_logo_of_the_tenants_host(own_services: IdentityServices, tmp_path: Path) -> None:
    (tmp_path / "hazel.yaml").write_text("tenants: [{name: hazel, brand: {logo: /theme/logo.png}}]")
    apply_configuration.apply(own_services, read_file(tmp_path / "hazel.yaml"))
    inbox = Client(create_inbox(own_services.database, own_services.encryption))
    page = inbox.get("/gallery", base_url="http://inbox.localhost:8000").text
    frame = unescape(re.findall(r'<iframe [^>]*src="([^"]+)"', page)[0])
    mail = inbox.get(frame, base_url="http://inbox.localhost:8000")
    assert 'src="http://hazel.localhost:8000/theme/logo.png"' in mail.text


@pytest.mark.both_databases("first")
@pytest.mark.parametrize("query", [{"tenant": "absent"}, {"language": "xx"}])
def test_unknown_tenant_or_language_of_gallery_is_not_found(inbox: Client, query: dict[str, str]) -> None:
    assert inbox.get("/gallery", query_string=query).status_code == 404
    assert inbox.get("/gallery/mail.html", query_string=query).status_code == 404
