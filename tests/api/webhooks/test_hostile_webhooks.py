"""Webhooks as attackers use them: loops through our own interface, values that come back, bodies that outlive an account."""

from __future__ import annotations

import logging
from datetime import timedelta
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import quote, quote_plus

import pytest
from sqlalchemy import select

from app.contract.catalogue import load_catalogue
from app.identity.platform.audit import audit
from app.identity.platform.outbox.outbox import HELD, decrypt_answer
from app.identity.platform.store.unit_of_work import UnitOfWork
from app.kit.clock import iso
from app.kit.limits.rate_limits import Rate
from app.kit.operations.errors import declared_as
from tests.support.fakes.https_receiver import answering
from tests.support.tenants.machines import ask, machine
from tests.support.tenants.tenant_server import MANAGE, NewTenantServer, TenantServer, answered, refused
from tests.support.tenants.webhook_deliveries import WebhookDeliveries
from tests.support.tenants.webhooks import Webhooks
from tests.support.visitors.plain_client import PlainClient

pytestmark = pytest.mark.database_alone  # a worker delivers all due messages of the database

WEBHOOKS = "/v2/manage/webhooks"
OBJECTS = {"custom_objects": [{"name": "notes", "max_records_per_account": 100}]}


def forwards_to(deliveries: WebhookDeliveries, path: str, statuses: list[int], **query: str) -> None:
    """Let the receiver be our own API: it passes each request on, as it is, with the credentials of the tenant."""
    tenant = deliveries.tenant
    keys = {"apikey": tenant.api_key, "apisecret": tenant.api_secret, **query}

    def answer(handler: BaseHTTPRequestHandler) -> None:
        request = deliveries.receiver.received[-1]
        headers = {name: value for name, value in request.headers.items() if name not in ("host", "content-length")}
        base = f"http://{tenant.services.settings.api_hostname}"
        response = PlainClient(tenant.app, use_cookies=False).open(
            path, method="POST", base_url=base, query_string=keys, headers=headers, data=request.body
        )
        statuses.append(response.status_code)
        answering(response.status_code, response.data, {})(handler)

    deliveries.receiver.answer = answer


@pytest.mark.both_databases
def test_delivery_to_our_own_interface_is_refused(
    deliveries: WebhookDeliveries,
    new_tenant_server: NewTenantServer,
) -> None:
    """Else a record causes a delivery for each webhook, each of which makes a record, and so on."""
    own = WebhookDeliveries(Webhooks(new_tenant_server(**OBJECTS)), deliveries.receiver)
    for path in ("/one", "/two"):
        own.subscribe("CreateCustomObject", path)
    uid, statuses = own.tenant.create()["Uid"], list[int]()
    path = f"{MANAGE}/{uid}/customobject"
    forwards_to(own, path, statuses, objectname="notes")
    answered(own.tenant.send("POST", path, {"text": "begin"}, objectname="notes"))
    own.deliver()

    assert statuses == [400, 400]
    assert len([row for row in own.rows() if row.event == "CreateCustomObject"]) == 2


def test_foreign_webhook_headers_alone_are_accepted(deliveries: WebhookDeliveries) -> None:
    """Programs that relay webhooks of other makers may pass their headers on."""
    answered(
        deliveries.tenant.send(
            "GET",
            f"{MANAGE}/{deliveries.tenant.create()['Uid']}",
            headers={"webhook-id": "x", "webhook-signature": "v1,x"},
        )
    )


@pytest.mark.both_databases
def test_bodies_of_a_former_uid_go_with_the_account(
    deliveries: WebhookDeliveries, new_tenant_server: NewTenantServer
) -> None:
    own = WebhookDeliveries(Webhooks(new_tenant_server(custom_uid=True)), deliveries.receiver)
    own.subscribe()
    uid = own.change_account(LastName="Lovelace")
    own.deliver()
    answered(own.tenant.send("PUT", f"{MANAGE}/uid", {"NewUid": "ada-1"}, uid=uid))
    answered(own.tenant.send("DELETE", f"{MANAGE}/ada-1"))

    (changed,) = (row for row in own.rows() if row.event == "UpdateProfile")
    assert (changed.sealed, changed.sealed_answer) == (None, None)


@pytest.mark.both_databases
def test_order_outlives_a_change_of_the_uid(deliveries: WebhookDeliveries, new_tenant_server: NewTenantServer) -> None:
    """The uid changes while a delivery is on its way, and others are held back behind it."""
    own = WebhookDeliveries(Webhooks(new_tenant_server(custom_uid=True)), deliveries.receiver)
    own.subscribe()
    uid = own.change_account(LastName="1")
    own.tenant.update(uid, {"LastName": "2"})

    def answer(handler: BaseHTTPRequestHandler) -> None:
        if len(deliveries.receiver.received) == 1:
            held = own.rows()[-1]
            assert held.due_at in (HELD, held.created_at)
            answered(own.tenant.send("PUT", f"{MANAGE}/uid", {"NewUid": "ada-1"}, uid=uid))
            own.tenant.update("ada-1", {"LastName": "3"})
            own.deliver()
            assert len(deliveries.receiver.received) == 1, "the others wait for the one on its way"
        answering(200, b"", {})(handler)

    deliveries.receiver.answer = answer
    own.deliver()
    own.deliver()

    posted = [row.message_id for row in own.rows() if row.event == "UpdateProfile"]
    assert [request.headers["webhook-id"] for request in deliveries.receiver.received] == posted


def echoes(secret: str) -> list[str]:
    """Return a secret as targets repeat it: as it is, in a URL or a form, in JSON."""
    return [secret, quote(secret), quote(secret, safe=""), quote_plus(secret), secret.replace('"', '\\"')]


def logged(deliveries: WebhookDeliveries) -> str:
    answer = decrypt_answer(deliveries.services.encryption, deliveries.rows()[-1])
    assert answer is not None
    return str(answer)


def test_secret_is_struck_out_in_each_form(deliveries: WebhookDeliveries) -> None:
    password, key = 'pass "word"/ü', "a secret+key/of=shop"
    basic = {"AuthType": "Basic", "BasicAuth": {"Username": "ada", "Password": password}}
    deliveries.subscribe(QueryParams={"key": key}, Authentication=basic)
    repeated = [*echoes(key), *echoes(password)]
    deliveries.receiver.answers(200, "\n".join(repeated).encode())
    deliveries.delivered()

    record = logged(deliveries)
    assert [form for form in repeated if form in record] == []


@pytest.mark.parametrize("length", [4, 12, 23])
def test_secret_at_the_cut_is_struck_out(deliveries: WebhookDeliveries, length: int) -> None:
    """The log has the first bytes of an answer: where they end within a secret, its beginning is one too."""
    token = "0123456789abCDEfghijklmn"
    deliveries.subscribe(Authentication={"AuthType": "Bearer", "BearerToken": {"Token": token}})
    body = b"x" * (4_096 - length) + token.encode()
    deliveries.receiver.answers(500, body, {"X-Repeated": "y" * (500 - length) + token, f"X-{token}": "a name"})
    deliveries.delivered()

    record = logged(deliveries)
    assert token[:length].lower() not in record.lower()
    assert "x" * (4_096 - length) in record


def test_secrets_are_in_no_log_audit_row_or_refusal(
    deliveries: WebhookDeliveries, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, "gatehouse")
    bearer = {"AuthType": "Bearer", "BearerToken": {"Token": "secret-token"}}
    added: dict[str, Any] = {
        "Headers": {"X-Key": "secret-header"},
        "QueryParams": {"key": "secret-query"},
        "Authentication": bearer,
    }
    webhook = deliveries.subscribe(path="/hook?own=secret-path", **added)
    path, program = f"{WEBHOOKS}/{webhook['Id']}", deliveries.webhooks.program
    deliveries.receiver.answers(500, b"secret-header")
    deliveries.delivered()
    answered(program("POST", f"{path}/test"))
    renewed = answered(program("POST", f"{path}/rotate-secret"))
    refusals = [
        program("PUT", path, {**added, "Headers": {"X-Key": "secret-header\r\nX: y"}}),
        program("PUT", path, {**added, "Headers": {"X Key": "secret-header"}}),
        program("PUT", path, {**added, "QueryParams": {"key": "secret-query\x00"}}),
        program("PUT", path, {**added, "Authentication": {"AuthType": "Bearer", "BearerToken": {"Token": "secret-token x"}}}),
        program("PUT", path, {**added, "Authentication": {"AuthType": "Bearer", "BearerToken": {"Token": "secret-token" * 400}}}),
        program("PUT", path, {**added, "QueryParams": {"key": "secret-query" * 400}}),
    ]  # fmt: skip
    with UnitOfWork(deliveries.services.database, deliveries.tenant.tenant_id).separate_transaction() as work:
        rows = work.all(select(audit.c.facts).where(audit.c.tenant_id == deliveries.tenant.tenant_id))

    assert [response.status_code for response in refusals] == [400] * len(refusals)
    problems = [str(row.last_problem) for row in deliveries.rows()]
    shown = "\n".join(
        [caplog.text, *(str(row.facts) for row in rows), *(answer.text for answer in refusals), *problems]
    )
    for secret in ("secret-", webhook["SigningSecret"], renewed["SigningSecret"], deliveries.tenant.api_secret):
        assert secret not in shown


def test_replayed_deliveries_are_limited(deliveries: WebhookDeliveries, monkeypatch: pytest.MonkeyPatch) -> None:
    """One request lets us send a thousand to somebody's server."""
    monkeypatch.setattr("app.identity.administration.webhooks.deliveries._REPLAYED", Rate(3, 60))
    webhook = deliveries.subscribe()
    deliveries.delivered()
    path = f"{WEBHOOKS}/{webhook['Id']}/replay"
    since = {"Since": iso(deliveries.services.clock.now() - timedelta(hours=1)), "State": "sent"}
    assert answered(deliveries.webhooks.program("POST", path, since))["Count"] == 2
    deliveries.deliver()
    refusal = deliveries.webhooks.program("POST", path, since)

    assert (refusal.status_code, int(refusal.headers["Retry-After"]) > 0) == (429, True)
    assert {row.state for row in deliveries.rows()} == {"sent"}, "none of them is sent again"


def test_token_to_read_webhooks_sees_no_profile(deliveries: WebhookDeliveries, globex: TenantServer) -> None:
    webhook = deliveries.subscribe()
    deliveries.change_account(LastName="Lovelace")
    deliveries.receiver.answers(200, b"Lovelace", {"X-Name": "Lovelace"})
    deliveries.deliver()
    delivery_id = deliveries.receiver.received[-1].headers["webhook-id"]
    token, path = machine(deliveries.tenant, "webhook:read"), f"{WEBHOOKS}/{webhook['Id']}"
    addresses = ["", "/deliveries", f"/deliveries/{delivery_id}"]
    responses = [ask(deliveries.tenant, token, "GET", f"{path}{address}") for address in addresses]

    assert "Lovelace" not in "".join(response.text for response in responses)
    assert webhook["SigningSecret"] not in responses[0].text
    foreign = ask(globex, machine(globex, "webhook:read", "profile:read"), "GET", f"{path}/deliveries/{delivery_id}")
    assert refused(foreign) == (404, 7986)


def test_token_to_update_alone_cannot_lead_profiles_away(deliveries: WebhookDeliveries) -> None:
    webhook = deliveries.subscribe()
    token, path = machine(deliveries.tenant, "webhook:update", "webhook:create"), f"{WEBHOOKS}/{webhook['Id']}"
    changes: list[tuple[str, str, Any]] = [
        ("PUT", path, {"Headers": {"X-Forward-To": "https://evil.example"}}),
        ("PUT", path, {"IsEnabled": False}),
        ("POST", WEBHOOKS, {"Event": "Login", "TargetUrl": "https://evil.example/"}),
        ("POST", f"{path}/rotate-secret", None),
    ]
    for method, address, body in changes:
        assert refused(ask(deliveries.tenant, token, method, address, body)) == (403, 6002)


def test_every_operation_can_refuse_our_own_requests() -> None:
    for operation in load_catalogue():
        refusal = operation.error_profile.bad_parameter("webhook-signature")
        assert declared_as(refusal, operation.every_error) is not None, operation.name
