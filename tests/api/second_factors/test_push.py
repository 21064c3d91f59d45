"""Push approval: enrolment by QR code, request at sign-in, signed answer of the device."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest
from sqlalchemy import text

from app.identity.assembly.worker import Worker
from app.identity.platform.outbox import claims
from tests.support.accounts.mailbox import sent_messages
from tests.support.credentials.devices import (
    AWS_KEY,
    FACTORS,
    PUSH,
    Phone,
    pinged,
    registered,
    registration_address,
    resent,
    sent_in,
    with_push,
)
from tests.support.credentials.factors import SecondFactorHolder
from tests.support.fakes.sns import Topic, sns
from tests.support.races import at_once
from tests.support.tenants.audit_entries import entries_of
from tests.support.tenants.tenant_server import NewTenantServer, answered, refused

Pair = tuple[SecondFactorHolder, Phone]
ONE_STORE = pytest.mark.parametrize("services", ["sqlite"], indirect=True)


@pytest.fixture
def pair(new_tenant_server: NewTenantServer) -> Pair:
    return registered(new_tenant_server)


@pytest.fixture
def ada(pair: Pair) -> SecondFactorHolder:
    return pair[0]


@pytest.fixture
def phone(pair: Pair) -> Phone:
    return pair[1]


def test_approval_on_device_completes_sign_in(ada: SecondFactorHolder, phone: Phone) -> None:
    challenge = ada.challenged()
    assert challenge["IsPushDeviceRegistered"] is True
    assert challenge["PushQRCode"] is None
    token = challenge["SecondFactorAuthenticationToken"]
    assert refused(pinged(ada, token)) == (403, 1295)
    assert entries_of(ada.tenant, "second_factor.asked") == [(ada.uid, {"kind": "push"})]
    (request,) = phone.received_messages()
    assert (request["identifier"], request["apikey"]) == (ada.email, ada.tenant.api_key)
    assert (
        request["secondfactorauthenticationtoken"] != token
    )  # the token that completes the sign-in stays with the browser
    assert answered(phone.respond("Yes")) == {"IsPosted": True}
    assert answered(pinged(ada, token))["Profile"]["Uid"] == ada.uid
    assert refused(pinged(ada, token)) == (403, 1296)


@ONE_STORE
def test_denials_on_device_count_towards_lock(new_tenant_server: NewTenantServer) -> None:
    ada, phone = registered(new_tenant_server, lockout={"type": "suspend", "maximum_failed_attempts": 2})
    tokens = []
    for _ in range(2):
        tokens.append(ada.token())
        answered(phone.respond("No"))
        ada.advance_clock(seconds=31)
    assert refused(ada.signs_in()) == (403, 1198)
    assert refused(pinged(ada, tokens[0])) == (403, 1264)


@ONE_STORE
def test_denied_sign_in_stays_denied(ada: SecondFactorHolder, phone: Phone) -> None:
    token = ada.token()
    answered(phone.respond("No"))
    assert refused(phone.respond("Yes")) == (403, 1312)
    assert refused(pinged(ada, token)) == (403, 1312)


@ONE_STORE
@pytest.mark.parametrize(
    ("members", "code"),
    [({"signature": "00"}, 1297), ({"signature": "no hex"}, 1297), ({"verify": "Perhaps"}, 1297)],
)
def test_answer_without_device_signature_is_refused(
    ada: SecondFactorHolder, phone: Phone, members: dict[str, Any], code: int
) -> None:
    token = ada.token()
    assert refused(phone.respond("Yes", **members)) == (403, code)
    assert refused(pinged(ada, token)) == (403, 1295)
    answered(phone.respond("Yes"))
    assert answered(pinged(ada, token))["Profile"]


@ONE_STORE
def test_signature_of_denial_is_refused_as_approval(ada: SecondFactorHolder, phone: Phone) -> None:
    ada.token()
    token = phone.received_messages()[-1]["secondfactorauthenticationtoken"]
    assert refused(phone.respond("Yes", signature=phone.sign(f"No{token}"))) == (403, 1297)


@ONE_STORE
def test_signature_of_another_device_is_refused(ada: SecondFactorHolder, phone: Phone) -> None:
    ada.token()
    assert refused(Phone(ada.tenant, name="Eve's phone").respond("Yes", phone.received_messages()[-1])) == (403, 1297)


@ONE_STORE
def test_newer_push_request_invalidates_older_one(ada: SecondFactorHolder, phone: Phone) -> None:
    first = ada.token()
    older = phone.received_messages()[-1]
    ada.advance_clock(seconds=31)
    second = ada.token()
    assert refused(phone.respond("Yes", older)) == (403, 1296)
    answered(phone.respond("Yes"))
    assert refused(pinged(ada, first)) == (403, 1296)
    assert answered(pinged(ada, second))["Profile"]


@ONE_STORE
def test_push_request_expires_after_three_minutes(ada: SecondFactorHolder, phone: Phone) -> None:
    ada.token()
    ada.advance_clock(minutes=3)
    assert refused(phone.respond("Yes")) == (403, 1296)


@ONE_STORE
def test_push_request_resends_are_limited(ada: SecondFactorHolder, phone: Phone) -> None:
    token = ada.token()
    assert resent(ada, token).status_code == 429
    for _ in range(4):
        ada.advance_clock(seconds=31)
        assert answered(resent(ada, token)) == {"IsPosted": True}
    ada.advance_clock(seconds=31)
    assert resent(ada, token).status_code == 429
    assert len(phone.received_messages()) == 5
    again = ada.token()  # over the limit no request is sent
    assert refused(pinged(ada, again)) == (403, 1296)


@pytest.mark.both_databases
def test_parallel_answers_of_device_succeed_once(ada: SecondFactorHolder, phone: Phone) -> None:
    ada.token()
    answers = at_once([partial(phone.respond, decision) for decision in ["Yes", "No"] * 5])
    assert [answer.status_code for answer in answers].count(200) == 1


@ONE_STORE
def test_push_request_of_another_tenant_is_refused(
    ada: SecondFactorHolder, phone: Phone, new_tenant_server: NewTenantServer
) -> None:
    bob, _ = registered(new_tenant_server)
    ada.token()
    assert refused(Phone(bob.tenant).respond("Yes", phone.received_messages()[-1])) == (403, 1296)


def test_device_enrolled_during_sign_in_is_stored_on_approval(new_tenant_server: NewTenantServer) -> None:
    ada, phone = with_push(new_tenant_server, two_factor="required")
    challenge = ada.challenged()
    token = challenge["SecondFactorAuthenticationToken"]
    assert refused(pinged(ada, token)) == (403, 1295)
    answered(phone.scan(registration_address(challenge["PushQRCode"])))
    assert ada.own_factors()["IsPushDeviceRegistered"] is False
    answered(phone.respond("Yes"))
    assert answered(pinged(ada, token))["Profile"]["Uid"] == ada.uid
    assert ada.own_factors()["IsPushDeviceRegistered"] is True


@ONE_STORE
def test_device_of_attacker_is_refused_after_owner_enrols(new_tenant_server: NewTenantServer) -> None:
    ada, phone = with_push(new_tenant_server, two_factor="required")
    attacker_challenge = ada.challenged()
    attacker_phone = Phone(ada.tenant, name="Eve's phone")
    answered(attacker_phone.scan(registration_address(attacker_challenge["PushQRCode"])))
    answered(attacker_phone.respond("Yes"))
    answered(phone.scan(registration_address(ada.own_factors()["PushQRCode"])))
    token = attacker_challenge["SecondFactorAuthenticationToken"]
    assert refused(pinged(ada, token)) == (403, 1296)
    ada.advance_clock(seconds=31)
    answered(resent(ada, token))
    assert refused(attacker_phone.respond("Yes", phone.received_messages()[-1])) == (403, 1297)


@ONE_STORE
def test_qr_code_of_sign_in_does_not_enrol_account_device(new_tenant_server: NewTenantServer) -> None:
    """An attacker with the password alone may have requested the QR code of the sign-in."""
    ada, phone = with_push(new_tenant_server, two_factor="required")
    address = ada.challenged()["PushQRCode"]
    assert ada.own_factors()["PushQRCode"] != address
    answered(phone.scan(registration_address(address)))
    assert ada.own_factors()["IsPushDeviceRegistered"] is False


@pytest.mark.both_databases
def test_qr_code_is_used_once_and_expires_after_fifteen_minutes(new_tenant_server: NewTenantServer) -> None:
    ada, phone = with_push(new_tenant_server)
    address = registration_address(ada.own_factors()["PushQRCode"])
    assert registration_address(ada.own_factors()["PushQRCode"]) == address
    ada.advance_clock(minutes=15)
    assert refused(phone.scan(address)) == (403, 1296)
    ada.stored_token = ""
    address = registration_address(ada.own_factors()["PushQRCode"])
    assert (
        sorted(item.status_code for item in at_once([lambda: phone.scan(address) for _ in range(6)]))
        == [200] + [403] * 5
    )


@ONE_STORE
@pytest.mark.parametrize(
    "members",
    [{"publicKey": "00ff"}, {"publicKey": "no hex"}, {"deviceName": ""}, {"deviceToken": ""}],
)
def test_device_without_valid_key_is_refused(new_tenant_server: NewTenantServer, members: dict[str, str]) -> None:
    ada, phone = with_push(new_tenant_server)
    address = registration_address(ada.own_factors()["PushQRCode"])
    assert refused(phone.scan(address, **members)) == (400, 908)
    answered(phone.scan(address))


@ONE_STORE
def test_qr_code_is_a_png_image(new_tenant_server: NewTenantServer) -> None:
    ada, _ = with_push(new_tenant_server, push={**PUSH, "qr_code_width": 300})
    address = ada.own_factors()["PushQRCode"]
    assert address.endswith("&size=300")
    request = dict(parse_qsl(urlsplit(address).query))
    answer = ada.tenant.send("GET", urlsplit(address).path, with_secret=False, **request)
    assert answer.status_code == 200
    assert answer.headers["Content-Type"] == "image/png"
    assert answer.data.startswith(b"\x89PNG")


@ONE_STORE
def test_disabled_platform_enrols_no_device(new_tenant_server: NewTenantServer) -> None:
    ada, phone = with_push(new_tenant_server, push={**PUSH, "android": {"enabled": False}})
    address = registration_address(ada.own_factors()["PushQRCode"])
    assert refused(phone.scan(address)) == (403, 1298)
    assert answered(Phone(ada.tenant, kind="iPhone").scan(address))


@ONE_STORE
def test_preferred_totp_gets_push_on_request_only(new_tenant_server: NewTenantServer) -> None:
    ada, phone = registered(new_tenant_server)
    ada.enrols()
    token = ada.token()
    assert phone.received_messages() == []
    answered(resent(ada, token))
    answered(phone.respond("Yes"))
    assert answered(pinged(ada, token))["Profile"]


def deliver(ada: SecondFactorHolder, topic: Topic) -> None:
    """Let the worker send the pending requests to the fake SNS."""
    services = ada.tenant.services
    settings = replace(services.settings, push_url=topic.url)
    worker = Worker(settings, services.database, services.clock)
    while worker.deliver_due():
        pass


@pytest.mark.database_alone
@ONE_STORE
@pytest.mark.parametrize(("kind", "name"), [("android", "GCM"), ("iOS", "APNS_SANDBOX")])
def test_push_request_is_sent_through_sns(new_tenant_server: NewTenantServer, kind: str, name: str) -> None:
    ada, _ = with_push(new_tenant_server, second_factors=FACTORS)
    phone = Phone(ada.tenant, kind=kind)
    answered(phone.scan(registration_address(ada.own_factors()["PushQRCode"])))
    token = ada.token()
    with sns(AWS_KEY) as topic:
        deliver(ada, topic)
    (created,) = [item for item in topic.received if item.get("Token") == phone.token]
    (published,) = [item for item in topic.published() if item["TargetArn"] == topic.endpoint(created)]
    assert f'"{name}"' in published["Message"]
    data = sent_in(published["Message"])
    answered(phone.respond("Yes", data))
    assert answered(pinged(ada, token))["Profile"]
    attributes = {value for key, value in published.items() if key.startswith("MessageAttributes")}
    assert "180" in attributes
    assert ("test.acme" in attributes) is (kind == "iOS")


@pytest.mark.database_alone
@ONE_STORE
def test_endpoint_known_to_sns_is_reused(ada: SecondFactorHolder) -> None:
    ada.token()
    with sns(AWS_KEY) as topic:
        topic.known = "arn:aws:sns:eu-central-1:123456789012:endpoint/GCM/acme/known"
        deliver(ada, topic)
        assert {item["TargetArn"] for item in topic.published()} == {topic.known}


@pytest.mark.database_alone
@ONE_STORE
@pytest.mark.parametrize(
    ("refusal", "state"),
    [((400, "EndpointDisabled"), "dead"), ((400, "Throttled"), "waiting"), ((500, "X"), "waiting")],
)
def test_sns_errors_are_retried_or_become_dead_letters(
    ada: SecondFactorHolder, refusal: tuple[int, str], state: str
) -> None:
    ada.token()
    with sns(AWS_KEY) as topic:
        topic.refusal = refusal
        deliver(ada, topic)
    rows = [row for row in claims.list_messages(ada.tenant.services.database) if row.tenant_id == ada.tenant.tenant_id]
    (row,) = [row for row in rows if row.kind == "push"]
    assert row.state == state
    assert "device-token" not in row.last_problem


@pytest.mark.database_alone
@ONE_STORE
def test_expired_push_request_is_not_sent(ada: SecondFactorHolder, phone: Phone) -> None:
    ada.token()
    ada.advance_clock(minutes=4)
    with sns(AWS_KEY) as topic:
        deliver(ada, topic)
        assert phone.token not in str(topic.received)


@ONE_STORE
def test_push_credentials_are_encrypted_at_rest(ada: SecondFactorHolder) -> None:
    ada.token()
    sent: Any = sent_messages(ada.tenant.services, ada.tenant.tenant_id, "push")[-1]
    assert sent["secret_access_key"] == AWS_KEY["secret_access_key"]
    with ada.tenant.services.database.connect() as connection:
        rows = [
            *connection.execute(text("select * from outbox")).all(),
            *connection.execute(text("select * from tenants")).all(),
        ]
    assert AWS_KEY["secret_access_key"] not in str([tuple(row) for row in rows])
