"""Approval on another device: enrolled by scanning, asked at sign-in, answered with a signature (interface mfa.md section 8)."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest
from sqlalchemy import text

from app.identity.entry.worker import Worker
from app.identity.platform.outbox import claims
from tests.support.devices import (
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
from tests.support.factors import SecondFactorHolder
from tests.support.mailbox import sent_messages
from tests.support.races import at_once
from tests.support.sns import Topic, sns
from tests.support.tenant_server import NewTenantServer, answered, refused

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


def test_the_device_is_asked_at_sign_in_and_its_yes_ends_it(ada: SecondFactorHolder, phone: Phone) -> None:
    challenge = ada.challenged()
    assert challenge["IsPushDeviceRegistered"] is True
    assert challenge["PushQRCode"] is None
    token = challenge["SecondFactorAuthenticationToken"]
    assert refused(pinged(ada, token)) == (403, 1295)
    (asked,) = phone.asked()
    assert (asked["identifier"], asked["apikey"]) == (ada.email, ada.tenant.api_key)
    assert asked["secondfactorauthenticationtoken"] != token  # what opens the session stays with the browser
    assert answered(phone.respond("Yes")) == {"IsPosted": True}
    assert answered(pinged(ada, token))["Profile"]["Uid"] == ada.uid
    assert refused(pinged(ada, token)) == (403, 1296)


@ONE_STORE
def test_whoever_is_asked_and_did_not_sign_in_says_no_and_it_counts(new_tenant_server: NewTenantServer) -> None:
    ada, phone = registered(new_tenant_server, lockout={"type": "suspend", "maximum_failed_attempts": 2})
    tokens = []
    for _ in range(2):
        tokens.append(ada.token())
        answered(phone.respond("No"))
        ada.waits(seconds=31)
    assert refused(ada.signs_in()) == (403, 1198)
    assert refused(pinged(ada, tokens[0])) == (403, 1264)


@ONE_STORE
def test_a_denied_sign_in_stays_denied(ada: SecondFactorHolder, phone: Phone) -> None:
    token = ada.token()
    answered(phone.respond("No"))
    assert refused(phone.respond("Yes")) == (403, 1312)
    assert refused(pinged(ada, token)) == (403, 1312)


@ONE_STORE
@pytest.mark.parametrize(
    ("members", "code"),
    [({"signature": "00"}, 1297), ({"signature": "no hex"}, 1297), ({"verify": "Perhaps"}, 1297)],
)
def test_what_is_not_signed_by_the_device_changes_nothing(
    ada: SecondFactorHolder, phone: Phone, members: dict[str, str], code: int
) -> None:
    token = ada.token()
    assert refused(phone.respond("Yes", **members)) == (403, code)
    assert refused(pinged(ada, token)) == (403, 1295)
    answered(phone.respond("Yes"))
    assert answered(pinged(ada, token))["Profile"]


@ONE_STORE
def test_a_signed_no_is_no_yes(ada: SecondFactorHolder, phone: Phone) -> None:
    ada.token()
    token = phone.asked()[-1]["secondfactorauthenticationtoken"]
    assert refused(phone.respond("Yes", signature=phone.sign(f"No{token}"))) == (403, 1297)


@ONE_STORE
def test_the_key_of_another_device_approves_nothing(ada: SecondFactorHolder, phone: Phone) -> None:
    ada.token()
    assert refused(Phone(ada.tenant, name="Eve's phone").respond("Yes", phone.asked()[-1])) == (403, 1297)


@ONE_STORE
def test_an_approval_is_for_the_sign_in_that_asked_and_a_new_request_ends_the_older(
    ada: SecondFactorHolder, phone: Phone
) -> None:
    first = ada.token()
    older = phone.asked()[-1]
    ada.waits(seconds=31)
    second = ada.token()
    assert refused(phone.respond("Yes", older)) == (403, 1296)
    answered(phone.respond("Yes"))
    assert refused(pinged(ada, first)) == (403, 1296)
    assert answered(pinged(ada, second))["Profile"]


@ONE_STORE
def test_a_request_ends_after_three_minutes(ada: SecondFactorHolder, phone: Phone) -> None:
    ada.token()
    ada.waits(minutes=3)
    assert refused(phone.respond("Yes")) == (403, 1296)


@ONE_STORE
def test_it_is_sent_again_half_a_minute_later_and_five_times_in_ten_minutes_at_most(
    ada: SecondFactorHolder, phone: Phone
) -> None:
    token = ada.token()
    assert resent(ada, token).status_code == 429
    for _ in range(4):
        ada.waits(seconds=31)
        assert answered(resent(ada, token)) == {"IsPosted": True}
    ada.waits(seconds=31)
    assert resent(ada, token).status_code == 429
    assert len(phone.asked()) == 5
    again = ada.token()  # whoever has another way goes on; here it waits
    assert refused(pinged(ada, again)) == (403, 1296)


def test_of_many_answers_at_once_one_counts(ada: SecondFactorHolder, phone: Phone) -> None:
    ada.token()
    answers = at_once([lambda said=said: phone.respond(said).status_code for said in ["Yes", "No"] * 5])
    assert answers.count(200) == 1


@ONE_STORE
def test_another_tenant_does_not_know_the_request(
    ada: SecondFactorHolder, phone: Phone, new_tenant_server: NewTenantServer
) -> None:
    bob, _ = registered(new_tenant_server)
    ada.token()
    assert refused(Phone(bob.tenant).respond("Yes", phone.asked()[-1])) == (403, 1296)


def test_a_device_enrolled_during_sign_in_counts_once_it_approved(new_tenant_server: NewTenantServer) -> None:
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
def test_a_device_of_another_sign_in_opens_nothing_once_the_owner_enrolled(new_tenant_server: NewTenantServer) -> None:
    ada, phone = with_push(new_tenant_server, two_factor="required")
    thief = ada.challenged()
    theirs = Phone(ada.tenant, name="Eve's phone")
    answered(theirs.scan(registration_address(thief["PushQRCode"])))
    answered(theirs.respond("Yes"))
    answered(phone.scan(registration_address(ada.own_factors()["PushQRCode"])))
    token = thief["SecondFactorAuthenticationToken"]
    assert refused(pinged(ada, token)) == (403, 1296)
    ada.waits(seconds=31)
    answered(resent(ada, token))
    assert refused(theirs.respond("Yes", phone.asked()[-1])) == (403, 1297)


@ONE_STORE
def test_a_picture_drawn_for_a_sign_in_is_never_the_owners(new_tenant_server: NewTenantServer) -> None:
    """Whoever has the password alone had it drawn; that the owner looks at their factors later makes it no better."""
    ada, phone = with_push(new_tenant_server, two_factor="required")
    drawn = ada.challenged()["PushQRCode"]
    assert ada.own_factors()["PushQRCode"] != drawn
    answered(phone.scan(registration_address(drawn)))
    assert ada.own_factors()["IsPushDeviceRegistered"] is False


def test_a_picture_is_scanned_once_and_for_a_quarter_of_an_hour(new_tenant_server: NewTenantServer) -> None:
    ada, phone = with_push(new_tenant_server)
    drawn = registration_address(ada.own_factors()["PushQRCode"])
    assert registration_address(ada.own_factors()["PushQRCode"]) == drawn
    ada.waits(minutes=15)
    assert refused(phone.scan(drawn)) == (403, 1296)
    ada.held = ""
    drawn = registration_address(ada.own_factors()["PushQRCode"])
    assert (
        sorted(one.status_code for one in at_once([lambda: phone.scan(drawn) for _ in range(6)])) == [200] + [403] * 5
    )


@ONE_STORE
@pytest.mark.parametrize(
    "members",
    [{"publicKey": "00ff"}, {"publicKey": "no hex"}, {"deviceName": ""}, {"deviceToken": ""}],
)
def test_a_device_without_a_key_is_none(new_tenant_server: NewTenantServer, members: dict[str, str]) -> None:
    ada, phone = with_push(new_tenant_server)
    drawn = registration_address(ada.own_factors()["PushQRCode"])
    assert refused(phone.scan(drawn, **members)) == (400, 908)
    answered(phone.scan(drawn))


@ONE_STORE
def test_the_picture_is_a_picture(new_tenant_server: NewTenantServer) -> None:
    ada, _ = with_push(new_tenant_server, push={**PUSH, "qr_code_width": 300})
    address = ada.own_factors()["PushQRCode"]
    assert address.endswith("&size=300")
    asked = dict(parse_qsl(urlsplit(address).query))
    answer = ada.tenant.send("GET", urlsplit(address).path, with_secret=False, **asked)
    assert answer.status_code == 200
    assert answer.headers["Content-Type"] == "image/png"
    assert answer.data.startswith(b"\x89PNG")


@ONE_STORE
def test_without_a_service_nobody_is_asked_and_nobody_enrols(new_tenant_server: NewTenantServer) -> None:
    ada, phone = with_push(new_tenant_server, push={**PUSH, "android": {"enabled": False}})
    drawn = registration_address(ada.own_factors()["PushQRCode"])
    assert refused(phone.scan(drawn)) == (403, 1298)
    assert answered(Phone(ada.tenant, kind="iPhone").scan(drawn))


@ONE_STORE
def test_whoever_prefers_the_app_is_not_pushed(new_tenant_server: NewTenantServer) -> None:
    ada, phone = registered(new_tenant_server)
    ada.enrols()
    token = ada.token()
    assert phone.asked() == []
    answered(resent(ada, token))
    answered(phone.respond("Yes"))
    assert answered(pinged(ada, token))["Profile"]


def deliver(ada: SecondFactorHolder, there: Topic) -> None:
    """Let the worker send what waits, to this SNS."""
    services = ada.tenant.services
    settings = type(services.settings)(
        **{**vars(services.settings), "push_url": there.url, "secrets": services.settings.secrets}
    )
    worker = Worker(settings, services.database, services.clock)
    while worker.deliver_due():
        pass


@pytest.mark.database_alone
@ONE_STORE
@pytest.mark.parametrize(("kind", "name"), [("android", "GCM"), ("iOS", "APNS_SANDBOX")])
def test_the_worker_sends_it_through_sns(new_tenant_server: NewTenantServer, kind: str, name: str) -> None:
    ada, _ = with_push(new_tenant_server, second_factors=FACTORS)
    phone = Phone(ada.tenant, kind=kind)
    answered(phone.scan(registration_address(ada.own_factors()["PushQRCode"])))
    token = ada.token()
    with sns(AWS_KEY) as there:
        deliver(ada, there)
    (created,) = [one for one in there.asked if one.get("Token") == phone.token]
    (published,) = [one for one in there.published() if one["TargetArn"] == there.endpoint(created)]
    assert f'"{name}"' in published["Message"]
    data = sent_in(published["Message"])
    answered(phone.respond("Yes", data))
    assert answered(pinged(ada, token))["Profile"]
    stated = {value for key, value in published.items() if key.startswith("MessageAttributes")}
    assert "180" in stated
    assert ("test.acme" in stated) is (kind == "iOS")


@pytest.mark.database_alone
@ONE_STORE
def test_what_sns_knows_under_other_attributes_is_the_same_device(ada: SecondFactorHolder) -> None:
    ada.token()
    with sns(AWS_KEY) as there:
        there.known = "arn:aws:sns:eu-central-1:123456789012:endpoint/GCM/acme/known"
        deliver(ada, there)
        assert {one["TargetArn"] for one in there.published()} == {there.known}


@pytest.mark.database_alone
@ONE_STORE
@pytest.mark.parametrize(
    ("refusal", "state"),
    [((400, "EndpointDisabled"), "dead"), ((400, "Throttled"), "waiting"), ((500, "X"), "waiting")],
)
def test_what_sns_refuses_is_tried_again_or_given_up(
    ada: SecondFactorHolder, refusal: tuple[int, str], state: str
) -> None:
    ada.token()
    with sns(AWS_KEY) as there:
        there.refusal = refusal
        deliver(ada, there)
    rows = [row for row in claims.list_messages(ada.tenant.services.database) if row.tenant_id == ada.tenant.tenant_id]
    (row,) = [row for row in rows if row.kind == "push"]
    assert row.state == state
    assert "device-token" not in row.last_problem


@pytest.mark.database_alone
@ONE_STORE
def test_a_request_that_is_over_is_not_sent(ada: SecondFactorHolder, phone: Phone) -> None:
    ada.token()
    ada.waits(minutes=4)
    with sns(AWS_KEY) as there:
        deliver(ada, there)
        assert phone.token not in str(there.asked)


@ONE_STORE
def test_no_secret_lies_in_the_clear(ada: SecondFactorHolder) -> None:
    ada.token()
    sent: Any = sent_messages(ada.tenant.services, ada.tenant.tenant_id, "push")[-1]
    assert sent["secret_access_key"] == AWS_KEY["secret_access_key"]
    with ada.tenant.services.database.connect() as connection:
        rows = (
            connection.execute(text("select * from outbox")).all()
            + connection.execute(text("select * from tenants")).all()
        )
    assert AWS_KEY["secret_access_key"] not in str([tuple(row) for row in rows])
