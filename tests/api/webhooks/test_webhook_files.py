"""Webhooks in configuration files; what every resource does in files is tested for every resource."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml
from sqlalchemy import select

from app.contract.webhooks.webhook_operations import WEBHOOKS
from app.identity.administration.configuration.file.yaml_document import ConfigurationError
from app.identity.administration.configuration.plan import ChangePlan
from app.identity.platform.resource_storage.resource_store import resources
from tests.support.operations.resources import Manager
from tests.support.tenants.tenant_server import TenantServer, answered
from tests.support.tenants.webhooks import TARGET, Body, Webhooks

FILE: Body = {
    "target_url": TARGET, "event": "register", "name": "Shop", "headers": {"X-Key": "from the file"}, "query_params": {"a": "b"},
    "authentication": {"auth_type": "Bearer"}, "token": "t0ken",
}  # fmt: skip


class Files:
    """Configuration files of a tenant with webhooks."""

    def __init__(self, tenant: TenantServer) -> None:
        self.hooks, self.manager = Webhooks(tenant), Manager(tenant, WEBHOOKS)

    def text(self, *items: Body) -> str:
        return json.dumps({"tenants": [{"name": self.hooks.tenant.name, "webhooks": list(items)}]})

    def apply(self, *items: Body, prune: bool = False) -> ChangePlan:
        return self.manager.apply(self.text(*items), prune=prune)

    def plan(self, *items: Body) -> ChangePlan:
        return self.manager.plan(self.text(*items))

    def refusal(self, *items: Body) -> str:
        """Return why the file is refused, by a dry run alike."""
        found = []
        for act in (self.plan, self.apply):
            with pytest.raises(ConfigurationError) as refused:
                act(*items)
            found.append(str(refused.value))
        assert found[0] == found[1]
        return found[0]


@pytest.fixture
def files(acme: TenantServer) -> Files:
    return Files(acme)


def details(plan: ChangePlan) -> str:
    return str(plan)


@pytest.mark.both_databases
def test_second_apply_of_a_file_changes_nothing(files: Files) -> None:
    files.apply(FILE, {**FILE, "event": "Login"})
    before, secrets = files.hooks.listed(), files.manager.secrets()
    assert [(item["Event"], item["TargetUrl"]) for item in before] == [("Register", TARGET), ("Login", TARGET)]
    assert [secret.partition("_")[0] for secret in secrets if secret != "t0ken"] == ["whsec", "whsec"]
    files.apply(FILE, {**FILE, "event": "LOGIN"})
    assert files.hooks.listed() == before
    assert files.manager.secrets() == secrets


def test_other_spelling_of_a_target_is_the_same_webhook(files: Files) -> None:
    files.apply(FILE)
    (before,) = files.hooks.listed()
    files.apply({**FILE, "target_url": "https://HOOKS.example:443/in"})
    (after,) = files.hooks.listed()
    assert (after["Id"], after["TargetUrl"]) == (before["Id"], "https://HOOKS.example:443/in")


@pytest.mark.both_databases
def test_plan_does_not_show_added_values(files: Files) -> None:
    files.apply(FILE)
    plan = details(files.plan({**FILE, "name": "Warehouse", "headers": {"X-Key": "another"}, "query_params": {}}))
    assert "Warehouse" in plan
    assert "headers: changed" in plan
    for value in ("from the file", "another", "t0ken"):
        assert value not in plan


def test_digests_of_added_values_are_encrypted_too(files: Files) -> None:
    files.apply(FILE)
    with files.manager.work() as work:
        row = work.one(select(resources).where(resources.c.tenant_id == files.hooks.tenant.tenant_id))
    assert row is not None
    assert {"name", "event"} <= set(row.origin["named"])
    assert not {"headers", "query_params"} & {*row.origin["named"], *row.content}


def test_file_changes_an_item_and_retains_its_secrets(files: Files) -> None:
    files.apply(FILE)
    (before,), secrets = files.hooks.listed(), files.manager.secrets()
    files.apply({**{key: value for key, value in FILE.items() if key != "token"}, "name": "Warehouse", "headers": {}})
    (after,) = files.hooks.listed()
    assert (after["Id"], after["Name"], after["Headers"]) == (before["Id"], "Warehouse", {})
    assert files.manager.secrets() == secrets


def test_webhook_of_the_api_is_found_by_url_and_event(files: Files) -> None:
    made = files.hooks.created("Register", IsEnabled=False)
    files.apply(FILE)
    (after,) = files.hooks.listed()
    assert (after["Id"], after["Name"]) == (made["Id"], "Shop")


def test_exported_file_applies_without_changes(files: Files) -> None:
    files.apply(FILE)
    before, exported = files.hooks.listed(), files.manager.export()
    (item,) = yaml.safe_load(exported)["tenants"][0]["webhooks"]
    assert item["headers"] == FILE["headers"]
    assert "t0ken" not in exported
    assert "whsec_" not in exported
    files.apply(item)
    assert files.hooks.listed() == before


def test_webhook_is_rotated_after_it_came_from_a_file(files: Files) -> None:
    files.apply(FILE)
    (made,) = files.hooks.listed()
    rotated = answered(files.hooks.program("POST", f"/v2/manage/webhooks/{made['Id']}/rotate-secret"))
    before, secrets = files.hooks.listed(), files.manager.secrets()
    files.apply(FILE)
    assert (files.hooks.listed(), files.manager.secrets()) == (before, secrets)
    assert rotated["FormerSigningSecretUntil"] == before[0]["FormerSigningSecretUntil"]


def test_file_may_omit_the_secret_of_its_authentication(files: Files) -> None:
    files.apply({key: value for key, value in FILE.items() if key != "token"})
    (made,) = files.hooks.listed()
    assert made["Authentication"]["BearerToken"]["Token"] is None


def test_item_is_refused_as_the_operation_refuses(files: Files, subtests: pytest.Subtests) -> None:
    refusals: tuple[tuple[dict[str, Any], str], ...] = (
        ({"event": "Logins"}, "event"),
        ({"target_url": "http://hooks.example/in"}, "target_url"),
        ({"headers": {"Host": "x"}}, "headers"),
        ({"headers": {"Authorization": "x"}}, "headers"),
        ({"query_params": {"a": "x\n"}}, "query_params"),
        ({"authentication": {"auth_type": "Basic"}}, "username"),
        ({"token": "a b"}, "Token"),
        ({"is_integration_webhook": True}, "is_integration_webhook"),
        ({"signing_secret": "whsec_x"}, "signing_secret"),
    )
    for change, member in refusals:
        with subtests.test(member):
            assert member in files.refusal({**FILE, **change})
    assert files.hooks.listed() == []


def test_same_url_and_event_twice_is_refused(files: Files) -> None:
    assert "webhooks[1]" in files.refusal(FILE, {**FILE, "event": "REGISTER"})
    assert files.hooks.listed() == []


def test_fifty_first_webhook_of_a_file_is_refused(files: Files) -> None:
    items = [{"target_url": f"https://hooks{number}.example/", "event": "Login"} for number in range(51)]
    with pytest.raises(ConfigurationError, match="webhooks"):
        files.plan(*items)


def test_prune_removes_what_the_file_omits(files: Files) -> None:
    files.hooks.created("Login", "https://old.example/")
    files.apply(FILE)
    assert len(files.hooks.listed()) == 2
    files.apply(FILE, prune=True)
    assert [item["TargetUrl"] for item in files.hooks.listed()] == [TARGET]
