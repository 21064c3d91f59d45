"""An attacker states a phone number that is not theirs: the later owner loses nothing and inherits nothing.

The operations; for our pages see tests/pages/registration/test_contested_phone_numbers.py.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from tests.support.accounts.mailbox import code_in, sent_messages, token_in
from tests.support.accounts.registering import UNLIMITED, primary, register
from tests.support.races import at_once
from tests.support.tenants.audit_entries import entries_of
from tests.support.tenants.tenant_server import PASSWORD, NewTenantServer, TenantServer, answered, refused

pytestmark = pytest.mark.both_databases

CODE, LOGIN, OWN = "/identity/v2/auth/phone/otp", "/identity/v2/auth/login", "/identity/v2/auth/account"
NUMBER, ATTACKER = "+442079460123", "attacker@example.test"
OWNERS = "Amber-window-77"
FREE = {**UNLIMITED, "sign_in_per_minute_per_address": 0}


@pytest.fixture(params=[False, True], ids=["shown", "hidden"])
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


def verify(server: TenantServer, code: str, **more: Any) -> Any:
    return server.send("PUT", CODE, {"phone": NUMBER}, with_secret=False, otp=code, **more)


def sign_in(server: TenantServer, password: str, **name: str) -> Any:
    return server.send("POST", LOGIN, {**(name or {"phone": NUMBER}), "password": password}, with_secret=False)


def attacker_account(server: TenantServer, **more: Any) -> str:
    """Create the attacker's account with a verified email and the unverified number; return its uid."""
    answered(register(server, ATTACKER, UserName="attacker", **more))
    mail = [message for message in sent_messages(server.services, server.tenant_id) if message["to"] == ATTACKER][-1]
    answered(server.send("GET", "/identity/v2/auth/email", with_secret=False, verificationtoken=token_in(mail)))
    session = answered(sign_in(server, PASSWORD, email=ATTACKER))
    if not more:
        answered(server.send("PUT", OWN, {"PhoneId": NUMBER}, bearer=session["access_token"]))
    return str(session["Profile"]["Uid"])


MEMBERS = [{"PhoneId": NUMBER}, {}]
"""The number is stated at registration, or later as a profile change."""


@pytest.mark.parametrize("members", MEMBERS, ids=["registered", "added"])
def test_code_alone_does_not_open_account_in_use(server: TenantServer, members: dict[str, Any]) -> None:
    attacker_account(server, **members)
    sent = texts(server)[-1]
    assert sent["to"] == NUMBER
    assert verify(server, code_in(sent)).status_code == 403
    before = len(texts(server))
    ask(server)
    assert len(texts(server)) == before, "no other code is sent"


@pytest.mark.parametrize("members", MEMBERS, ids=["registered", "added"])
def test_number_owner_gets_own_account_by_registering(server: TenantServer, members: dict[str, Any]) -> None:
    attacker = attacker_account(server, **members)
    stale = code_in(texts(server)[-1])
    answered(register(server, None, PhoneId=NUMBER, Password=OWNERS, FirstName="Ada"))
    claimed = [attacker] if members else []
    assert [uid for uid, _ in entries_of(server, "register.taken")] == claimed, (
        "an added number belongs to no account yet"
    )
    right = code_in(texts(server)[-1])
    if stale != right:
        assert verify(server, stale).status_code == 403
    session = answered(verify(server, right))
    profile = session["Profile"]
    assert (profile["PhoneId"], profile["PhoneIdVerified"], profile["FirstName"]) == (NUMBER, True, "Ada")
    assert (profile["Uid"] == attacker, profile["Email"], profile["UserName"]) == (False, [], None)
    assert sign_in(server, PASSWORD).status_code == 401
    assert answered(sign_in(server, OWNERS))["Profile"]["Uid"] == profile["Uid"]
    left = answered(sign_in(server, PASSWORD, email=ATTACKER))["Profile"]
    assert (left["Uid"], left["PhoneId"]) == (attacker, None), "the attacker loses the number and nothing else"


def test_code_opens_account_created_by_server(server: TenantServer) -> None:
    """An unused account that a server created with a number belongs to the holder of the number."""
    uid = server.create(PhoneId=NUMBER)["Uid"]
    assert register(server, "ada@example.test", PhoneId=NUMBER, Password=OWNERS).status_code == 403
    assert register(server, None, PhoneId=NUMBER, Password=OWNERS).status_code in (
        200,
        403,
    )  # hidden: the owner is notified
    answered(ask(server))
    assert answered(verify(server, code_in(texts(server)[-1])))["Profile"]["Uid"] == uid


def test_only_verified_number_counts_as_taken(server: TenantServer) -> None:
    def is_taken() -> bool:
        answer = server.send("GET", "/identity/v2/auth/phone", with_secret=False, phone=NUMBER)
        return bool(answered(answer)["IsExist"])

    attacker_account(server, PhoneId=NUMBER)
    assert is_taken() is False
    answered(register(server, None, PhoneId=NUMBER, Password=OWNERS))
    answered(verify(server, code_in(texts(server)[-1])))
    tenant = server.services.directory.by_name(server.name)
    assert tenant is not None
    assert is_taken() is not tenant.settings.hide_unknown_accounts, (
        "with hidden accounts every number is reported as free"
    )


def test_lost_code_is_sent_again_to_registered_owner(server: TenantServer) -> None:
    attacker_account(server, PhoneId=NUMBER)
    answered(register(server, None, PhoneId=NUMBER, Password=OWNERS))
    answered(ask(server))
    answered(verify(server, code_in(texts(server)[-1])))
    answered(sign_in(server, OWNERS))


def test_code_is_refused_with_two_pending_accounts(server: TenantServer) -> None:
    attacker_account(server, PhoneId=NUMBER)
    for password in (OWNERS, PASSWORD):
        answered(register(server, None, PhoneId=NUMBER, Password=password))
    assert verify(server, code_in(texts(server)[-1])).status_code == 403
    assert sign_in(server, PASSWORD).status_code in (401, 403)


@pytest.mark.parametrize("names", [{"email": "ada@example.test"}, {"email": None, "UserName": "ada"}])
def test_owner_registers_number_with_other_identifier(server: TenantServer, names: dict[str, Any]) -> None:
    attacker = attacker_account(server, PhoneId=NUMBER)
    answered(register(server, PhoneId=NUMBER, **{"Password": OWNERS, **names}))
    right = code_in(texts(server)[-1])
    if names["email"]:
        mail = [
            message for message in sent_messages(server.services, server.tenant_id) if message["to"] == names["email"]
        ][-1]
        answered(server.send("GET", "/identity/v2/auth/email", with_secret=False, verificationtoken=token_in(mail)))
    name = {"email": names["email"]} if names["email"] else {"username": "ada"}
    session = answered(sign_in(server, OWNERS, **name))
    verified = server.send("PUT", CODE, {}, bearer=session["access_token"], otp=right)
    assert answered(verified) == {"IsPosted": True}
    assert answered(sign_in(server, OWNERS))["Profile"]["Uid"] == session["Profile"]["Uid"]
    assert server.read(attacker)["PhoneId"] is None


def test_account_that_verifies_added_number_gets_it(server: TenantServer) -> None:
    attacker_account(server, PhoneId=NUMBER)
    owner = server.create(Email=primary("ada@example.test"), EmailVerified=True)["Uid"]
    bearer = str(server.tokens(owner)["access_token"])
    answered(server.send("PUT", OWN, {"PhoneId": NUMBER}, bearer=bearer))
    answered(server.send("PUT", CODE, {}, bearer=bearer, otp=code_in(texts(server)[-1])))
    assert (server.read(owner)["PhoneId"], server.read(owner)["PhoneIdVerified"]) == (NUMBER, True)


def test_older_code_is_refused_after_owner_verified(server: TenantServer) -> None:
    """A code sent for the attacker before the owner verified the number is refused afterwards."""
    attacker = attacker_account(server, PhoneId=NUMBER)
    bearer = str(server.tokens(attacker)["access_token"])
    stale = code_in(texts(server)[-1])
    answered(register(server, None, PhoneId=NUMBER, Password=OWNERS))
    answered(verify(server, code_in(texts(server)[-1])))
    assert server.send("PUT", CODE, {}, bearer=bearer, otp=stale).status_code == 403
    assert refused(server.send("PUT", "/identity/v2/auth/phone", {"phone": NUMBER}, bearer=bearer)) in (
        (403, 1058), (200, None),
    )  # fmt: skip
    assert answered(sign_in(server, OWNERS))["Profile"]["PhoneIdVerified"] is True


def test_reset_claims_unused_account_of_number(server: TenantServer) -> None:
    """A code gives the account to the holder of the number; a reset replaces the attacker's password."""
    answered(register(server, None, PhoneId=NUMBER))
    answered(ask(server))
    answered(verify(server, code_in(texts(server)[-1])))
    answered(server.send("POST", "/identity/v2/auth/password/otp", {"phone": NUMBER}, with_secret=False))
    values = {"phone": NUMBER, "otp": code_in(texts(server)[-1]), "password": OWNERS}
    stored = answered(sign_in(server, PASSWORD))["access_token"]
    answered(server.send("PUT", "/identity/v2/auth/password/otp", values, with_secret=False))
    assert sign_in(server, PASSWORD).status_code == 401
    assert server.send("GET", OWN, bearer=stored, with_secret=False).status_code == 401
    answered(sign_in(server, OWNERS))


def test_concurrent_verifications_assign_number_once(server: TenantServer) -> None:
    attacker = attacker_account(server, PhoneId=NUMBER)
    theirs = code_in(texts(server)[-1])
    bearer = str(server.tokens(attacker)["access_token"])
    answered(register(server, None, PhoneId=NUMBER, Password=OWNERS))
    owners = code_in(texts(server)[-1])
    requested = [partial(verify, server, owners)] * 6
    requested += [partial(server.send, "PUT", CODE, {}, bearer=bearer, otp=theirs)] * 6  # a caller that has both codes
    done = [number.status_code for number in at_once(requested)]
    assert done.count(200) >= 1
    assert set(done) <= {200, 403}
    stored = [server.read(attacker)["PhoneId"], sign_in(server, OWNERS).status_code == 200]
    assert stored in ([None, True], [NUMBER, False])
