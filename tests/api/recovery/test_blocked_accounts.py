"""No recovery opens a lock by an administrator; one of failed attempts is opened by what its owner received."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from werkzeug.test import TestResponse

from app.identity.directory.accounts import account_store
from app.identity.directory.accounts.account import Account
from app.identity.directory.accounts.login_attempts import login_records
from app.identity.platform.context import Context
from app.identity.platform.store.unit_of_work import UnitOfWork
from tests.support.accounts.customers import NEW, PATH, Customer, a_customer
from tests.support.accounts.mailbox import code_in, token_in
from tests.support.credentials.passkeys import A, passkey_holder
from tests.support.tenants.callers import call_of
from tests.support.tenants.tenant_server import NewTenantServer, answered, refused

QUESTIONS = {"pet": "Your first pet?"}
RIGHT = {"pet": "Grey Owl"}
PIN, OTHER_PIN = "270486", "905142"
SETTINGS: dict[str, Any] = {
    "phone_login": True, "security_questions": QUESTIONS, "pin": {"is_on": True, "login": True},
    "lockout": {"type": "captcha", "maximum_failed_attempts": 3},
}  # fmt: skip
LOCKED, OPEN = {"IsLoginLocked": True}, {"IsLoginLocked": False}
Prepared = Callable[[], TestResponse]


def by_link(who: Customer) -> Prepared:
    token = who.token()
    return lambda: who.reset(resettoken=token, password=NEW)


def by_requested_token(who: Customer) -> Prepared:
    token = who.issued_token()
    return lambda: who.reset(resettoken=token, password=NEW)


def by_code(who: Customer) -> Prepared:
    code = who.code()
    return lambda: who.by_code(code)


def by_text_message(who: Customer) -> Prepared:
    answered(who.ask("POST", {"phone": who.phone}, path=f"{PATH}/otp"))
    body = {"phone": who.phone, "otp": who.texted(), "password": NEW}
    return lambda: who.ask("PUT", body, path=f"{PATH}/otp")


def by_answers(who: Customer) -> Prepared:
    body = {"email": who.email, "securityanswer": RIGHT, "password": NEW}
    return lambda: who.ask("PUT", body, path=f"{PATH}/securityanswer")


def _forgets_pin(who: Customer) -> dict[str, Any]:
    who.tenant.update(who.uid, {"PINInfo": {"PIN": PIN}})
    answered(who.ask("POST", {"email": who.email}, path=f"{A}/pin/forgot/email"))
    return who.mails()[-1]


def pin_by_link(who: Customer) -> Prepared:
    body = {"resettoken": token_in(_forgets_pin(who)), "pin": OTHER_PIN}
    return lambda: who.ask("PUT", body, path=f"{A}/pin/reset/token")


def pin_by_code(who: Customer) -> Prepared:
    body = {"email": who.email, "otp": code_in(_forgets_pin(who)), "pin": OTHER_PIN}
    return lambda: who.ask("PUT", body, path=f"{A}/pin/reset/otp/email")


def pin_by_answers(who: Customer) -> Prepared:
    who.tenant.update(who.uid, {"PINInfo": {"PIN": PIN}})
    body = {"email": who.email, "securityanswer": RIGHT, "pin": OTHER_PIN}
    return lambda: who.ask("PUT", body, path=f"{A}/pin/reset/securityanswer/email")


WAYS = [
    by_link, by_requested_token, by_code, by_text_message, by_answers, pin_by_link, pin_by_code, pin_by_answers,
]  # fmt: skip


def lock_of(who: Customer) -> tuple[bool, str]:
    profile = who.tenant.read(who.uid)
    return profile["IsLoginLocked"], profile["LoginLockedType"]


@pytest.mark.parametrize("recovery", WAYS)
def test_lock_by_administrator_stays(
    new_tenant_server: NewTenantServer, recovery: Callable[[Customer], Prepared]
) -> None:
    who = a_customer(new_tenant_server, **SETTINGS)
    recover = recovery(who)
    who.tenant.update(who.uid, LOCKED)
    assert refused(recover()) == (403, 991)
    assert lock_of(who) == (True, "Block")
    who.tenant.update(who.uid, OPEN)
    answered(recover())


@pytest.mark.both_databases
@pytest.mark.parametrize("recovery", [by_link, by_requested_token])
def test_link_opens_lock_of_failures(
    new_tenant_server: NewTenantServer, recovery: Callable[[Customer], Prepared]
) -> None:
    who = a_customer(new_tenant_server, **SETTINGS)
    recover = recovery(who)
    who.guesses(3)
    assert lock_of(who) == (True, "Captcha")
    answered(recover())
    assert lock_of(who) == (False, "None")
    answered(who.logs_in(NEW))


def test_locked_account_gets_no_message(new_tenant_server: NewTenantServer) -> None:
    who = a_customer(new_tenant_server, **SETTINGS)
    who.tenant.update(who.uid, LOCKED)
    assert refused(who.forgot()) == (403, 991)
    assert who.mails() == []


def test_hidden_locked_account_gets_no_message(new_tenant_server: NewTenantServer) -> None:
    who = a_customer(new_tenant_server, **SETTINGS, hide_unknown_accounts=True)
    who.tenant.update(who.uid, LOCKED)
    answered(who.forgot())
    assert who.mails() == []


def test_passkey_link_does_not_open_it(new_tenant_server: NewTenantServer) -> None:
    ada = passkey_holder(new_tenant_server).add_passkey()
    answered(ada.tenant.send("POST", f"{A}/passkey/forgot", {"email": ada.email}, with_secret=False))
    token = token_in(ada.mailed())
    made = ada.device.makes(ada.begins(f"{A}/passkey/reset/begin", vtoken=token))
    ada.tenant.update(ada.uid, LOCKED)
    assert refused(ada.gives(f"{A}/passkey/reset/finish", made, vtoken=token)) == (403, 991)
    assert ada.tenant.read(ada.uid)["IsLoginLocked"] is True


def fails(context: Context, account: Account) -> None:
    for _ in range(4):
        login_records.count_failure(context, account)


def solves(context: Context, account: Account) -> None:
    login_records.reset_failures(context.work, account.uid, is_lock_solved=True)


def signs_in(context: Context, account: Account) -> None:
    assert not login_records.record_login(
        context.work, account.uid, account.password_hash, context.now, is_lock_solved=True, new_hash=None
    )


@pytest.mark.both_databases
@pytest.mark.parametrize("act", [fails, solves, signs_in])
def test_lock_set_meanwhile_stays(new_tenant_server: NewTenantServer, act: Callable[[Context, Account], None]) -> None:
    who = a_customer(new_tenant_server, **SETTINGS)
    who.guesses(1)
    with call_of(who.tenant.services, who.tenant.name) as context:
        account = account_store.by_uid(context, who.uid)
    assert account is not None
    who.tenant.update(who.uid, LOCKED)
    with UnitOfWork(who.tenant.services.database, who.tenant.tenant_id).separate_transaction() as work:
        act(context.within(work), account)
    assert lock_of(who) == (True, "Block")


@pytest.mark.both_databases
def test_right_code_leaves_lock_set_meanwhile(new_tenant_server: NewTenantServer) -> None:
    who = a_customer(new_tenant_server, **SETTINGS)
    with call_of(who.tenant.services, who.tenant.name) as context:
        account = account_store.by_uid(context, who.uid)
        assert account is not None
        with context.work.separate_transaction() as work:
            attempt = login_records.count_attempt(context.within(work), account)
    assert attempt is not None
    who.tenant.update(who.uid, {**LOCKED, "IsActive": False})
    with UnitOfWork(who.tenant.services.database, who.tenant.tenant_id).separate_transaction() as work:
        attempt.take_back(work)
        assert not login_records.record_login(
            work, who.uid, account.password_hash, context.now, is_lock_solved=False, new_hash=None, attempt=attempt
        )
    assert lock_of(who) == (True, "Block")
    assert who.tenant.read(who.uid)["IsActive"] is False
