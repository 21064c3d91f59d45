"""The older address of webhooks: the same webhooks with the API secret, and errors of its own."""

from __future__ import annotations

from typing import Any

import pytest

from app.contract.webhooks.events import EVENTS
from app.contract.webhooks.webhook_operations import OLDER_WEBHOOKS, WEBHOOKS
from tests.support.operations.resources import at_most
from tests.support.tenants.machines import ask, machine
from tests.support.tenants.tenant_server import TenantServer, answered, refused
from tests.support.tenants.webhooks import TARGET, Body, Webhooks

MALFORMED = (400, 908)
FULL, UNKNOWN_EVENT, WRONG_URL, TAKEN, UNKNOWN = (403, 1085), (403, 1086), (403, 1087), (403, 1110), (403, 1112)
BODY: Body = {"Event": "login", "TargetUrl": TARGET, "Name": "Shop", "Headers": {"X-Team": "shop"}}


@pytest.fixture
def hooks(acme: TenantServer) -> Webhooks:
    return Webhooks(acme)


@pytest.mark.both_databases
def test_both_addresses_have_the_same_webhooks(hooks: Webhooks) -> None:
    made = answered(hooks.server("POST", "/v2/manage/webhook", BODY))
    assert (made["Event"], made["TargetUrl"], made["Headers"]) == ("Login", TARGET, {"X-Team": "shop"})
    assert made["SigningSecret"].startswith("whsec_")
    masked, webhook_id = {**made, "SigningSecret": "********"}, made["Id"]
    listed = answered(hooks.server("GET", "/v2/manage/webhook", page=1))
    assert hooks.listed() == listed["Data"] == [masked]
    assert answered(hooks.program("GET", f"/v2/manage/webhooks/{webhook_id}")) == masked
    assert answered(hooks.server("GET", f"/v2/manage/webhook/{webhook_id}")) == masked
    changed = answered(hooks.server("PUT", f"/v2/manage/webhook/{webhook_id}", {"Name": "Warehouse"}))
    assert answered(hooks.program("GET", f"/v2/manage/webhooks/{webhook_id}")) == changed
    assert (changed["Name"], changed["Headers"]) == ("Warehouse", {})
    assert answered(hooks.server("DELETE", f"/v2/manage/webhook/{webhook_id}")) == {"isdeleted": True}
    assert hooks.listed() == []


def test_events_are_listed_at_the_older_address(hooks: Webhooks) -> None:
    assert answered(hooks.server("GET", "/v2/manage/webhook/events")) == {"Data": list(EVENTS)}


@pytest.mark.parametrize("event", ["Logins", "", "ping"])
def test_unknown_event_has_its_own_error(hooks: Webhooks, event: str) -> None:
    assert refused(hooks.server("POST", "/v2/manage/webhook", {**BODY, "Event": event})) == UNKNOWN_EVENT


@pytest.mark.parametrize(
    "target", ["http://hooks.example/", "x", "", "https://a:b@hooks.example/", f"https://a.example/{'a' * 2_048}"]
)
def test_wrong_target_has_its_own_error(hooks: Webhooks, target: str) -> None:
    assert refused(hooks.server("POST", "/v2/manage/webhook", {**BODY, "TargetUrl": target})) == WRONG_URL


@pytest.mark.both_databases
def test_duplicate_of_a_newer_webhook_has_its_own_error(hooks: Webhooks) -> None:
    hooks.created()
    assert refused(hooks.server("POST", "/v2/manage/webhook", BODY)) == TAKEN


def test_limit_is_that_of_all_webhooks_with_its_own_error(hooks: Webhooks) -> None:
    assert OLDER_WEBHOOKS.max_items == WEBHOOKS.max_items
    with at_most(OLDER_WEBHOOKS, 1):
        hooks.created()
        assert refused(hooks.server("POST", "/v2/manage/webhook", {**BODY, "Event": "Register"})) == FULL


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE"])
@pytest.mark.parametrize("webhook_id", ["00000000-0000-0000-0000-000000000000", "a%20b"])
def test_unknown_id_has_its_own_error(hooks: Webhooks, method: str, webhook_id: str) -> None:
    body = {"Name": "n"} if method == "PUT" else None
    assert refused(hooks.server(method, f"/v2/manage/webhook/{webhook_id}", body)) == UNKNOWN


def test_other_malformed_members_are_named(hooks: Webhooks, subtests: pytest.Subtests) -> None:
    members: tuple[tuple[str, Any], ...] = (
        ("Headers", {"Host": "x"}), ("QueryParams", {"a\n": "x"}), ("Name", "n" * 101), ("Authentication", {"AuthType": "Bearer"}),
    )  # fmt: skip
    for member, value in members:
        with subtests.test(member):
            answer = hooks.server("POST", "/v2/manage/webhook", {**BODY, member: value})
            assert refused(answer) == MALFORMED
            assert member in answer.get_json()["Description"]
    assert refused(hooks.server("POST", "/v2/manage/webhook", {"Event": "Login"})) == MALFORMED


def test_older_address_admits_machines_with_the_same_powers(hooks: Webhooks) -> None:
    without = machine(hooks.tenant, "webhook:create", "webhook:read", "webhook:delete")
    assert refused(ask(hooks.tenant, without, "POST", "/v2/manage/webhook", BODY)) == (403, 6002)
    made = answered(ask(hooks.tenant, hooks.token, "POST", "/v2/manage/webhook", BODY))
    assert [item["Id"] for item in answered(ask(hooks.tenant, without, "GET", "/v2/manage/webhook"))["Data"]] == [
        made["Id"]
    ]
    assert refused(ask(hooks.tenant, without, "DELETE", f"/v2/manage/webhook/{made['Id']}")) == (403, 6002)


def test_api_key_alone_is_refused(hooks: Webhooks, subtests: pytest.Subtests) -> None:
    made = answered(hooks.server("POST", "/v2/manage/webhook", BODY))
    addresses = (
        ("GET", "/v2/manage/webhook"), ("POST", "/v2/manage/webhook"), ("GET", "/v2/manage/webhook/events"),
        ("DELETE", f"/v2/manage/webhook/{made['Id']}"),
    )  # fmt: skip
    for method, address in addresses:
        body = BODY if method == "POST" else None
        with subtests.test(f"{method} {address}"):
            assert refused(hooks.tenant.send(method, address, body, with_secret=False)) == (400, 923)
    assert len(hooks.listed()) == 1


def test_foreign_webhook_is_not_subscribed(hooks: Webhooks, globex: TenantServer) -> None:
    made = hooks.created()
    assert refused(Webhooks(globex).server("DELETE", f"/v2/manage/webhook/{made['Id']}")) == UNKNOWN
    assert answered(Webhooks(globex).server("GET", "/v2/manage/webhook")) == {"Data": []}
