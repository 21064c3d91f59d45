"""A file sets the values that it names and resets those that it no longer names; values set by operations stay (decision 0162)."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from app.identity.administration.configuration import apply_configuration
from app.identity.administration.configuration.export import export
from app.identity.administration.configuration.file.read_configuration import read
from app.identity.administration.configuration.plan import ChangePlan
from app.identity.administration.configuration.value_origins import changes_with_origins, marks, merged, unnamed
from app.identity.directory.tenants import tenant_writes
from app.identity.messaging.tenant_templates.template_store import template_table
from app.identity.platform.store.unit_of_work import UnitOfWork
from tests.support.tenants.machines import ask, machine
from tests.support.tenants.tenant_server import NewTenantServer, TenantServer, answered

AT, MAILS, TEXTS = "/v2/manage/2fa", "/v2/manage/email-templates", "/v2/manage/sms-templates"
MAY = [f"{family}:{what}" for family in ("security", "template") for what in ("read", "create", "update", "delete")] + [
    "all"
]
FILE = """tenants:
  - name: {name}
    settings: {{two_factor: optional, custom_uid: true, second_factors: {{totp: true}}, lockout: {{suspend_seconds: 60}}}}
    url_whitelist: ["https://shop.example"]
    mail_templates:
      - {{type: welcome, subject: Hello, html: "<p>Hello</p>"}}
"""
PUSH = {"IsEnabled": True, "CustomAppName": "Acme Keys", "AWSsettings": {"Region": "eu-central-1"}}
DUO = {"IsEnabled": True, "ClientId": "DIACME", "APIHost": "api-acme.duosecurity.com"}
OWN_MAIL = {"TemplateType": "forgotpassword", "Subject": "Own", "Template": '<p><a href="#Url#">Go</a></p>'}
OWN_TEXT = {"SmsTemplateType": "verification", "Name": "short", "Template": "#OTP# at #TenantName#"}


class Managed:
    """A tenant created by a file, with a machine token for the management operations that configure it."""

    def __init__(self, server: TenantServer) -> None:
        self.server = server
        self.token = machine(server, *MAY)

    def operate(self) -> None:
        """Set values by operations that the file does not name."""
        for method, path, body in (
            ("POST", f"{AT}/push-notification-settings", PUSH),
            ("PUT", f"{AT}/duo-authenticator-settings", DUO),
            ("POST", MAILS, OWN_MAIL),
            ("POST", TEXTS, OWN_TEXT),
            ("PUT", f"{MAILS}/welcome", {**welcome("Hello", "<p>Hello</p>"), "FromName": "Acme"}),
        ):
            self.call(method, path, body)

    def call(self, method: str, path: str, body: dict[str, Any]) -> Any:
        return answered(ask(self.server, self.token, method, path, body))

    def apply(self, text: str = FILE, **how: bool) -> ChangePlan:
        done = apply_configuration.apply(self.server.services, self._read(text), **how)
        self.server.services.directory.clear_cache()
        return done

    def plan(self, text: str = FILE, **how: bool) -> ChangePlan:
        return apply_configuration.plan(self.server.services, self._read(text), **how)

    def _read(self, text: str) -> Any:
        return read(text.format(name=self.server.name).encode(), "f.yaml", Path())

    def configuration(self) -> dict[str, Any]:
        """Return everything that a file or an operation may configure, as stored."""
        work = UnitOfWork(self.server.services.database, "lookup")
        try:
            stored = tenant_writes.by_name(work, self.server.name)
            assert stored
            work.switch_tenant(stored.tenant_id)
            rows = work.all(select(template_table).where(template_table.c.tenant_id == stored.tenant_id))
            templates = {f"{row.channel} {row.kind} {row.name}": row.content for row in rows}
            return {**stored.settings, "brand": stored.brand, "secrets": stored.service_secrets, "templates": templates}
        finally:
            work.rollback()


def welcome(subject: str, html: str) -> dict[str, Any]:
    return {"TemplateType": "welcome", "TemplateName": "welcome-default", "Subject": subject, "Template": html}


@pytest.fixture
def acme(new_tenant_server: NewTenantServer) -> Managed:
    made = Managed(new_tenant_server())
    made.apply()
    return made


def test_values_set_by_operations_survive_repeated_apply(acme: Managed) -> None:
    acme.operate()
    before = acme.configuration()
    assert before["push"]["app_name"] == "Acme Keys"
    assert [before["second_factors"][name] for name in ("totp", "push", "duo")] == [True] * 3
    assert len(before["templates"]) == 3
    planned = acme.plan()
    for _ in range(2):
        assert acme.apply().is_empty
        assert acme.configuration() == before
    assert planned.is_empty
    plan_text = str(planned)
    assert "settings.second_factors.push: true kept, set through the API" in plan_text
    assert "sender_name: Acme kept, set through the API" in plan_text
    assert "remove it with --prune (created through the API)" in plan_text


def test_default_push_settings_stay(acme: Managed) -> None:
    """They are stored although each value is its default."""
    acme.call("POST", f"{AT}/push-notification-settings", {"IsEnabled": True})
    before = acme.configuration()
    assert acme.apply().is_empty
    assert acme.configuration() == before
    assert "push" in before


def test_file_overrides_operation_and_plan_shows_it(acme: Managed) -> None:
    acme.call("PUT", f"{AT}/config", {"IsSecondFactorAuthenticatorEnabled": True, "IsRequired": True})
    acme.call("PUT", f"{MAILS}/welcome", welcome("Changed", "<p>Hello</p>"))
    planned = acme.plan()
    details = [detail for change in planned.changes for detail in change.details]
    assert "settings.two_factor: required -> optional (set through the API)" in details
    assert "subject: Changed -> Hello (set through the API)" in details
    assert str(acme.apply()) == str(planned)
    assert acme.configuration()["two_factor"] == "optional"
    assert acme.apply().is_empty


def test_value_removed_from_file_is_reset(acme: Managed) -> None:
    acme.call("PUT", f"{AT}/config", {"IsSecondFactorAuthenticatorEnabled": True, "IsRequired": True})
    acme.operate()
    shorter = FILE.replace("two_factor: optional, custom_uid: true, ", "")
    planned = acme.plan(shorter)
    assert acme.apply(shorter).is_empty is False
    stored = acme.configuration()
    assert "custom_uid" not in stored
    assert stored["two_factor"] == "required"
    assert "settings.custom_uid: true -> default" in str(planned)
    assert "settings.two_factor: required kept, set through the API" in str(planned)
    assert stored["second_factors"]["push"] is True


def test_key_omitted_from_file_is_left_alone(acme: Managed) -> None:
    acme.operate()
    before = acme.configuration()
    assert acme.apply("tenants: [{{name: {name}}}]").is_empty
    assert acme.configuration() == before
    assert acme.apply(FILE.replace("custom_uid: true, ", "")).is_empty is False  # it still came from a file
    assert "custom_uid" not in acme.configuration()


def test_tenant_from_older_release_keeps_operation_values(acme: Managed) -> None:
    acme.operate()
    work = UnitOfWork(acme.server.services.database, acme.server.tenant_id)
    tenant_writes.set_named_by_file(work, None)  # type: ignore[arg-type] # the value after the upgrade
    work.commit()
    before = acme.configuration()
    for _ in range(2):
        assert acme.apply().is_empty
        assert acme.configuration() == before
    acme.apply(FILE.replace("custom_uid: true, ", ""))
    assert "custom_uid" not in acme.configuration()


@pytest.mark.both_databases
def test_concurrent_operation_is_not_overwritten(acme: Managed) -> None:
    services, tenant_id = acme.server.services, acme.server.tenant_id
    work = UnitOfWork(services.database, tenant_id)
    work.begin()
    existing = tenant_writes.lock(work)
    assert existing
    with ThreadPoolExecutor(1) as thread:
        applied = thread.submit(acme.apply, FILE.replace("custom_uid: true", "custom_uid: false"))
        time.sleep(0.7)  # it has read the stored values, or waits for the lock
        tenant_writes.change(work, settings={**existing.settings, "duo": {"client_id": "DIACME"}})
        work.commit()
        assert applied.result(60).is_empty is False
    stored = acme.configuration()
    assert (stored["custom_uid"], stored["duo"]) == (False, {"client_id": "DIACME"})


@pytest.mark.both_databases
def test_applying_export_keeps_operation_values(acme: Managed) -> None:
    acme.operate()
    before = acme.configuration()
    written = export(acme.server.services, acme.server.name).replace("{", "{{").replace("}", "}}")
    for _ in range(2):
        assert acme.apply(written).is_empty
        assert acme.configuration() == before


def test_prune_removes_values_created_by_operations(acme: Managed) -> None:
    acme.operate()
    assert "forgotpassword-default" in str(acme.plan(prune=True)).partition(" remove")[0]
    acme.apply(prune=True)
    templates = acme.configuration()["templates"]
    assert set(templates) == {
        "mail welcome welcome-default",
        "sms verification short",
    }  # the file lists no text messages
    assert templates["mail welcome welcome-default"]["sender_name"] == "Acme"


@pytest.mark.parametrize(
    ("current", "named", "before", "after"),
    [
        ({"a": 1}, {}, {}, {"a": 1}),
        ({"a": 1}, {}, {"a": 1}, {}),
        ({"a": 2}, {}, {"a": 1}, {"a": 2}),
        ({"a": 2}, {"a": 1}, {"a": 1}, {"a": 1}),
        ({"m": {"x": 1, "y": 2}}, {}, {"m": {"x": 1}}, {"m": {"y": 2}}),
        ({"m": {"x": 1}}, {}, {"m": {"x": 1}}, {}),
        ({"m": {}}, {}, {}, {"m": {}}),
        ({"m": {"x": 1}}, {"m": {"z": 3}}, {"m": {"x": 1}}, {"m": {"z": 3}}),
        ({"m": {"x": 1}}, {"m": 5}, {}, {"m": 5}),
        ({"l": [1, 2]}, {"l": [3]}, {"l": [1]}, {"l": [3]}),
        ({}, {"m": {}}, {}, {"m": {}}),
    ],
)
def test_file_and_stored_values_are_merged(current: Any, named: Any, before: Any, after: Any) -> None:
    assert merged(current, named, marks(before)) == after
    assert merged(after, named, marks(named)) == after


def test_marks_contain_no_values() -> None:
    named = {"settings": {"custom_fields": ["shoe-size"]}}
    assert "shoe" not in str(marks(named))
    assert list(changes_with_origins(named, named, marks(named))) == []
    assert list(unnamed(named, {}, "")) == ["settings: {'custom_fields': ['shoe-size']} kept, set through the API"]
