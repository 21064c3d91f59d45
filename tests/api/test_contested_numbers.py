"""Somebody states a number that is not theirs, and waits: its owner comes later, loses nothing and inherits nothing.

By the operations; on our pages: tests/pages/test_contested_phone_numbers.py.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from tests.support.mailbox import code_in, sent_messages, token_in
from tests.support.races import at_once
from tests.support.registering import UNLIMITED, primary, register
from tests.support.tenant_server import PASSWORD, NewTenantServer, TenantServer, answered, refused

CODE, LOGIN, OWN = "/identity/v2/auth/phone/otp", "/identity/v2/auth/login", "/identity/v2/auth/account"
NUMBER, THIEF = "+442079460123", "thief@example.test"
OWNERS = "Amber-window-77"
FREE = {**UNLIMITED, "sign_in_per_minute_per_address": 0}


@pytest.fixture(params=[False, True], ids=["told", "hidden"])
def server(request: pytest.FixtureRequest, new_tenant_server: NewTenantServer) -> TenantServer:
    sending = {"sms": {"amount": 0, "minutes": 1}, "sms_per_address": {"amount": 0, "minutes": 1}}
    return new_tenant_server(
        phone_login=True, email_login=True, username_login=True, hide_unknown_accounts=request.param, limits=FREE,
        sending=sending,
    )  # fmt: skip


def texts(server: TenantServer) -> list[dict[str, Any]]:
    return sent_messages(server.services, server.tenant_id, "sms")


def ask(server: TenantServer) -> Any:
    return server.send("POST", CODE, {"phone": NUMBER}, with_secret=False)


def prove(server: TenantServer, code: str, **more: Any) -> Any:
    return server.send("PUT", CODE, {"phone": NUMBER}, with_secret=False, otp=code, **more)


def enters(server: TenantServer, password: str, **name: str) -> Any:
    return server.send("POST", LOGIN, {**(name or {"phone": NUMBER}), "password": password}, with_secret=False)


def in_use(server: TenantServer, **more: Any) -> str:
    """An account of somebody who proved their own address, and states a number that is not theirs; its id."""
    answered(register(server, THIEF, UserName="thief", **more))
    mail = [one for one in sent_messages(server.services, server.tenant_id) if one["to"] == THIEF][-1]
    answered(server.send("GET", "/identity/v2/auth/email", with_secret=False, verificationtoken=token_in(mail)))
    session = answered(enters(server, PASSWORD, email=THIEF))
    if not more:
        answered(server.send("PUT", OWN, {"PhoneId": NUMBER}, bearer=session["access_token"]))
    return str(session["Profile"]["Uid"])


STATED = [{"PhoneId": NUMBER}, {}]
"""At the registration; later, as a change of the profile."""


@pytest.mark.parametrize("stated", STATED, ids=["registered", "added"])
def test_code_alone_does_not_open_account_in_use(server: TenantServer, stated: dict[str, Any]) -> None:
    in_use(server, **stated)
    sent = texts(server)[-1]
    assert sent["to"] == NUMBER
    assert prove(server, code_in(sent)).status_code == 403
    before = len(texts(server))
    ask(server)
    assert len(texts(server)) == before, "no other code is texted for it"


@pytest.mark.parametrize("stated", STATED, ids=["registered", "added"])
def test_number_owner_gets_own_account_by_registering(server: TenantServer, stated: dict[str, Any]) -> None:
    thief = in_use(server, **stated)
    stale = code_in(texts(server)[-1])
    answered(register(server, None, PhoneId=NUMBER, Password=OWNERS, FirstName="Ada"))
    right = code_in(texts(server)[-1])
    if stale != right:
        assert prove(server, stale).status_code == 403
    session = answered(prove(server, right))
    profile = session["Profile"]
    assert (profile["PhoneId"], profile["PhoneIdVerified"], profile["FirstName"]) == (NUMBER, True, "Ada")
    assert (profile["Uid"] == thief, profile["Email"], profile["UserName"]) == (False, [], None)
    assert enters(server, PASSWORD).status_code == 401
    assert answered(enters(server, OWNERS))["Profile"]["Uid"] == profile["Uid"]
    left = answered(enters(server, PASSWORD, email=THIEF))["Profile"]
    assert (left["Uid"], left["PhoneId"]) == (thief, None), "who stated it loses the number, and nothing else"


def test_code_opens_account_created_by_server(server: TenantServer) -> None:
    """An account that a server made with a number, and nobody used, is there for who holds the number."""
    uid = server.create(PhoneId=NUMBER)["Uid"]
    assert register(server, "ada@example.test", PhoneId=NUMBER, Password=OWNERS).status_code == 403
    assert register(server, None, PhoneId=NUMBER, Password=OWNERS).status_code in (
        200,
        403,
    )  # hidden: its owner is told
    answered(ask(server))
    assert answered(prove(server, code_in(texts(server)[-1])))["Profile"]["Uid"] == uid


def test_only_verified_number_counts_as_taken(server: TenantServer) -> None:
    def is_taken() -> bool:
        answer = server.send("GET", "/identity/v2/auth/phone", with_secret=False, phone=NUMBER)
        return bool(answered(answer)["IsExist"])

    in_use(server, PhoneId=NUMBER)
    assert is_taken() is False
    answered(register(server, None, PhoneId=NUMBER, Password=OWNERS))
    answered(prove(server, code_in(texts(server)[-1])))
    tenant = server.services.directory.by_name(server.name)
    assert tenant is not None
    assert is_taken() is not tenant.settings.hide_unknown_accounts, "where accounts are hidden every number is free"


def test_lost_code_is_sent_again_to_registered_owner(server: TenantServer) -> None:
    in_use(server, PhoneId=NUMBER)
    answered(register(server, None, PhoneId=NUMBER, Password=OWNERS))
    answered(ask(server))
    answered(prove(server, code_in(texts(server)[-1])))
    answered(enters(server, OWNERS))


def test_code_is_refused_with_two_pending_accounts(server: TenantServer) -> None:
    in_use(server, PhoneId=NUMBER)
    for password in (OWNERS, PASSWORD):
        answered(register(server, None, PhoneId=NUMBER, Password=password))
    assert prove(server, code_in(texts(server)[-1])).status_code == 403
    assert enters(server, PASSWORD).status_code in (401, 403)


@pytest.mark.parametrize("names", [{"email": "ada@example.test"}, {"email": None, "UserName": "ada"}])
def test_owner_registers_number_with_other_identifier(server: TenantServer, names: dict[str, Any]) -> None:
    thief = in_use(server, PhoneId=NUMBER)
    answered(register(server, PhoneId=NUMBER, **{"Password": OWNERS, **names}))
    right = code_in(texts(server)[-1])
    if names["email"]:
        mail = [one for one in sent_messages(server.services, server.tenant_id) if one["to"] == names["email"]][-1]
        answered(server.send("GET", "/identity/v2/auth/email", with_secret=False, verificationtoken=token_in(mail)))
    name = {"email": names["email"]} if names["email"] else {"username": "ada"}
    session = answered(enters(server, OWNERS, **name))
    proved = server.send("PUT", CODE, {}, bearer=session["access_token"], otp=right)
    assert answered(proved) == {"IsPosted": True}
    assert answered(enters(server, OWNERS))["Profile"]["Uid"] == session["Profile"]["Uid"]
    assert server.read(thief)["PhoneId"] is None


def test_account_that_verifies_added_number_gets_it(server: TenantServer) -> None:
    in_use(server, PhoneId=NUMBER)
    owner = server.create(Email=primary("ada@example.test"), EmailVerified=True)["Uid"]
    bearer = str(server.tokens(owner)["access_token"])
    answered(server.send("PUT", OWN, {"PhoneId": NUMBER}, bearer=bearer))
    answered(server.send("PUT", CODE, {}, bearer=bearer, otp=code_in(texts(server)[-1])))
    assert (server.read(owner)["PhoneId"], server.read(owner)["PhoneIdVerified"]) == (NUMBER, True)


def test_older_code_is_refused_after_owner_verified(server: TenantServer) -> None:
    """The code that the thief had texted before the owner proved the number proves nothing afterwards."""
    thief = in_use(server, PhoneId=NUMBER)
    bearer = str(server.tokens(thief)["access_token"])
    stale = code_in(texts(server)[-1])
    answered(register(server, None, PhoneId=NUMBER, Password=OWNERS))
    answered(prove(server, code_in(texts(server)[-1])))
    assert server.send("PUT", CODE, {}, bearer=bearer, otp=stale).status_code == 403
    assert refused(server.send("PUT", "/identity/v2/auth/phone", {"phone": NUMBER}, bearer=bearer)) in (
        (403, 1058), (200, None),
    )  # fmt: skip
    assert answered(enters(server, OWNERS))["Profile"]["PhoneIdVerified"] is True


def test_reset_claims_unused_account_of_number(server: TenantServer) -> None:
    """As a link does of an address, a code gives the account to who holds the number; a reset ends the thief's password."""
    answered(register(server, None, PhoneId=NUMBER))
    answered(ask(server))
    answered(prove(server, code_in(texts(server)[-1])))
    answered(server.send("POST", "/identity/v2/auth/password/otp", {"phone": NUMBER}, with_secret=False))
    given = {"phone": NUMBER, "otp": code_in(texts(server)[-1]), "password": OWNERS}
    held = answered(enters(server, PASSWORD))["access_token"]
    answered(server.send("PUT", "/identity/v2/auth/password/otp", given, with_secret=False))
    assert enters(server, PASSWORD).status_code == 401
    assert server.send("GET", OWN, bearer=held, with_secret=False).status_code == 401
    answered(enters(server, OWNERS))


def test_concurrent_verifications_assign_number_once(server: TenantServer) -> None:
    thief = in_use(server, PhoneId=NUMBER)
    theirs = code_in(texts(server)[-1])
    bearer = str(server.tokens(thief)["access_token"])
    answered(register(server, None, PhoneId=NUMBER, Password=OWNERS))
    owners = code_in(texts(server)[-1])
    asked = [partial(prove, server, owners)] * 6
    asked += [partial(server.send, "PUT", CODE, {}, bearer=bearer, otp=theirs)] * 6  # one that held both codes
    done = [one.status_code for one in at_once(asked)]
    assert done.count(200) >= 1
    assert set(done) <= {200, 403}
    held = [server.read(thief)["PhoneId"], enters(server, OWNERS).status_code == 200]
    assert held in ([None, True], [NUMBER, False])
