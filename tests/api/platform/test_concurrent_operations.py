"""Concurrent operations on one account: each succeeds or is refused, and none deadlocks."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from time import sleep
from typing import Any

import pytest
from sqlalchemy import text, update
from werkzeug.test import TestResponse

from app.identity.credentials.one_time_tokens.one_time_token_store import one_time_tokens
from app.identity.directory.accounts.tables import accounts
from app.identity.platform.store.database import Database, StoreContended
from app.identity.platform.store.unit_of_work import UnitOfWork
from tests.support.accounts.mailbox import mails_to, token_in
from tests.support.accounts.registering import UNLIMITED, primary, register
from tests.support.races import at_once
from tests.support.tenants.tenant_server import MANAGE, PASSWORD, NewTenantServer, TenantServer, answered, refused

pytestmark = pytest.mark.both_databases("first")

AUTH = "/identity/v2/auth"
ADA, OTHER = "ada@example.test", "countess@example.test"
FREE = {"amount": 0, "minutes": 1}
TIMES = 3
Act = Callable[[], TestResponse]


def unlimited_tenant(new_tenant_server: NewTenantServer) -> TenantServer:
    named = ("sign_in_per_minute_per_address", "forgot_per_minute_per_address", "reset_per_minute_per_address")
    return new_tenant_server(
        limits={**UNLIMITED, **dict.fromkeys(named, 0)}, lockout={"type": "none"}, email_login=True, username_login=True,
        hide_unknown_accounts=True, sending={"mails": FREE, "mails_in_all": FREE}, security_questions={"pet": "First pet?"},
    )  # fmt: skip


def token_of(acme: TenantServer, to: str, page: str) -> str:
    return next(token_in(mail) for mail in mails_to(acme.services, acme.tenant_id, to) if page in str(mail["text"]))


def account_requests(acme: TenantServer, bearer: str) -> list[Act]:
    own: Callable[..., TestResponse] = partial(acme.send, bearer=bearer)
    change = {"oldpassword": PASSWORD, "newpassword": "Third-kettle-93"}
    return [
        partial(own, "DELETE", f"{AUTH}/email", {"email": ADA}),
        partial(own, "POST", f"{AUTH}/email", {"email": "third@example.test", "type": "Home"}),
        partial(own, "PUT", f"{AUTH}/username", {"username": "countess"}),
        partial(
            own,
            "PUT",
            f"{AUTH}/account",
            {"FirstName": "Ada", "SecurityQuestionAnswer": {"pet": "Rex"}, "oldpassword": PASSWORD},
        ),
        partial(own, "PUT", f"{AUTH}/account", {"Password": "Fourth-kettle-94", "oldpassword": PASSWORD}),
        partial(own, "PUT", f"{AUTH}/password/change", change),
    ]


def mailbox_requests(acme: TenantServer, bearer: str) -> list[Act]:
    acme.send("POST", f"{AUTH}/email", {"email": OTHER, "type": "Secondary"}, bearer=bearer)
    acme.send("POST", f"{AUTH}/password", {"email": ADA}, with_secret=False)
    acme.send("DELETE", f"{AUTH}/account", bearer=bearer)
    reset = {"resettoken": token_of(acme, ADA, "/r/"), "password": "Other-kettle-92"}
    verify, leave = token_of(acme, OTHER, "/v/"), token_of(acme, ADA, "/d/")
    without_secret: Callable[..., TestResponse] = partial(acme.send, with_secret=False)
    return [
        partial(without_secret, "PUT", f"{AUTH}/password/reset", reset),
        partial(without_secret, "GET", f"{AUTH}/email", verificationtoken=verify),
        partial(without_secret, "GET", f"{AUTH}/account/delete", deletetoken=leave),
        partial(without_secret, "POST", f"{AUTH}/password", {"email": ADA}),
        partial(without_secret, "POST", f"{AUTH}/login", {"email": ADA, "password": PASSWORD}),
        partial(register, acme, ADA),
        partial(register, acme, OTHER),
    ]


def server_requests(acme: TenantServer, uid: str, *, removes: bool) -> list[Act]:
    changed = {"LastName": "King", "EmailVerified": False}
    last: Act = partial(acme.send, "DELETE", f"{MANAGE}/{uid}") if removes else partial(
        acme.send, "PUT", f"{MANAGE}/{uid}", changed
    )  # fmt: skip
    return [last, partial(acme.send, "PUT", f"{MANAGE}/{uid}/password", {"password": "Fifth-kettle-95"})]


def test_concurrent_operations_cause_no_server_error(new_tenant_server: NewTenantServer) -> None:
    for removes in (False, True):
        acme = unlimited_tenant(new_tenant_server)
        uid = str(acme.create(Email=primary(ADA), EmailVerified=True, UserName="ada")["Uid"])
        bearer = str(acme.tokens(uid)["access_token"])
        acts = (
            mailbox_requests(acme, bearer)
            + account_requests(acme, bearer)
            + server_requests(acme, uid, removes=removes)
        )
        answers: list[Any] = at_once(acts * TIMES)
        assert not [(answer.request.path, answer.text) for answer in answers if answer.status_code >= 500]


def test_server_can_set_password_of_closed_account(acme: TenantServer) -> None:
    uid = str(acme.create(Email=primary(ADA), EmailVerified=True)["Uid"])
    answered(acme.send("PUT", f"{MANAGE}/{uid}", {"IsActive": False}))
    assert answered(acme.send("PUT", f"{MANAGE}/{uid}/password", {"password": "Fifth-kettle-95"}))["PasswordHash"]
    login = {"email": ADA, "password": "Fifth-kettle-95"}
    assert refused(acme.send("POST", f"{AUTH}/login", login, with_secret=False)) == (403, 991)


def wait_for_lock_wait(database: Database) -> None:
    waits = text("SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'")
    with database.connect() as connection:
        while connection.execute(waits).first() is None:
            sleep(0.01)


@pytest.mark.parametrize("services", ["postgres"], indirect=True)
def test_request_aborted_by_deadlock_runs_again(new_tenant_server: NewTenantServer) -> None:
    """The two lock link and account in opposite order: PostgreSQL aborts the request, and it runs again."""
    acme = unlimited_tenant(new_tenant_server)
    uid = str(acme.create(Email=primary(ADA), EmailVerified=True)["Uid"])
    forgot: Act = partial(acme.send, "POST", f"{AUTH}/password", {"email": ADA}, with_secret=False)
    answered(forgot())
    links, people = (
        update(item).where(item.c.tenant_id == acme.tenant_id, item.c.uid == uid)
        for item in (one_time_tokens, accounts)
    )
    # PostgreSQL looks for a deadlock once, a second after a wait began. If this side takes longer than that to follow, it is
    # aborted in place of the request: then they try again.
    for mails in range(2, 8):
        other = UnitOfWork(acme.services.database, acme.tenant_id)
        other.run(links.values(tries=1))
        with ThreadPoolExecutor(1) as pool:
            requested = pool.submit(forgot)
            wait_for_lock_wait(acme.services.database)
            try:
                other.run(people.values(failed_attempts=0))
                other.commit()
                is_request_aborted = True
            except StoreContended:
                other.rollback()
                is_request_aborted = False
            assert answered(requested.result())["IsPosted"]
        assert len(mails_to(acme.services, acme.tenant_id, ADA)) == mails
        if is_request_aborted:
            return
    pytest.fail("the request was never aborted")
