"""`gatehouse mail test` and `gatehouse sms test` queue one message of the tenant's theme."""

from pathlib import Path
from typing import Any

import pytest

from app.identity.platform.encryption import Encryption
from app.identity.platform.outbox import claims
from app.identity.platform.outbox.outbox import decrypt_payload
from app.identity.platform.store.database import Database
from tests.support.processes.command_line import SECRETS, Run, refused

PHONE = "+4930123456"
SIGN_IN = "482913 is your code to sign in to Hazel. Code expires in 5 minutes. Don't share it."


@pytest.fixture
def themed(run: Run, tmp_path: Path) -> Run:
    mails = tmp_path / "hazel" / "templates" / "mails"
    mails.mkdir(parents=True)
    (tmp_path / "hazel" / "theme.yaml").write_text("display_name: Hazel")
    (mails / "reset.html").write_text("{% block subject %}{{ name }}: a new password{% endblock %}")
    (mails / "layout.html").write_text('<div class="own-frame">{{ content() }}</div>{{ reason() }}')
    (tmp_path / "hazel.yaml").write_text("tenants: [{name: hazel, theme: hazel}]")
    applied = run("apply", "hazel.yaml")
    assert applied.exit_code == 0, applied.output
    return run


def test_sample_of_a_theme_is_queued_for_an_address(themed: Run, tmp_path: Path) -> None:
    shown = themed("mail", "test", "hazel", "reset", "ada@example.com")

    assert shown.output == "Queued “Hazel: a new password” for ada@example.com. The server sends it.\n"
    (payload,) = queued(tmp_path)
    assert payload["to"] == "ada@example.com"
    assert 'class="own-frame"' in payload["html"]
    assert "https://acme.example.com" not in payload["text"], "the link of the sample is on the tenant's host"
    assert "mail.posted" in themed("audit", "hazel").output


def queued(folder: Path) -> list[dict[str, Any]]:
    """Return the payloads of the queued emails."""
    database = Database(f"sqlite:///{folder / 'gatehouse.db'}")
    try:
        encryption = Encryption((SECRETS[0].encode(),))
        return [decrypt_payload(encryption, row) for row in claims.list_mails_and_sms(database)]
    finally:
        database.dispose()


def test_sample_has_the_look_of_a_draft(themed: Run, tmp_path: Path) -> None:
    (tmp_path / "hazel" / "theme.yaml").write_text("{display_name: Hazel & Oak, font: 'Georgia, serif'}")
    assert themed("theme", "push", "hazel", "hazel").exit_code == 0

    shown = themed("mail", "test", "hazel", "reset", "ada@example.com", "--version", "2")

    assert shown.output == "Queued “Hazel & Oak: a new password” for ada@example.com. The server sends it.\n"
    assert "font-family:Georgia,serif" in queued(tmp_path)[0]["html"]
    assert "“Hazel: a new password”" in themed("mail", "test", "hazel", "reset", "ada@example.com").output


def test_sample_whose_file_fails_is_ours_with_the_reason(themed: Run, tmp_path: Path) -> None:
    block = "{% block intro %}{% if not name %}Nothing{% endif %}{% endblock %}"
    (tmp_path / "hazel" / "templates" / "mails" / "reset.html").write_text(block)
    assert themed("theme", "push", "hazel", "hazel").exit_code == 0

    shown = themed("mail", "test", "hazel", "reset", "ada@example.com", "--version", "2")

    assert "“Reset your Hazel password”" in shown.output
    assert "a file of the theme failed: templates/mails/reset.html: nothing is left of the block intro" in shown.output
    assert "theme.failed" not in themed("audit", "hazel").output


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("hazel", "resett", "ada@example.com"), "There's no email resett. Did you mean reset?"),
        (("hazel", "reset", "ada"), "ada is no email address."),
        (("hazel", "reset", "ada@example.com\r\nBcc: eve@example.com"), "is no email address."),
        (("hazel", "reset", "ada@example.com", "--language", "xx"), "There's no language xx."),
        (("hazel", "reset", "ada@example.com", "--version", "9"), "The theme has no version with this number"),
        (("hazel", "reset", "ada@example.com", "--theme", "Oak"), "hazel has no theme 'Oak'."),
        (("maple", "reset", "ada@example.com"), "There's no tenant 'maple'."),
    ],
)
def test_mistake_is_explained(themed: Run, arguments: tuple[str, ...], sentence: str) -> None:
    assert sentence in refused(themed("mail", "test", *arguments))


def test_problem_of_a_mail_has_its_file_and_line(themed: Run, tmp_path: Path) -> None:
    file = tmp_path / "hazel" / "templates" / "mails" / "reset.html"
    file.write_text("{% block intro %}\n<script>x</script>{% endblock %}")

    shown = themed("apply", "hazel.yaml")

    assert "hazel/templates/mails/reset.html:2: expected" in shown.output


def own_text(folder: Path, tag: str, text: str) -> None:
    (folder / "hazel" / "texts").mkdir(exist_ok=True)
    (folder / "hazel" / "texts" / f"{tag}.yaml").write_text(f"code_is_your_code_to_sign: '{text}'")


def test_sample_of_a_text_message_is_queued_for_a_number(themed: Run, tmp_path: Path) -> None:
    shown = themed("sms", "test", "hazel", "sign_in", "0049 30 123456")

    assert shown.output == f"Queued “{SIGN_IN}” for {PHONE}. The server sends it.\n"
    (payload,) = queued(tmp_path)
    assert payload["to"] == PHONE
    assert payload["text"].endswith("\n\n@hazel.localhost #482913")
    assert payload["sid"].startswith("SM")
    assert "sms.posted" in themed("audit", "hazel").output


def test_link_of_a_text_message_is_on_the_tenants_host(themed: Run) -> None:
    assert "http://hazel.localhost:8000/login" in themed("sms", "test", "hazel", "account_exists", PHONE).output


def test_text_message_has_the_texts_of_the_chosen_version(themed: Run, tmp_path: Path) -> None:
    own_text(tmp_path, "de", "Hallo von {tenant}: {code}")
    assert themed("theme", "push", "hazel", "hazel").exit_code == 0
    german = ("sms", "test", "hazel", "sign_in", PHONE, "--language", "de")

    assert "Queued “Hallo von Hazel: 482913" in themed(*german, "--version", "2").output
    assert "Hallo von Hazel" not in themed(*german).output, "the published version has ours"


def test_no_sender_refuses_and_queues_nothing(themed: Run, tmp_path: Path) -> None:
    without = themed("sms", "test", "hazel", "sign_in", PHONE, mail_url="smtp://127.0.0.1:1")

    assert refused(without) == "There's no sender of text messages. Set GATEHOUSE_SMS_URL."
    assert queued(tmp_path) == []
    assert "sms.posted" not in themed("audit", "hazel").output


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("hazel", "sign_inn", PHONE), "There's no text message sign_inn. Did you mean sign_in?"),
        (("hazel", "sign_in", "030 123456"), "030 123456 is no phone number. Write it with its country code"),
        (("hazel", "sign_in", "ada@example.com"), "ada@example.com is no phone number."),
        (("hazel", "sign_in", PHONE, "--language", "xx"), "There's no language xx."),
        (("hazel", "sign_in", PHONE, "--version", "9"), "The theme has no version with this number"),
        (("hazel", "sign_in", PHONE, "--theme", "Oak"), "hazel has no theme 'Oak'."),
        (("maple", "sign_in", PHONE), "There's no tenant 'maple'."),
    ],
)
def test_mistake_of_a_text_message_is_explained(themed: Run, arguments: tuple[str, ...], sentence: str) -> None:
    assert sentence in refused(themed("sms", "test", *arguments))
