"""A profile update changes a credential only with the password that the account has."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from werkzeug.test import TestResponse

from app.identity.platform.audit import audit
from app.identity.platform.store.unit_of_work import UnitOfWork
from tests.support.operation_cases.cases import AccountHolder, account_holder, solved
from tests.support.tenants.machines import ask, machine
from tests.support.tenants.tenant_server import MANAGE, PASSWORD, NewTenantServer, TenantServer, answered, refused

OWN = "/identity/v2/auth/account"
NEW, PIN = "Quartz-lantern-58", "4711"
QUESTIONS = {"pet": "First pet?", "city": "Where were you born?"}
ALL: dict[str, Any] = {
    "security_questions": QUESTIONS,
    "pin": {"is_on": True, "login": True},
    "phone_login": True,
    "lockout": {"type": "suspend", "maximum_failed_attempts": 3},
}
WRONG = (401, 967)


@pytest.fixture
def ada(new_tenant_server: NewTenantServer) -> AccountHolder:
    return account_holder(new_tenant_server, **ALL)


def put(who: AccountHolder, **members: Any) -> TestResponse:
    return who.own("U16", members)


def events(tenant: TenantServer) -> list[str]:
    with UnitOfWork(tenant.services.database, tenant.tenant_id).separate_transaction() as work:
        rows = work.all(audit.select().where(audit.c.tenant_id == tenant.tenant_id))
    return [row.event for row in rows]


SECRETS: dict[str, dict[str, Any]] = {
    "password": {"Password": NEW},
    "password, lower case": {"password": NEW},
    "password, capitals": {"PASSWORD": NEW},
    "password, twice": {"password": "other-Kettle-77", "Password": NEW},
    "answers": {"SecurityQuestionAnswer": {"pet": "an attacker's"}},
    "answers, underscores": {"security_question_answer": {"pet": "an attacker's"}},
    "PIN": {"PINInfo": {"PIN": PIN}},
    "PIN, lower case": {"pininfo": {"pin": PIN}},
}


@pytest.mark.both_databases
def test_stolen_token_alone_changes_no_credential(ada: AccountHolder, subtests: pytest.Subtests) -> None:
    before = answered(ada.managed("A15"))
    for name, members in SECRETS.items():
        for shown in (
            {},
            {"oldpassword": ""},
            {"oldpassword": None},
            {"newpassword": NEW, "currentpassword": PASSWORD},
        ):
            with subtests.test(f"{name} {shown}"):
                assert refused(put(ada, **{"FirstName": "Eve", **members, **shown})) == WRONG
    assert answered(ada.managed("A15")) == before
    stored = ada.tenant.read(ada.uid)
    assert (stored["FirstName"], stored["PIN"]) == (None, None)
    assert "security_answers.changed" not in events(ada.tenant)


@pytest.mark.parametrize("name", ["oldpassword", "OldPassword", "OLDPASSWORD", "old_password"])
def test_password_changes_beside_the_old_one(ada: AccountHolder, name: str) -> None:
    other = str(ada.tenant.tokens(ada.uid)["access_token"])
    answered(put(ada, **{"Password": NEW, name: PASSWORD}))
    answered(ada.logs_in(NEW))
    assert refused(ada.logs_in(PASSWORD)) == (401, 966)
    assert refused(ada.tenant.send("GET", OWN, bearer=other)) == (401, 1409)
    assert answered(ada.own("U15"))["Uid"] == ada.uid, "the token of the change stays"
    assert "password was changed" in ada.mailed()["subject"]


def test_other_credentials_change_beside_the_old_password(ada: AccountHolder) -> None:
    answered(put(ada, SecurityQuestionAnswer={"pet": "Rex"}, oldpassword=PASSWORD))
    assert answered(put(ada, PINInfo={"PIN": PIN}, oldpassword=PASSWORD))["Data"]["PIN"]["PIN"] == "********"


def test_account_without_password_sets_credentials(ada: AccountHolder) -> None:
    ada.set_columns(password_hash=None)
    answered(put(ada, SecurityQuestionAnswer={"pet": "Rex"}))
    answered(put(ada, Password=NEW))
    answered(ada.logs_in(NEW))
    assert refused(put(ada, Password=PASSWORD)) == WRONG, "it has a password now"


def test_other_members_need_no_old_password(ada: AccountHolder) -> None:
    members: dict[str, Any]
    for members in (
        {"FirstName": "Ada"},
        {"Password": None},
        {"Password": ""},
        {"SecurityQuestionAnswer": {}},
        {"SecurityQuestionAnswer": None},
        {"PINInfo": {"Skipped": True}},
        {"UserName": "countess"},
    ):
        answered(put(ada, **members))
    answered(ada.logs_in())


def test_nested_password_is_no_password(ada: AccountHolder) -> None:
    for members in ({"Profile": {"Password": NEW}}, {"CustomFields": {}, "Identities": [{"Password": NEW}]}):
        answered(put(ada, **members))
    assert refused(put(ada, Password=[NEW])) == (400, 908)
    assert refused(put(ada, Password=NEW, oldpassword=[PASSWORD])) == (400, 908)
    answered(ada.logs_in())


def test_old_password_alone_is_not_compared(ada: AccountHolder) -> None:
    """Otherwise it would tell a thief of the token, who needs no other change, whether a guess is right."""
    for guess in ("wrong", PASSWORD, "wrong", "wrong", "wrong"):
        answered(put(ada, FirstName="Ada", oldpassword=guess))
    answered(ada.logs_in())


def test_refusal_does_not_reveal_the_current_password(ada: AccountHolder) -> None:
    """1015 says that a password was used before, so a guess must not get that far."""
    guesses = [PASSWORD, NEW, "short", "Password123!"]
    assert {refused(put(ada, Password=guess)) for guess in guesses} == {WRONG}
    assert refused(put(ada, Password=PASSWORD, oldpassword="wrong")) == WRONG
    assert refused(put(ada, Password=PASSWORD, oldpassword=PASSWORD)) == (403, 1015)


GUESSES: dict[str, tuple[Callable[[AccountHolder, str], TestResponse], tuple[int, int]]] = {
    "U16 password": (lambda who, guess: put(who, Password=NEW, oldpassword=guess), WRONG),
    "U16 answers": (lambda who, guess: put(who, SecurityQuestionAnswer={"pet": "x"}, oldpassword=guess), WRONG),
    "U16 PIN": (lambda who, guess: put(who, PINInfo={"PIN": PIN}, oldpassword=guess), WRONG),
    "U32": (lambda who, guess: who.own("U32", {"oldpassword": guess, "newpassword": NEW}), WRONG),
    "M71": (lambda who, guess: who.own("M71", {"password": guess}), (401, 1205)),
}


@pytest.mark.parametrize("name", GUESSES)
def test_wrong_old_passwords_count_like_wrong_sign_ins(ada: AccountHolder, name: str) -> None:
    guess, wrong = GUESSES[name]
    assert refused(ada.logs_in("wrong")) == (401, 966)
    assert refused(guess(ada, "wrong")) == wrong
    assert refused(guess(ada, "wrong"))[1] in (wrong[1], 1198)
    assert refused(guess(ada, PASSWORD)) == (403, 1198)
    assert refused(ada.logs_in()) == (403, 1198), "the lock is that of sign-in"
    ada.advance_clock(days=1)
    answered(ada.logs_in())


@pytest.mark.both_databases
@pytest.mark.parametrize("name", GUESSES)
def test_parallel_guesses_are_compared_up_to_the_limit(ada: AccountHolder, name: str) -> None:
    """The right one among many is refused when the limit is spent, whatever began first."""
    guess, _ = GUESSES[name]
    ada.bearer  # noqa: B018 - all have one sign-in
    with ThreadPoolExecutor(8) as pool:
        statuses = list(pool.map(lambda _: guess(ada, "wrong").get_json()["ErrorCode"], range(16)))
    assert len([code for code in statuses if code != 1198]) <= ALL["lockout"]["maximum_failed_attempts"]
    assert events(ada.tenant).count("password.refused") <= ALL["lockout"]["maximum_failed_attempts"]


def test_missing_old_password_is_no_attempt(ada: AccountHolder) -> None:
    for _ in range(5):
        assert refused(put(ada, Password=NEW)) == WRONG
    answered(ada.logs_in())


@pytest.mark.parametrize("own", ["U16", "U32"])
def test_refused_new_password_costs_no_attempt(ada: AccountHolder, own: str) -> None:
    for _ in range(5):
        if own == "U16":
            assert refused(put(ada, Password="short", oldpassword=PASSWORD)) == (403, 1134)
        else:
            assert refused(ada.own("U32", {"oldpassword": PASSWORD, "newpassword": "short"})) == (403, 1134)
    answered(ada.logs_in())


def test_changed_password_ends_the_count_of_failures(ada: AccountHolder) -> None:
    ada.guesses(2)
    answered(put(ada, Password=NEW, oldpassword=PASSWORD))
    assert refused(ada.guesses(2)) == (401, 966)
    answered(ada.logs_in(NEW))


@pytest.mark.both_databases
def test_one_of_parallel_changes_wins(new_tenant_server: NewTenantServer) -> None:
    """Each knew the old password when it began; the others' is old when they write."""
    ada = account_holder(new_tenant_server, lockout={"type": "none"})
    ada.bearer  # noqa: B018 - all have one sign-in
    texts = [f"Quartz-lantern-{number}" for number in range(8)]
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda text: put(ada, Password=text, oldpassword=PASSWORD), texts))
    won = [text for text, answer in zip(texts, answers, strict=True) if answer.status_code == 200]
    assert len(won) == 1
    answered(ada.logs_in(won[0]))


@pytest.mark.both_databases
def test_one_of_parallel_first_passwords_wins(ada: AccountHolder) -> None:
    ada.set_columns(password_hash=None)
    ada.bearer  # noqa: B018 - all have one sign-in
    texts = [f"Quartz-lantern-{number}" for number in range(8)]
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda text: put(ada, Password=text), texts))
    won = [text for text, answer in zip(texts, answers, strict=True) if answer.status_code == 200]
    assert (len(won), {refused(answer) for answer in answers if answer.status_code != 200} <= {WRONG}) == (1, True)
    answered(ada.logs_in(won[0]))


def test_application_needs_the_old_password_too(ada: AccountHolder) -> None:
    """A fresh sign-in opens the operation to an application; it does not replace the password."""
    ada.tenant.change_settings(fresh_proof_for_credentials=True)
    answered(ada.own("M71", {"password": PASSWORD}))
    assert refused(put(ada, Password=NEW)) == WRONG
    answered(put(ada, Password=NEW, oldpassword=PASSWORD))


def test_password_in_update_counts_against_the_network(new_tenant_server: NewTenantServer) -> None:
    ada = account_holder(new_tenant_server, limits={"reset_per_minute_per_address": 2})
    answered(put(ada, FirstName="Ada"))
    for _ in range(2):
        assert refused(put(ada, Password=NEW)) == WRONG
    assert put(ada, Password=NEW, oldpassword=PASSWORD).status_code == 429
    answered(put(ada, FirstName="Ada"))


def test_password_in_update_needs_the_captcha_of_its_operation(new_tenant_server: NewTenantServer) -> None:
    ada = account_holder(new_tenant_server, captcha_at=["change_password"])
    answered(put(ada, FirstName="Ada"))
    first = put(ada, Password=NEW, oldpassword=PASSWORD)
    assert refused(first) == (403, 982)
    answered(put(ada, Password=NEW, oldpassword=PASSWORD, **solved(first)))


def test_server_sets_credentials_without_the_old_password(ada: AccountHolder) -> None:
    ada.update_account(Password=NEW, SecurityQuestionAnswer={"pet": "x"}, PINInfo={"PIN": PIN})
    answered(ada.logs_in(NEW))
    token = machine(ada.tenant, "profile:update")
    answered(ask(ada.tenant, token, "PUT", f"{MANAGE}/{ada.uid}", {"Password": "Third-lantern-59"}))
    assert refused(ada.tenant.send("PUT", f"{MANAGE}/{ada.uid}", {"Password": "short"})) == (403, 1134)


def test_pin_of_an_update_ends_older_reset_links(ada: AccountHolder) -> None:
    """As the operations of PINs do."""
    ada.update_account(PINInfo={"PIN": PIN})
    made = answered(ada.managed("A20", {"email": ada.email}, at={"tokentype": "forgotpin"}))
    ada.update_account(PINInfo={"PIN": "2580"})
    assert ada.call("U73", {"resettoken": made["Token"], "pin": "1379"}).status_code == 403
