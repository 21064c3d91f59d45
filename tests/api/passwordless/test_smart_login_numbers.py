"""Smart and one-touch login started by an application: an attacker gains nothing from the account holder's click."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.support.accounts.mailbox import token_in
from tests.support.operation_cases.cases import AccountHolder, account_holder
from tests.support.operation_cases.smart_login import (
    SMART,
    TOUCH,
    Link,
    begun_smart_login,
    click,
    guid,
    poll,
    start,
    touched,
)
from tests.support.tenants.tenant_server import PASSWORD, NewTenantServer, answered, refused

PENDING, MISSING, WRONG, DENIED = (403, 1139), (400, 908), (403, 1185), (403, 1140)
Begin = Callable[[AccountHolder], tuple[str, Link]]
BY_PROGRAM = [
    pytest.param(begun_smart_login, "U57", SMART, id="smart login"),
    pytest.param(lambda who: touched(who, who.email), "U61", TOUCH, id="one touch"),
]


def other_than(number: str) -> str:
    return str(10 + (int(number) - 9) % 90)


@pytest.mark.parametrize(("begin", "operation_id", "settings"), BY_PROGRAM)
def test_click_without_number_completes_no_login(
    new_tenant_server: NewTenantServer, begin: Begin, operation_id: str, settings: dict[str, bool]
) -> None:
    """An attacker asks in the account holder's name, the account holder opens the link, the attacker polls."""
    who = account_holder(new_tenant_server, **settings)
    client_guid, link = begin(who)
    assert refused(click(who, str(link), operation_id)) == MISSING
    assert refused(poll(who, client_guid)) == PENDING
    assert refused(click(who, str(link), operation_id, number="")) == MISSING
    assert refused(click(who, link, operation_id, number=other_than(link.number))) == WRONG
    assert refused(poll(who, client_guid)) == PENDING
    answered(click(who, link, operation_id))
    assert answered(poll(who, client_guid))["Profile"]["Uid"] == who.uid


def new_password_by_program(who: AccountHolder) -> None:
    who.tenant.update(who.uid, {"Password": "Amber-window-44"})


def new_password_by_holder(who: AccountHolder) -> None:
    bearer = str(who.tenant.tokens(who.uid)["access_token"])
    body = {"Password": "Amber-window-44", "oldpassword": PASSWORD}
    answered(who.tenant.send("PUT", "/identity/v2/auth/account", body, bearer=bearer))


def block_and_unblock(who: AccountHolder) -> None:
    who.tenant.update(who.uid, {"IsActive": False})
    who.tenant.update(who.uid, {"IsActive": True})


@pytest.mark.parametrize("secure", [new_password_by_program, new_password_by_holder, block_and_unblock])
def test_approved_login_ends_with_a_new_password_or_block(
    new_tenant_server: NewTenantServer, secure: Callable[[AccountHolder], None]
) -> None:
    """A login approved from a stolen mailbox ends when the account is secured."""
    who = account_holder(new_tenant_server, **SMART)
    client_guid, link = begun_smart_login(who)
    answered(click(who, link))
    secure(who)
    assert poll(who, client_guid).status_code == 403


@pytest.mark.parametrize(("begin", "operation_id", "settings"), BY_PROGRAM)
def test_three_wrong_numbers_deny_pending_login(
    new_tenant_server: NewTenantServer, begin: Begin, operation_id: str, settings: dict[str, bool]
) -> None:
    who = account_holder(new_tenant_server, **settings)
    client_guid, link = begin(who)
    attempts = [refused(click(who, link, operation_id, number=other_than(link.number))) for _ in range(3)]
    assert attempts == [WRONG] * 3
    assert refused(click(who, link, operation_id))[0] == 429
    assert refused(click(who, link, operation_id)) == (403, 975)
    assert refused(poll(who, client_guid)) == DENIED


def test_owners_code_does_not_sign_in_parallel_request(new_tenant_server: NewTenantServer) -> None:
    """Owner and attacker start a login; the newest code belongs to the attacker's login and needs the attacker's number."""
    who = account_holder(new_tenant_server, **SMART, phone_login=True)
    owner_guid, attacker_guid = guid(), guid()
    owner_number = answered(who.call("U55", phone=who.phone, clientguid=owner_guid))["Number"]
    attacker_number = answered(who.call("U55", phone=who.phone, clientguid=attacker_guid))["Number"]
    if owner_number != attacker_number:
        assert refused(who.call("U57", vtoken=who.texted(), phone=who.phone, number=owner_number)) == WRONG
    assert refused(who.call("U57", vtoken=who.texted(), phone=who.phone)) == MISSING
    assert refused(poll(who, attacker_guid)) == PENDING


def test_tenant_server_may_omit_number(new_tenant_server: NewTenantServer) -> None:
    who = account_holder(new_tenant_server, **SMART)
    client_guid = guid()
    response = who.managed("U55", email=who.email, clientguid=client_guid)
    assert answered(response) == {"IsPosted": True}
    answered(click(who, token_in(who.mailed())))
    assert answered(poll(who, client_guid))["Profile"]["Uid"] == who.uid


def test_wrong_secret_does_not_omit_number(new_tenant_server: NewTenantServer) -> None:
    who = account_holder(new_tenant_server, **SMART)
    assert refused(start(who, apisecret=guid())) == (401, 902)
    assert refused(start(who, apisecret=who.tenant.api_key)) == (401, 902)


def test_number_of_one_device_confirms_no_other(new_tenant_server: NewTenantServer) -> None:
    who = account_holder(new_tenant_server, **SMART)
    (first, link), (second, second_link) = begun_smart_login(who), begun_smart_login(who)
    if link.number != second_link.number:
        assert refused(click(who, second_link, number=link.number)) == WRONG
    answered(click(who, second_link))
    assert refused(poll(who, first)) == PENDING
    answered(poll(who, second))
