"""A mail whose theme fails: ours is sent, and the tenant hears of the version once, in the transaction of the mail."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
from sqlalchemy import update

from app.contract.tenants.branding import Brand, theme_digest
from app.identity.directory.tenants.tables import tenants
from app.identity.messaging import messaging
from app.identity.platform.store.unit_of_work import UnitOfWork
from tests.api.messages.test_templates import reset_mail
from tests.support.accounts.customers import Customer, a_customer
from tests.support.accounts.mailbox import mails_to
from tests.support.races import at_once
from tests.support.tenants.audit_entries import entries_of
from tests.support.tenants.message_templates import add_templates
from tests.support.tenants.tenant_server import NewTenantServer, answered

DESIGN = "design@hazel.example"
RESET = "templates/mails/reset.html"
REFUSED = {"mails/reset.html": "{% block heading %}{{ of_another_version }}{% endblock %}"}
LAYOUT = {"mails/layout.html": "{{ content() }}\n{{ of_another_version }}{{ reason() }}"}


def unlimited(new_tenant_server: NewTenantServer, **settings: Any) -> Customer:
    limits = {"mails_by_type": {"forgotpassword": {"amount": 0, "minutes": 1}}}
    return a_customer(new_tenant_server, sending=limits, default_locale="de", locales=["en", "de"], **settings)


@pytest.fixture
def ada(new_tenant_server: NewTenantServer) -> Customer:
    return unlimited(new_tenant_server, contacts={"theme": [DESIGN]})


def give_theme(ada: Customer, templates: dict[str, str], **brand: Any) -> None:
    """Store templates that were checked by another version of Gatehouse."""
    stored = Brand.model_validate({"templates": templates, **brand}).model_dump(mode="json", exclude_unset=True)
    with UnitOfWork(ada.tenant.services.database, ada.tenant.tenant_id).separate_transaction() as work:
        where = tenants.c.tenant_id == ada.tenant.tenant_id
        work.run(update(tenants).where(where).values(brand=stored, version=tenants.c.version + 1))
    ada.tenant.services.directory.clear_cache()


def notices(ada: Customer, address: str = DESIGN) -> list[dict[str, Any]]:
    return mails_to(ada.tenant.services, ada.tenant.tenant_id, address)


def failures(ada: Customer) -> list[dict[str, Any]]:
    return [facts for _, facts in entries_of(ada.tenant, "theme.failed")]


@pytest.mark.both_databases
def test_failing_mail_is_recorded_and_mailed_once(ada: Customer, caplog: pytest.LogCaptureFixture) -> None:
    ours = ada.mail()
    give_theme(ada, REFUSED)
    for _ in range(3):
        assert ada.mail()["subject"] == ours["subject"]

    (entry,) = failures(ada)
    assert entry["template"] == RESET
    assert entry["reason"].startswith("line 1: ")
    (mail,) = notices(ada)
    assert mail["language"] == "de"
    words = mail["text"].replace("\u2060", "")
    assert RESET in words, words
    assert entry["reason"] in words, (words, entry["reason"])
    assert caplog.text.count("a mail of the tenant's theme failed; ours is sent") == 1


def test_layout_around_a_mail_template_is_recorded_too(ada: Customer) -> None:
    add_templates(ada.tenant, reset_mail(None, "<p>#Url#</p>"))
    give_theme(ada, LAYOUT)
    assert ada.mail()["subject"] == "Own"
    assert [entry["template"] for entry in failures(ada)] == ["templates/mails/layout.html"]
    assert len(notices(ada)) == 1


def test_failure_while_rendering_names_the_file(ada: Customer) -> None:
    give_theme(ada, {"mails/reset.html": "{% block intro %}{% if not name %}Never{% endif %}{% endblock %}"})
    ada.mail()
    assert [(entry["template"], entry["reason"]) for entry in failures(ada)] == [
        (RESET, "nothing is left of the block intro")
    ]


def test_mail_about_the_failure_that_fails_itself_is_sent(ada: Customer) -> None:
    give_theme(ada, {**REFUSED, "mails/theme_failed.html": REFUSED["mails/reset.html"]})
    ada.mail()
    assert {entry["template"] for entry in failures(ada)} == {RESET, "templates/mails/theme_failed.html"}
    assert len(notices(ada)) == 1


def test_next_version_that_fails_is_mailed_again(ada: Customer) -> None:
    for words in ("First", "Second"):
        give_theme(ada, REFUSED, texts={"en": {"own.words": words}})
        ada.mail()
    assert len({entry["digest"] for entry in failures(ada)}) == len(notices(ada)) == 2


def test_contacts_that_are_set_later_get_the_email(new_tenant_server: NewTenantServer) -> None:
    ada = unlimited(new_tenant_server)
    give_theme(ada, REFUSED)
    ada.mail()
    assert len(failures(ada)) == 1

    ada.tenant.change_settings(contacts={"theme": [DESIGN]})
    assert not notices(ada), "until it fails again"
    for _ in range(2):
        ada.mail()
    assert (len(notices(ada)), len(failures(ada))) == (1, 1)

    ada.tenant.change_settings(contacts={"theme": [DESIGN, "second@hazel.example"]})
    ada.mail()
    assert not notices(ada, "second@hazel.example"), "the version had its email"


def test_unknown_address_leaves_the_email_to_the_next_failure(ada: Customer) -> None:
    ada.tenant.change_settings(hide_unknown_accounts=True)
    give_theme(ada, REFUSED)
    answered(ada.ask("POST", {"email": "nobody@example.test"}))
    assert (len(failures(ada)), len(notices(ada))) == (1, 0)
    ada.mail()
    assert len(notices(ada)) == 1


def test_refused_change_records_nothing(ada: Customer, monkeypatch: pytest.MonkeyPatch) -> None:
    give_theme(ada, REFUSED)

    def fail(*_: object, **__: object) -> None:
        raise RuntimeError

    with monkeypatch.context() as patched:
        patched.setattr(messaging, "record_theme_failure", fail)
        assert ada.forgot().status_code == 500
    assert not ada.mails(), "one transaction"
    ada.mail()
    assert len(notices(ada)) == 1


def test_known_failure_costs_the_next_mails_nothing(ada: Customer, monkeypatch: pytest.MonkeyPatch) -> None:
    give_theme(ada, REFUSED)
    digests: list[object] = []

    def counted(look: Brand) -> str:
        digests.append(look)
        return theme_digest(look)

    monkeypatch.setattr(messaging, "theme_digest", counted)
    for number in (1, 2, 2, 2):  # the second mail finds what the first one committed
        ada.mail()
        assert len(digests) == number
    ada.tenant.change_settings(contacts={"theme": [DESIGN, "second@hazel.example"]})
    ada.mail()
    assert len(digests) == 3, "another version of the tenant"


def test_failure_that_was_rolled_back_is_not_known(ada: Customer, monkeypatch: pytest.MonkeyPatch) -> None:
    give_theme(ada, REFUSED)
    record = messaging.record_failed_mail

    def fail(*failed: Any) -> None:
        record(*failed)
        record(*failed)  # another mail of the same transaction
        raise RuntimeError

    with monkeypatch.context() as patched:
        patched.setattr(messaging, "record_failed_mail", fail)
        assert ada.forgot().status_code == 500
    assert not notices(ada)
    ada.mail()
    assert len(notices(ada)) == 1


@pytest.mark.both_databases
def test_mails_at_once_email_the_contacts_once(ada: Customer) -> None:
    give_theme(ada, REFUSED)
    at_once([partial(ada.forgot) for _ in range(6)])
    assert (len(failures(ada)), len(notices(ada)), len(ada.mails())) == (1, 1, 6)
