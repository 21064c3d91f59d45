"""Smart and one-touch login started by an application: an attacker gains nothing from the account holder's click."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.api.test_every_row_smart_login import SMART, TOUCH, Link, asked, click, guid, poll, start, touched
from tests.support.mailbox import token_in
from tests.support.rows import AccountHolder, account_holder
from tests.support.tenant_server import NewTenantServer, answered, refused

WAITS, MISSING, WRONG, OVER, DENIED = (403, 1139), (400, 908), (403, 1185), (429, 973), (403, 1140)
Begin = Callable[[AccountHolder], tuple[str, Link]]
BY_PROGRAM = [
    pytest.param(asked, "U57", SMART, id="smart login"),
    pytest.param(lambda who: touched(who, who.email), "U61", TOUCH, id="one touch"),
]


def other_than(number: str) -> str:
    return str(10 + (int(number) - 9) % 90)


@pytest.mark.parametrize(("begin", "row", "settings"), BY_PROGRAM)
def test_click_without_number_signs_nobody_in(
    new_tenant_server: NewTenantServer, begin: Begin, row: str, settings: dict[str, bool]
) -> None:
    """An attacker asks in the account holder's name, the account holder opens the link, the attacker polls."""
    who = account_holder(new_tenant_server, **settings)
    held, link = begin(who)
    assert refused(click(who, str(link), row)) == MISSING
    assert refused(poll(who, held)) == WAITS
    assert refused(click(who, str(link), row, number="")) == MISSING
    assert refused(click(who, link, row, number=other_than(link.number))) == WRONG
    assert refused(poll(who, held)) == WAITS
    answered(click(who, link, row))
    assert answered(poll(who, held))["Profile"]["Uid"] == who.uid


@pytest.mark.parametrize(("begin", "row", "settings"), BY_PROGRAM)
def test_three_wrong_numbers_deny_pending_login(
    new_tenant_server: NewTenantServer, begin: Begin, row: str, settings: dict[str, bool]
) -> None:
    who = account_holder(new_tenant_server, **settings)
    held, link = begin(who)
    tried = [refused(click(who, link, row, number=other_than(link.number))) for _ in range(3)]
    assert tried == [WRONG] * 3
    assert refused(click(who, link, row))[0] == 429
    assert refused(click(who, link, row)) == (403, 975)
    assert refused(poll(who, held)) == DENIED


def test_owners_code_does_not_sign_in_parallel_request(new_tenant_server: NewTenantServer) -> None:
    """Both ask, the newest code is the attacker's: the number on the owner's device is not that of the attacker's."""
    who = account_holder(new_tenant_server, **SMART, phone_login=True)
    own, strange = guid(), guid()
    shown = answered(who.call("U55", phone=who.phone, clientguid=own))["Number"]
    theirs = answered(who.call("U55", phone=who.phone, clientguid=strange))["Number"]
    if shown != theirs:
        assert refused(who.call("U57", vtoken=who.texted(), phone=who.phone, number=shown)) == WRONG
    assert refused(who.call("U57", vtoken=who.texted(), phone=who.phone)) == MISSING
    assert refused(poll(who, strange)) == WAITS


def test_tenant_server_may_omit_number(new_tenant_server: NewTenantServer) -> None:
    who = account_holder(new_tenant_server, **SMART)
    held = guid()
    begun = who.managed("U55", email=who.email, clientguid=held)
    assert answered(begun) == {"IsPosted": True}
    answered(click(who, token_in(who.mailed())))
    assert answered(poll(who, held))["Profile"]["Uid"] == who.uid


def test_wrong_secret_does_not_omit_number(new_tenant_server: NewTenantServer) -> None:
    who = account_holder(new_tenant_server, **SMART)
    assert refused(start(who, apisecret=guid())) == (401, 902)
    assert refused(start(who, apisecret=who.tenant.api_key)) == (401, 902)


def test_number_of_one_device_confirms_no_other(new_tenant_server: NewTenantServer) -> None:
    who = account_holder(new_tenant_server, **SMART)
    (first, link), (second, newer) = asked(who), asked(who)
    if link.number != newer.number:
        assert refused(click(who, newer, number=link.number)) == WRONG
    answered(click(who, newer))
    assert refused(poll(who, first)) == WAITS
    answered(poll(who, second))
