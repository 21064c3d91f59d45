"""Attempts at second factors: each counts before its code is compared, and a right one is taken back by what it completes."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest
from sqlalchemy import select
from werkzeug.test import TestResponse

from app.identity.directory.accounts.tables import accounts
from app.identity.platform import continuation_tokens
from app.identity.platform.context import Context
from app.identity.platform.store.unit_of_work import UnitOfWork
from tests.support.credentials.factors import SecondFactorHolder, second_factor_holder
from tests.support.organizations.management import PATH, Business
from tests.support.races import RACERS, at_once
from tests.support.tenants.tenant_server import NewTenantServer, answered, refused

LIMIT = 3
WRONG = "000000"
STEP_UP = "/identity/v2/auth/account/reauth/2fa/authenticatorcode"


@pytest.fixture
def ada(new_tenant_server: NewTenantServer) -> SecondFactorHolder:
    lockout = {"type": "suspend", "maximum_failed_attempts": LIMIT}
    return second_factor_holder(new_tenant_server, lockout=lockout).enrols()


def failures(who: SecondFactorHolder) -> tuple[int, bool]:
    """Return the counter of the account, and whether it is locked."""
    where = (accounts.c.tenant_id == who.tenant.tenant_id, accounts.c.uid == who.uid)
    with UnitOfWork(who.tenant.services.database, who.tenant.tenant_id).separate_transaction() as work:
        row = work.run(select(accounts.c.failed_attempts, accounts.c.is_locked).where(*where)).one()
    return row.failed_attempts, row.is_locked


Shows = Callable[[str], TestResponse]


def signing_in(who: SecondFactorHolder) -> Shows:
    token = who.token()
    return lambda code: who.shows_code(code, token)


def stepping_up(who: SecondFactorHolder) -> Shows:
    return lambda code: who.tenant.send("PUT", STEP_UP, {"authenticatorcode": code}, bearer=who.bearer)


def enrolling_again(who: SecondFactorHolder) -> Shows:
    return lambda code: who.own("PUT", "totp", {"authenticatorcode": code})


every_use = pytest.mark.parametrize("use", [signing_in, stepping_up, enrolling_again])


@every_use
@pytest.mark.both_databases
def test_wrong_code_counts_and_right_one_resets(
    ada: SecondFactorHolder, use: Callable[[SecondFactorHolder], Shows]
) -> None:
    show = use(ada)
    for count in range(1, LIMIT):
        assert refused(show(WRONG))[0] == 403
        assert failures(ada) == (count, False)
    answered(show(ada.next_code()))
    assert failures(ada) == (0, False)


@every_use
@pytest.mark.both_databases
def test_crash_after_right_code_leaves_it_counted(
    ada: SecondFactorHolder, use: Callable[[SecondFactorHolder], Shows], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The attempt is taken back in the transaction that the code completes: without it, a crash would give free guesses."""
    show = use(ada)
    with monkeypatch.context() as patch:
        patch.setattr(Context, "commit", crash)
        assert show(ada.next_code()).status_code == 500
    assert failures(ada) == (1, False)
    answered(show(ada.next_code()))
    assert failures(ada) == (0, False)


def crash(_: Context) -> None:
    raise RuntimeError("the request ends here")


@pytest.mark.both_databases
def test_last_attempt_is_open_to_the_right_code(ada: SecondFactorHolder) -> None:
    """The attempt reaches the limit while it is compared; recorded, it takes that back."""
    token = ada.token()
    for _ in range(LIMIT - 1):
        refused(ada.shows_code(WRONG, token))
    answered(ada.shows_code(ada.next_code(), token))
    assert failures(ada) == (0, False)


@pytest.mark.both_databases
def test_losers_of_a_race_take_back_their_own_attempt(ada: SecondFactorHolder) -> None:
    assert refused(ada.shows_code(WRONG)) == (403, 1102)
    token, code = ada.token(), ada.next_code()
    answers = at_once([partial(ada.shows_code, code, token) for _ in range(RACERS)])
    assert [answer.status_code for answer in answers].count(200) == 1
    assert failures(ada) == (0, False)


def test_loser_after_its_code_takes_back_one_attempt(ada: SecondFactorHolder, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another request spent the continuation token between this one's code and its end."""
    assert refused(ada.shows_code(WRONG)) == (403, 1102)
    token, code = ada.token(), ada.next_code()
    with monkeypatch.context() as patch:
        patch.setattr(continuation_tokens, "spend", lambda *_: False)
        assert refused(ada.shows_code(code, token)) == (403, 1103)
    assert failures(ada) == (1, False)


@pytest.mark.both_databases
def test_right_code_of_a_refused_sign_in_takes_back_one_attempt(ada: SecondFactorHolder) -> None:
    """An organization stopped allowing the password after it was verified: the person guessed nothing."""
    ada.tenant.change_settings(passwordless_email=True)
    business = Business(ada.tenant)
    org = business.create("")
    answered(business.assign(ada.uid, org, business.role(org=org)))
    assert refused(ada.shows_code(WRONG)) == (403, 1102)
    token = ada.token()
    policy = {"MethodPolicy": {"AllowedMethods": ["email"]}}
    answered(business.send("PUT", f"{PATH}/{org}/policy", policy))
    assert refused(ada.shows_code(ada.next_code(), token)) == (403, 1220)
    assert failures(ada) == (1, False)
