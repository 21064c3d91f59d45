"""An identifier in a profile update obeys the rules of its own operation: U22, U23, U66."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.support.accounts.mailbox import mails_to, sent_messages
from tests.support.accounts.registering import primary
from tests.support.operation_cases.cases import AccountHolder, account_holder
from tests.support.tenants.tenant_server import NewTenantServer, answered, refused

PHONE = "/identity/v2/auth/phone"
TAKEN, FREE, NUMBER = "taken@example.test", "free@example.test", "+4930111222333"
SETTINGS: dict[str, Any] = {
    "phone_login": True,
    "email_access": {"block": ["eve@bad.example", "evil.test"]},
}
HIDDEN = {**SETTINGS, "hide_unknown_accounts": True}


def person(make: NewTenantServer, settings: dict[str, Any], **members: Any) -> AccountHolder:
    """Return an account that lacks the identifier, at a tenant where another account has it."""
    holder = account_holder(make, **settings)
    holder.tenant.create(
        Email=primary(TAKEN), EmailVerified=True, UserName="taken", PhoneId=NUMBER, PhoneIdVerified=True
    )
    stored = holder.tenant.create(**({"UserName": "ada"} | members))
    return replace(holder, uid=str(stored["Uid"]), username="ada", stored_token="")


def sent(who: AccountHolder) -> list[str]:
    kinds = ("mail", "sms")
    return [
        str(message["to"])
        for kind in kinds
        for message in sent_messages(who.tenant.services, who.tenant.tenant_id, kind)
    ]


ADDRESSES = [
    TAKEN,
    TAKEN.upper(),
    "no address",
    "a\u200bda@example.test",
    "eve@bad.example",
    "x@mail.evil.test",
    "",
    FREE,
]


@pytest.mark.parametrize("settings", [SETTINGS, HIDDEN], ids=["shown", "hidden"])
def test_address_is_refused_as_by_its_operation(
    new_tenant_server: NewTenantServer, settings: dict[str, Any], subtests: pytest.Subtests
) -> None:
    for address in ADDRESSES:
        with subtests.test(address):
            updated, added = person(new_tenant_server, settings), person(new_tenant_server, settings)
            first = updated.own("U16", {"Email": primary(address)})
            second = added.own("U23", {"email": address, "type": "Primary"})
            assert (first.status_code, first.get_json().get("ErrorCode")) == (
                second.status_code, second.get_json().get("ErrorCode"),
            )  # fmt: skip
            assert sent(updated) == sent(added)
            stored, other = updated.tenant.read(updated.uid), added.tenant.read(added.uid)
            assert (stored["Email"], stored["EmailVerified"]) == (other["Email"], other["EmailVerified"]) == ([], False)
            assert stored["UnverifiedEmail"] == other["UnverifiedEmail"]


@pytest.mark.both_databases
def test_address_of_update_opens_nothing_before_it_is_verified(new_tenant_server: NewTenantServer) -> None:
    who = person(new_tenant_server, SETTINGS)
    answered(who.own("U16", {"Email": primary(FREE)}))
    mailed = len(mails_to(who.tenant.services, who.tenant.tenant_id, FREE))
    login = {"email": FREE, "password": "Zebra-kettle-91"}
    assert who.tenant.send("POST", "/identity/v2/auth/login", login, with_secret=False).status_code == 403
    assert refused(who.call("U33", {"email": FREE})) == (403, 938)
    assert len(mails_to(who.tenant.services, who.tenant.tenant_id, FREE)) == mailed
    owner = who.tenant.create(Email=primary(FREE), EmailVerified=True)
    assert owner["EmailVerified"] is True, "it is not held against the owner of the mailbox"


def test_present_addresses_change_by_their_operations_only(new_tenant_server: NewTenantServer) -> None:
    who = account_holder(new_tenant_server)
    other = {"Type": "Secondary", "Value": FREE}
    for item in (primary(FREE), [*primary(who.email), other], [other], primary(f"x{who.email}")):
        assert refused(who.own("U16", {"Email": item})) == (403, 1174)
    answered(who.own("U16", {"email": primary(who.email.upper()), "FirstName": "Ada"}))
    answered(who.own("U16", {"Email": [], "EMAIL": None, "FirstName": "Ada"}, nullsupport="true"))
    assert who.tenant.read(who.uid)["Email"] == primary(who.email)


def test_update_keeps_addresses_that_await_verification(new_tenant_server: NewTenantServer) -> None:
    """An earlier one has a link on its way, which its operation does not end either."""
    who = person(new_tenant_server, SETTINGS)
    answered(who.own("U23", {"email": FREE, "type": "Work"}))
    stored = answered(who.own("U16", {"Email": primary("second@example.test")}))["Data"]["UnverifiedEmail"]
    assert stored == [{"Type": "Work", "Value": FREE}, *primary("second@example.test")]
    assert sent(who) == [FREE, "second@example.test"], "and mails to the new one alone"
    answered(who.own("U16", {"Email": primary("second@example.test")}))
    assert sent(who) == [FREE, "second@example.test", "second@example.test"]
    many = [{"Type": f"Work {number}", "Value": f"n{number}@{number}.example"} for number in range(9)]
    assert refused(who.own("U16", {"Email": many})) == (403, 1174)
    answered(who.own("U16", {"Email": many[:8]}))


@pytest.mark.parametrize("settings", [SETTINGS, HIDDEN], ids=["shown", "hidden"])
@pytest.mark.parametrize("has_number", [False, True])
def test_number_is_refused_as_by_its_operation(
    new_tenant_server: NewTenantServer, settings: dict[str, Any], has_number: bool, subtests: pytest.Subtests
) -> None:
    number = {"PhoneId": "+4930111222555", "PhoneIdVerified": True} if has_number else {}
    for phone in (NUMBER, "+49 30 111222444"):
        with subtests.test(phone):
            updated, changed = (person(new_tenant_server, settings, **number) for _ in range(2))
            first = updated.own("U16", {"phoneid": phone})
            second = changed.tenant.send("PUT", PHONE, {"phone": phone}, bearer=changed.bearer)
            assert (first.status_code, first.get_json().get("ErrorCode")) == (
                second.status_code, second.get_json().get("ErrorCode"),
            )  # fmt: skip
            assert sent(updated) == sent(changed)
            stored = updated.tenant.read(updated.uid)
            assert (stored["PhoneId"], stored["PhoneIdVerified"]) == (number.get("PhoneId"), has_number)


def test_number_needs_sign_in_by_number(new_tenant_server: NewTenantServer) -> None:
    who = account_holder(new_tenant_server)
    assert refused(who.own("U16", {"PhoneId": NUMBER})) == (403, 1074)
    answered(who.own("U16", {"PhoneId": who.phone, "FirstName": "Ada"}))
    answered(who.own("U16", {"PhoneId": None, "FirstName": "Ada"}, nullsupport="true"))
    assert who.tenant.read(who.uid)["PhoneId"] == who.phone


USERNAMES = ["taken", "TAKEN", "\uff34aken", "a b", "a@b", "a\u200bb", "x" * 33, "+4930111222", "countess"]


def test_username_is_refused_as_by_its_operation(new_tenant_server: NewTenantServer, subtests: pytest.Subtests) -> None:
    for username in USERNAMES:
        with subtests.test(username):
            updated, set_ = person(new_tenant_server, SETTINGS), person(new_tenant_server, SETTINGS)
            first, second = updated.own("U16", {"UserName": username}), set_.own("U22", {"username": username})
            assert (first.status_code, first.get_json().get("ErrorCode")) == (
                second.status_code, second.get_json().get("ErrorCode"),
            )  # fmt: skip
            assert updated.tenant.read(updated.uid)["UserName"] == set_.tenant.read(set_.uid)["UserName"]
