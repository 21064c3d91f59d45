"""Sign-ins from new locations and browsers: one notice, and the owner may object."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.contract.messages.models import MailKind, MailTemplate, SmsKind, TextMessageTemplate
from app.identity.authentication.sign_in.locations.text_file import ListedLocations
from app.identity.messaging import gsm7
from tests.support.accounts.mailbox import links_to, sent_messages
from tests.support.accounts.risky_sign_ins import (
    CHROME,
    FIREFOX,
    LINZ,
    PARIS,
    PLACES,
    VIENNA,
    attempt_sign_in,
    is_refusal,
    notices,
    sign_in,
)
from tests.support.operation_cases.cases import AccountHolder, account_holder
from tests.support.services.identity_service import on_one_database
from tests.support.tenants.message_templates import add_templates
from tests.support.tenants.tenant_server import NewTenantServer, answered, refused

ALL = {"device": "notify", "browser": "notify", "city": "notify", "country": "notify", "ip": "notify"}


@pytest.fixture
def places(tmp_path: Path) -> ListedLocations:
    file = tmp_path / "places.csv"
    file.write_text(PLACES)
    return ListedLocations(file)


@pytest.fixture
def ada(new_tenant_server: NewTenantServer, places: ListedLocations, monkeypatch: pytest.MonkeyPatch) -> AccountHolder:
    who = account_holder(new_tenant_server, risk=ALL)
    monkeypatch.setattr(who.tenant.services, "locations", places)
    return who


@pytest.mark.both_databases
def test_familiar_sign_in_sends_no_notice(ada: AccountHolder) -> None:
    for _ in range(3):
        sign_in(ada)
    assert notices(ada) == []


@pytest.mark.parametrize(
    ("user_agent", "address", "expected"),
    [
        (CHROME, LINZ, "on a new device. If this was you, you’re all set. Chrome on Windows Linz, Austria 203.0.113.7"),
        (
            FIREFOX,
            VIENNA,
            "from a new city. If this was you, you’re all set. Firefox on Linux Vienna, Austria 198.51.100.7",
        ),
        (
            FIREFOX,
            "203.0.113.8",
            "from a new network. If this was you, you’re all set. Firefox on Linux Linz, Austria 203.0.113.8",
        ),
    ],
)
def test_new_signal_is_notified_once(ada: AccountHolder, user_agent: str, address: str, expected: str) -> None:
    sign_in(ada)
    for _ in range(2):
        sign_in(ada, user_agent, address)
    (mail,) = notices(ada)
    assert expected in " ".join(mail.replace("\u2068", "").replace("\u2069", "").split())
    assert links_to(mail, "/not-me")


def test_unwatched_signal_is_not_notified(
    new_tenant_server: NewTenantServer, places: ListedLocations, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada = account_holder(new_tenant_server, risk={"country": "notify"})
    monkeypatch.setattr(ada.tenant.services, "locations", places)
    sign_in(ada)
    sign_in(ada, CHROME, VIENNA)
    assert notices(ada) == []
    sign_in(ada, CHROME, PARIS)
    (mail,) = notices(ada)
    assert "from a new country" in mail


@pytest.mark.parametrize(
    ("what", "user_agent", "address", "code"),
    [("device", CHROME, LINZ, 1287), ("browser", CHROME, LINZ, 1168), ("city", FIREFOX, VIENNA, 1169),
     ("country", FIREFOX, PARIS, 1170), ("ip", FIREFOX, VIENNA, 1171)],
)  # fmt: skip
def test_refuse_action_refuses_new_signal(
    new_tenant_server: NewTenantServer, places: ListedLocations, monkeypatch: pytest.MonkeyPatch, what: str, user_agent: str,
    address: str, code: int,
) -> None:  # fmt: skip
    ada = account_holder(new_tenant_server, risk={what: "refuse"})
    monkeypatch.setattr(ada.tenant.services, "locations", places)
    sign_in(ada)
    for _ in range(2):
        assert refused(attempt_sign_in(ada, user_agent, address)) == (403, code)
    assert refused(attempt_sign_in(ada, user_agent, address, password="wrong")) == (401, 966)
    assert len(notices(ada)) == 2
    assert all(is_refusal(mail) for mail in ada.mails()[-2:]), "a refused sign-in is not reported as a sign-in"
    sign_in(ada)


def test_block_action_blocks_account(
    new_tenant_server: NewTenantServer, places: ListedLocations, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada = account_holder(new_tenant_server, risk={"country": "block"})
    monkeypatch.setattr(ada.tenant.services, "locations", places)
    sign_in(ada)
    assert refused(attempt_sign_in(ada, address=PARIS)) == (403, 1164)
    assert refused(attempt_sign_in(ada)) == (403, 991)
    assert len(notices(ada)) == 1


def test_second_factor_tenant_only_notifies(
    new_tenant_server: NewTenantServer, places: ListedLocations, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada = account_holder(new_tenant_server, risk={"country": "block"}, two_factor="optional")
    monkeypatch.setattr(ada.tenant.services, "locations", places)
    for address in (LINZ, PARIS):
        answered(attempt_sign_in(ada, address=address, path="/identity/v2/auth/login/2fa"))
    assert len(notices(ada)) == 1


def test_location_is_new_again_after_a_year(ada: AccountHolder) -> None:
    sign_in(ada)
    sign_in(ada, address=VIENNA)
    ada.advance_clock(days=300)
    sign_in(ada)
    ada.advance_clock(days=300)
    sign_in(ada)
    assert len(notices(ada)) == 1
    sign_in(ada, address=VIENNA)
    assert len(notices(ada)) == 2


def test_requested_mail_template_is_used(
    new_tenant_server: NewTenantServer, places: ListedLocations, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada = account_holder(new_tenant_server, risk={"city": "notify"})
    monkeypatch.setattr(ada.tenant.services, "locations", places)
    own = {"type": MailKind.NEW_CITY, "name": "ours", "subject": "Elsewhere!", "html": "<p>Look</p>"}
    add_templates(ada.tenant, MailTemplate.model_validate(own))
    sign_in(ada)
    sign_in(ada, address=VIENNA, rbacityemailtemplate="ours")
    assert ada.mailed()["subject"] == "Elsewhere!"


BY_TEXT = {"city": "notify", "told_by": "sms"}


@on_one_database
@pytest.mark.parametrize(
    ("channel", "sms", "mails"), [("sms", 1, 0), ("both", 1, 1), ("mail", 0, 1)]
)  # fmt: skip
def test_notice_uses_channel_chosen_by_tenant(
    new_tenant_server: NewTenantServer, places: ListedLocations, monkeypatch: pytest.MonkeyPatch, channel: str, sms: int, mails: int
) -> None:  # fmt: skip
    ada = account_holder(new_tenant_server, risk={**BY_TEXT, "told_by": channel}).update_account(LocalLanguage="de")
    ada.advance_clock(days=60)  # a language set today does not apply to notices yet
    monkeypatch.setattr(ada.tenant.services, "locations", places)
    sign_in(ada)
    sign_in(ada, address=VIENNA)
    assert len([mail for mail in ada.mails() if "War das Sie" in mail["text"] or "Vienna" in mail["text"]]) == mails
    texts = sent_messages(ada.tenant.services, ada.tenant.tenant_id, "sms")
    assert len(texts) == sms
    if texts:
        assert texts[0]["to"] == ada.phone
        assert "Firefox, Linux, Vienna, Austria, 198.51.100.7. Waren Sie das nicht?" in texts[0]["text"]
        assert gsm7.fits(texts[0]["text"])


@on_one_database
@pytest.mark.parametrize("why", ["unverified", "over the limit"])
def test_notice_falls_back_to_mail_when_sms_is_impossible(
    new_tenant_server: NewTenantServer, places: ListedLocations, monkeypatch: pytest.MonkeyPatch, why: str
) -> None:
    ada = account_holder(new_tenant_server, risk=BY_TEXT, sending={"sms_per_day": 1})
    monkeypatch.setattr(ada.tenant.services, "locations", places)
    sign_in(ada)
    if why == "unverified":
        ada.update_account(PhoneIdVerified=False)
    else:
        sign_in(ada, address=PARIS)
    assert notices(ada) == []
    sign_in(ada, address=VIENNA)
    assert len(notices(ada)) == 1


@on_one_database
def test_requested_sms_template_is_used(
    new_tenant_server: NewTenantServer, places: ListedLocations, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada = account_holder(new_tenant_server, risk=BY_TEXT)
    monkeypatch.setattr(ada.tenant.services, "locations", places)
    own = {"type": SmsKind.NEW_CITY, "name": "ours", "text": "#TenantName#: #IpAddress#. Not you? #Url#"}
    add_templates(ada.tenant, TextMessageTemplate.model_validate(own))
    sign_in(ada)
    sign_in(ada, address=VIENNA, rbacitysmstemplate="ours")
    (text,) = sent_messages(ada.tenant.services, ada.tenant.tenant_id, "sms")
    assert text["text"].endswith("/forgot-password")
    assert ": 198.51.100.7. Not you?" in text["text"]
