"""Numbers that name accounts: proved, changed, removed (user.md rows U62 to U66)."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.support.mailbox import code_in, sent_messages
from tests.support.registering import register
from tests.support.tenant_server import PASSWORD, NewTenantServer, TenantServer, answered, refused

CODE, PHONE, LOGIN = "/identity/v2/auth/phone/otp", "/identity/v2/auth/phone", "/identity/v2/auth/login"
ADA, OTHER = "+442079460123", "+442079460199"
ARABIC = str.maketrans("0123456789", "\u0660\u0661\u0662\u0663\u0664\u0665\u0666\u0667\u0668\u0669")


@pytest.fixture
def server(new_tenant_server: NewTenantServer) -> TenantServer:
    return new_tenant_server(phone_login=True, email_login=True, hide_unknown_accounts=False)


def ask(server: TenantServer, phone: str | None = ADA, **more: Any) -> Any:
    return server.send("POST", CODE, {"phone": phone} if phone else {}, with_secret=False, **more)


def prove(server: TenantServer, code: str, phone: str | None = ADA, **more: Any) -> Any:
    return server.send("PUT", CODE, {"phone": phone} if phone else {}, with_secret=False, otp=code, **more)


def texts(server: TenantServer) -> list[dict[str, Any]]:
    return sent_messages(server.services, server.tenant_id, "sms")


def code(server: TenantServer) -> str:
    return code_in(texts(server)[-1])


def token(server: TenantServer, uid: str) -> str:
    return str(server.tokens(uid)["access_token"])


def test_a_code_proves_the_number_and_signs_in(server: TenantServer) -> None:
    uid = server.create(PhoneId=ADA)["Uid"]
    assert refused(server.send("POST", LOGIN, {"phone": ADA, "password": PASSWORD}, with_secret=False)) == (403, 1066)
    sent = answered(ask(server))
    assert sent["IsPosted"] is True
    assert sent["Data"]["Sid"] == texts(server)[-1]["sid"]
    typed = code(server).translate(ARABIC)
    session = answered(prove(server, f" {typed[:3]}-{typed[3:]} ", "0044 20 7946 0123"))
    assert session["Profile"]["Uid"] == uid
    assert session["Profile"]["PhoneIdVerified"] is True
    assert session["access_token"]
    assert session["expires_in"]
    answered(server.send("POST", LOGIN, {"phone": ADA, "password": PASSWORD}, with_secret=False))


def test_codes_are_refused_as_stated(server: TenantServer) -> None:
    server.create(PhoneId=ADA)
    ask(server)
    first = code(server)
    wrong = f"{(int(first) + 1) % 1_000_000:06}"
    assert refused(prove(server, wrong)) == (403, 1067)
    ask(server)
    assert refused(prove(server, "")) == (400, 908)
    newest = code(server)
    if newest != first:
        assert refused(prove(server, first)) == (403, 1067)
    answered(prove(server, newest))
    assert refused(prove(server, newest)) == (403, 1068)
    assert refused(prove(server, newest, OTHER)) == (403, 1043)
    assert refused(prove(server, newest, "12")) == (403, 1043)
    assert refused(prove(server, newest, None)) == (400, 908)


def test_asking_is_refused_as_stated(server: TenantServer, new_tenant_server: NewTenantServer) -> None:
    uid = server.create(PhoneId=ADA, PhoneIdVerified=True)["Uid"]
    assert refused(ask(server)) == (403, 1073)
    assert refused(ask(server, OTHER)) == (403, 938)
    assert refused(ask(server, "call me")) == (403, 1043)
    assert refused(ask(server, bearer=token(server, uid))) == (403, 1120)
    assert refused(ask(server, OTHER, bearer=token(server, uid))) == (403, 1043)
    assert refused(prove(server, "123456", None, bearer=token(server, uid))) == (403, 1120)
    assert refused(ask(new_tenant_server())) == (403, 1074)
    unproved = server.create(PhoneId=OTHER)["Uid"]
    for _ in range(5):
        answered(ask(server, OTHER, bearer=token(server, unproved)))
    assert refused(ask(server, OTHER)) == (403, 1123)


def test_who_hides_accounts_answers_for_every_number(new_tenant_server: NewTenantServer) -> None:
    server = new_tenant_server(phone_login=True, hide_unknown_accounts=True)
    server.create(PhoneId=ADA, PhoneIdVerified=True)
    server.create(PhoneId=OTHER)
    known, unknown, unproved = ask(server), ask(server, "+442079460177"), ask(server, OTHER)
    assert {one.status_code for one in (known, unknown, unproved)} == {200}
    assert [text["to"] for text in texts(server)] == [OTHER]
    assert refused(prove(server, "000000")) == refused(prove(server, "000000", "+442079460177")) == (403, 1067)


@pytest.mark.parametrize("services", ["sqlite"], indirect=True)
def test_nor_does_a_limit_tell_that_somebody_was_written_to(new_tenant_server: NewTenantServer) -> None:
    """A number that was registered a moment ago got one message already."""
    server = new_tenant_server(phone_login=True, hide_unknown_accounts=True, registration_captcha=False)
    answered(register(server, email=None, PhoneId=OTHER))
    for phone in (OTHER, "+442079460177"):
        answers = [ask(server, phone) for _ in range(6)]
        assert [one.status_code for one in answers] == [200] * 6
        assert {len(answered(one)["Data"]["Sid"]) for one in answers} == {34}
    assert len(texts(server)) == 5


def test_a_number_is_changed_once_the_other_one_is_proved(server: TenantServer) -> None:
    uid = server.create(PhoneId=ADA, PhoneIdVerified=True, UserName="ada")["Uid"]
    bearer = token(server, uid)
    assert refused(server.send("PUT", PHONE, {"phone": ADA}, bearer=bearer)) == (403, 1106)
    assert refused(server.send("PUT", PHONE, {"phone": "no"}, bearer=bearer)) == (400, 1096)
    answered(server.send("PUT", PHONE, {"phone": OTHER}, bearer=bearer))
    assert texts(server)[-1]["to"] == OTHER
    assert server.read(uid)["PhoneId"] == ADA
    answered(ask(server, OTHER, bearer=bearer))
    assert answered(prove(server, code(server), None, bearer=bearer)) == {"IsPosted": True}
    held = server.read(uid)
    assert (held["PhoneId"], held["PhoneIdVerified"]) == (OTHER, True)
    assert texts(server)[-1]["to"] == ADA  # who had it is told
    assert refused(server.send("POST", LOGIN, {"phone": ADA, "password": PASSWORD}, with_secret=False))[0] != 200


def test_a_number_that_somebody_only_stated_goes_to_who_proves_it(server: TenantServer) -> None:
    squatter = server.create(PhoneId=ADA, UserName="squatter")["Uid"]
    proved = server.create(PhoneId=OTHER, PhoneIdVerified=True)["Uid"]
    ada = server.create()["Uid"]
    bearer = token(server, ada)
    assert refused(server.send("PUT", PHONE, {"phone": OTHER}, bearer=bearer)) == (403, 1058)
    answered(server.send("PUT", PHONE, {"phone": ADA}, bearer=bearer))
    answered(prove(server, code(server), None, bearer=bearer))
    assert server.read(ada)["PhoneId"] == ADA
    assert server.read(squatter)["PhoneId"] is None
    assert server.read(proved)["PhoneId"] == OTHER


def test_a_number_is_removed_unless_nothing_else_names_the_account(server: TenantServer) -> None:
    alone = server.create(PhoneId=ADA, PhoneIdVerified=True)["Uid"]
    assert refused(server.send("DELETE", PHONE, bearer=token(server, alone))) == (403, 1173)
    uid = server.create(PhoneId=OTHER, PhoneIdVerified=True, UserName="ada")["Uid"]
    bearer = token(server, uid)
    assert answered(server.send("DELETE", PHONE, bearer=bearer)) == {"IsDeleted": True}
    assert refused(server.send("DELETE", PHONE, bearer=bearer)) == (403, 1292)
    answered(server.send("PUT", PHONE, {"phone": OTHER}, bearer=bearer))
    assert refused(server.send("DELETE", PHONE, bearer=bearer)) == (403, 1117)
    assert server.read(uid)["PhoneId"] is None


def test_of_many_who_bring_one_code_one_wins(server: TenantServer) -> None:
    server.create(PhoneId=ADA)
    ask(server)
    right = code(server)
    with ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(lambda _: prove(server, right).status_code, range(20)))
    assert answers.count(200) == 1


def test_the_first_proof_drops_what_a_stranger_stored_before(server: TenantServer) -> None:
    sott = answered(server.send("GET", "/identity/v2/manage/account/sott", timedifference=10))["Sott"]
    body = {
        "Email": [{"Type": "Primary", "Value": "thief@example.test"}],
        "PhoneId": ADA,
        "UserName": "thief",
        "Password": PASSWORD,
    }
    answered(server.send("POST", "/identity/v2/auth/register", body, with_secret=False, sott=sott))
    answered(ask(server))
    session = answered(prove(server, code(server)))
    assert session["Profile"]["Email"] == []
    assert session["Profile"]["PhoneIdVerified"] is True
