"""Phone numbers as identifiers: verification, change, removal."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.support.accounts.mailbox import code_in, sent_messages
from tests.support.accounts.registering import register
from tests.support.tenants.tenant_server import PASSWORD, NewTenantServer, TenantServer, answered, refused

CODE, PHONE, LOGIN = "/identity/v2/auth/phone/otp", "/identity/v2/auth/phone", "/identity/v2/auth/login"
ADA, OTHER = "+442079460123", "+442079460199"
ARABIC = str.maketrans("0123456789", "\u0660\u0661\u0662\u0663\u0664\u0665\u0666\u0667\u0668\u0669")


@pytest.fixture
def server(new_tenant_server: NewTenantServer) -> TenantServer:
    return new_tenant_server(phone_login=True, email_login=True, hide_unknown_accounts=False)


def request_code(server: TenantServer, phone: str | None = ADA, **more: Any) -> Any:
    return server.send("POST", CODE, {"phone": phone} if phone else {}, with_secret=False, **more)


def verify(server: TenantServer, code: str, phone: str | None = ADA, **more: Any) -> Any:
    return server.send("PUT", CODE, {"phone": phone} if phone else {}, with_secret=False, otp=code, **more)


def texts(server: TenantServer) -> list[dict[str, Any]]:
    return sent_messages(server.services, server.tenant_id, "sms")


def code(server: TenantServer) -> str:
    return code_in(texts(server)[-1])


def token(server: TenantServer, uid: str) -> str:
    return str(server.tokens(uid)["access_token"])


def test_phone_code_verifies_number_and_signs_in(server: TenantServer) -> None:
    uid = server.create(PhoneId=ADA)["Uid"]
    assert refused(server.send("POST", LOGIN, {"phone": ADA, "password": PASSWORD}, with_secret=False)) == (403, 1066)
    sent = answered(request_code(server))
    assert sent["IsPosted"] is True
    assert sent["Data"]["Sid"] == texts(server)[-1]["sid"]
    typed = code(server).translate(ARABIC)
    session = answered(verify(server, f" {typed[:3]}-{typed[3:]} ", "0044 20 7946 0123"))
    assert session["Profile"]["Uid"] == uid
    assert session["Profile"]["PhoneIdVerified"] is True
    assert session["access_token"]
    assert session["expires_in"]
    answered(server.send("POST", LOGIN, {"phone": ADA, "password": PASSWORD}, with_secret=False))


def test_invalid_phone_codes_are_refused(server: TenantServer) -> None:
    server.create(PhoneId=ADA)
    request_code(server)
    first = code(server)
    wrong = f"{(int(first) + 1) % 1_000_000:06}"
    assert refused(verify(server, wrong)) == (403, 1067)
    request_code(server)
    assert refused(verify(server, "")) == (400, 908)
    newest = code(server)
    if newest != first:
        assert refused(verify(server, first)) == (403, 1067)
    answered(verify(server, newest))
    assert refused(verify(server, newest)) == (403, 1068)
    assert refused(verify(server, newest, OTHER)) == (403, 1043)
    assert refused(verify(server, newest, "12")) == (403, 1043)
    assert refused(verify(server, newest, None)) == (400, 908)


def test_invalid_phone_code_requests_are_refused(server: TenantServer, new_tenant_server: NewTenantServer) -> None:
    uid = server.create(PhoneId=ADA, PhoneIdVerified=True)["Uid"]
    assert refused(request_code(server)) == (403, 1073)
    assert refused(request_code(server, OTHER)) == (403, 938)
    assert refused(request_code(server, "call me")) == (403, 1043)
    assert refused(request_code(server, bearer=token(server, uid))) == (403, 1120)
    assert refused(request_code(server, OTHER, bearer=token(server, uid))) == (403, 1043)
    assert refused(verify(server, "123456", None, bearer=token(server, uid))) == (403, 1120)
    assert refused(request_code(new_tenant_server())) == (403, 1074)
    unverified = server.create(PhoneId=OTHER)["Uid"]
    for _ in range(5):
        answered(request_code(server, OTHER, bearer=token(server, unverified)))
    assert refused(request_code(server, OTHER)) == (403, 1123)


def test_hidden_accounts_answer_every_number_alike(new_tenant_server: NewTenantServer) -> None:
    server = new_tenant_server(phone_login=True, hide_unknown_accounts=True)
    server.create(PhoneId=ADA, PhoneIdVerified=True)
    server.create(PhoneId=OTHER)
    known = request_code(server)
    unknown = request_code(server, "+442079460177")
    unverified = request_code(server, OTHER)
    assert {item.status_code for item in (known, unknown, unverified)} == {200}
    assert [text["to"] for text in texts(server)] == [OTHER]
    assert refused(verify(server, "000000")) == refused(verify(server, "000000", "+442079460177")) == (403, 1067)


@pytest.mark.parametrize("services", ["sqlite"], indirect=True)
def test_sms_limit_does_not_reveal_registered_number(new_tenant_server: NewTenantServer) -> None:
    """The registration of the number sent one message already."""
    server = new_tenant_server(phone_login=True, hide_unknown_accounts=True, registration_captcha=False)
    answered(register(server, email=None, PhoneId=OTHER))
    for phone in (OTHER, "+442079460177"):
        answers = [request_code(server, phone) for _ in range(6)]
        assert [answer.status_code for answer in answers] == [200] * 6
        assert {len(answered(answer)["Data"]["Sid"]) for answer in answers} == {34}
    assert len(texts(server)) == 5


def test_phone_number_is_changed_after_verification(server: TenantServer) -> None:
    uid = server.create(PhoneId=ADA, PhoneIdVerified=True, UserName="ada")["Uid"]
    bearer = token(server, uid)
    assert refused(server.send("PUT", PHONE, {"phone": ADA}, bearer=bearer)) == (403, 1106)
    assert refused(server.send("PUT", PHONE, {"phone": "no"}, bearer=bearer)) == (400, 1096)
    answered(server.send("PUT", PHONE, {"phone": OTHER}, bearer=bearer))
    assert texts(server)[-1]["to"] == OTHER
    assert server.read(uid)["PhoneId"] == ADA
    answered(request_code(server, OTHER, bearer=bearer))
    assert answered(verify(server, code(server), None, bearer=bearer)) == {"IsPosted": True}
    stored = server.read(uid)
    assert (stored["PhoneId"], stored["PhoneIdVerified"]) == (OTHER, True)
    assert texts(server)[-1]["to"] == ADA  # the former number is notified
    assert refused(server.send("POST", LOGIN, {"phone": ADA, "password": PASSWORD}, with_secret=False))[0] != 200


def test_unverified_number_moves_to_account_that_verifies_it(server: TenantServer) -> None:
    squatter = server.create(PhoneId=ADA, UserName="squatter")["Uid"]
    verified = server.create(PhoneId=OTHER, PhoneIdVerified=True)["Uid"]
    ada = server.create()["Uid"]
    bearer = token(server, ada)
    assert refused(server.send("PUT", PHONE, {"phone": OTHER}, bearer=bearer)) == (403, 1058)
    answered(server.send("PUT", PHONE, {"phone": ADA}, bearer=bearer))
    answered(verify(server, code(server), None, bearer=bearer))
    assert server.read(ada)["PhoneId"] == ADA
    assert server.read(squatter)["PhoneId"] is None
    assert server.read(verified)["PhoneId"] == OTHER


@pytest.mark.both_databases
def test_phone_number_that_is_only_identifier_is_not_removed(server: TenantServer) -> None:
    alone = server.create(PhoneId=ADA, PhoneIdVerified=True)["Uid"]
    assert refused(server.send("DELETE", PHONE, bearer=token(server, alone))) == (403, 1173)
    uid = server.create(PhoneId=OTHER, PhoneIdVerified=True, UserName="ada")["Uid"]
    bearer = token(server, uid)
    assert answered(server.send("DELETE", PHONE, bearer=bearer)) == {"IsDeleted": True}
    assert refused(server.send("DELETE", PHONE, bearer=bearer)) == (403, 1292)
    answered(server.send("PUT", PHONE, {"phone": OTHER}, bearer=bearer))
    assert refused(server.send("DELETE", PHONE, bearer=bearer)) == (403, 1117)
    assert server.read(uid)["PhoneId"] is None


@pytest.mark.both_databases
def test_parallel_uses_of_one_phone_code_succeed_once(server: TenantServer) -> None:
    server.create(PhoneId=ADA)
    request_code(server)
    right = code(server)
    with ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(lambda _: verify(server, right).status_code, range(20)))
    assert answers.count(200) == 1


def test_first_verification_drops_data_of_unverified_account(server: TenantServer) -> None:
    sott = answered(server.send("GET", "/identity/v2/manage/account/sott", timedifference=10))["Sott"]
    body = {
        "Email": [{"Type": "Primary", "Value": "thief@example.test"}],
        "PhoneId": ADA,
        "UserName": "thief",
        "Password": PASSWORD,
    }
    answered(server.send("POST", "/identity/v2/auth/register", body, with_secret=False, sott=sott))
    answered(request_code(server))
    session = answered(verify(server, code(server)))
    assert session["Profile"]["Email"] == []
    assert session["Profile"]["PhoneIdVerified"] is True
