"""Deletion, privacy policy, unlocking and welcome mail of the own account."""

import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest

from app.identity.assembly.clean_up.expired_rows import clean
from tests.support.accounts.mailbox import sent_messages, token_in
from tests.support.accounts.self_service import OWN, ProfilePerson, entries, mails
from tests.support.tenants.tenant_server import MANAGE, PASSWORD, NewTenantServer, TenantServer, answered, refused

DELETE = "/identity/v2/auth/account/delete"
ACCEPT, HISTORY = "/identity/v2/auth/privacypolicy/accept", "/identity/v2/auth/privacypolicy/history"
POLICY = {
    "mode": "strict",
    "versions": [
        {"version": "1.0", "starts_at": "2020-01-01T00:00:00Z"},
        {"version": "2.0", "starts_at": "2024-01-01T00:00:00Z"},
        {"version": "3.0", "starts_at": "2199-01-01T00:00:00Z"},
    ],
}
NewPerson = Callable[..., ProfilePerson]


@pytest.fixture
def person(new_tenant_server: NewTenantServer) -> NewPerson:
    """Return a function that creates an account at a new tenant with these settings."""

    def make(email: str = "ada@example.test", **settings: Any) -> ProfilePerson:
        return ProfilePerson(new_tenant_server(**settings), Email=[{"Type": "Primary", "Value": email}])

    return make


def request_deletion(ada: ProfilePerson) -> str:
    assert answered(ada.send("DELETE", OWN)) == {"IsDeleteRequestAccepted": True}
    return token_in(mails(ada.server, ada.email)[-1])


def confirm(server: TenantServer, token: str, method: str = "GET") -> Any:
    return server.send(method, DELETE, with_secret=False, deletetoken=token)


def login(ada: ProfilePerson) -> Any:
    body = {"email": ada.email, "password": PASSWORD}
    return ada.server.send("POST", "/identity/v2/auth/login", body, with_secret=False)


@pytest.mark.both_databases
@pytest.mark.database_alone
def test_deletion_link_marks_account_and_cleanup_removes_it(person: NewPerson) -> None:
    ada = person(deletion_days=3)
    token = request_deletion(ada)
    assert confirm(ada.server, token, "HEAD").status_code == 200
    assert answered(confirm(ada.server, token)) == {"IsPosted": True}
    assert ada.refusal("GET", OWN) == (401, 1409)
    assert refused(login(ada)) == (403, 991)
    assert ada.server.read(ada.uid)["IsDeleted"] is True
    services = ada.server.services
    clean(services.database, services.clock.now() + timedelta(days=2))
    assert ada.server.read(ada.uid)["IsDeleted"] is True
    clean(services.database, services.clock.now() + timedelta(days=3, minutes=1))
    assert refused(ada.server.send("GET", f"{MANAGE}/{ada.uid}")) == (403, 984)
    assert {"deletion.asked", "account.leaves", "event.DeleteAccount", "account.deleted"} <= set(entries(ada.server))
    assert ada.server.create(Email=[{"Type": "Primary", "Value": ada.email}])["Uid"] != ada.uid


def test_zero_deletion_days_remove_account_at_once(person: NewPerson) -> None:
    ada = person(deletion_days=0)
    answered(confirm(ada.server, request_deletion(ada)))
    assert refused(ada.server.send("GET", f"{MANAGE}/{ada.uid}")) == (403, 984)


@pytest.mark.both_databases
@pytest.mark.database_alone
def test_server_keeps_account_pending_deletion(person: NewPerson) -> None:
    ada = person()
    answered(confirm(ada.server, request_deletion(ada)))
    assert ada.server.update(ada.uid, {"IsDeleted": False})["IsDeleted"] is False
    services = ada.server.services
    clean(services.database, services.clock.now() + timedelta(days=400))
    assert ada.server.read(ada.uid)["Uid"] == ada.uid
    assert login(ada).status_code == 200


@pytest.mark.parametrize(
    "changed", [lambda token: token[:-1], lambda token: token + "x", lambda _: "x", lambda token: token * 5]
)
def test_broken_deletion_link_is_refused(person: NewPerson, changed: Callable[[str], str]) -> None:
    ada = person()
    token = request_deletion(ada)
    assert refused(confirm(ada.server, changed(token)))[1] in (1119, 908)
    assert ada.send("GET", OWN).status_code == 200


@pytest.mark.both_databases
def test_link_of_other_tenant_or_purpose_deletes_nothing(person: NewPerson, globex: TenantServer) -> None:
    ada = person()
    token = request_deletion(ada)
    assert refused(confirm(globex, token)) == (403, 1119)
    body = {"email": "countess@example.test", "type": "Secondary"}
    answered(ada.send("POST", "/identity/v2/auth/email", body))
    other = token_in(mails(ada.server, "countess@example.test")[-1])
    assert refused(confirm(ada.server, other)) == (403, 1119)


def test_deletion_link_works_once_and_replaces_older_one(person: NewPerson) -> None:
    ada = person()
    older, token = request_deletion(ada), request_deletion(ada)
    assert refused(confirm(ada.server, older)) == (403, 975)
    answered(confirm(ada.server, token))
    assert refused(confirm(ada.server, token)) == (403, 974)


@pytest.mark.both_databases
def test_parallel_uses_of_one_link_have_one_winner(person: NewPerson) -> None:
    ada = person()
    token = request_deletion(ada)
    with ThreadPoolExecutor(10) as pool:
        results = list(pool.map(lambda _: confirm(ada.server, token).status_code, range(20)))
    assert sorted(set(results)) == [200, 403]
    assert results.count(200) == 1
    assert entries(ada.server).count("account.leaves") == 1


def test_account_without_verified_address_gets_no_link(person: NewPerson, new_tenant_server: NewTenantServer) -> None:
    grace = ProfilePerson(new_tenant_server(), UserName="grace")
    assert grace.refusal("DELETE", OWN) == (403, 1340)
    ada = person()
    ada.server.update(ada.uid, {"EmailVerified": False})
    assert ada.refusal("DELETE", OWN) == (403, 1173)
    assert person(email="eve@example.test").refusal("DELETE", OWN, deleteurl="https://evil.test/") == (403, 1249)


def test_sms_code_deletes_account(person: NewPerson) -> None:
    ada = person()
    assert ada.refusal("GET", f"{OWN}/otp") == (403, 1292)
    assert ada.refusal("POST", DELETE, {"otp": "123456"}) == (403, 1292)
    ada.server.update(ada.uid, {"PhoneId": "+442079460123"})
    assert ada.refusal("GET", f"{OWN}/otp") == (403, 1292), "the number is unverified: it may be an attacker's"
    assert ada.refusal("POST", DELETE, {"otp": "123456"}) == (403, 1292)
    ada.server.update(ada.uid, {"PhoneIdVerified": True})
    assert ada.refusal("POST", DELETE, {"otp": "123456"}) == (403, 1067)
    assert ada.refusal("POST", DELETE, {}) == (400, 908)
    answer = answered(ada.send("GET", f"{OWN}/otp"))
    assert answer["IsPosted"] is True
    assert answer["Data"]["Sid"].startswith("SM")
    code = re.findall(r"\d{6}", sent_messages(ada.server.services, ada.server.tenant_id, "sms")[-1]["text"])[0]
    wrong = "000000" if code != "000000" else "111111"
    assert ada.refusal("POST", DELETE, {"otp": wrong}) == (403, 1067)
    assert answered(ada.send("POST", DELETE, {"otp": f"{code[:3]}-{code[3:]}"})) == {"IsDeleted": True}
    assert ada.refusal("GET", OWN) == (401, 1409)


def test_outdated_policy_blocks_reading_writing_and_login(person: NewPerson) -> None:
    ada = person(privacy_policy=POLICY)
    assert ada.refusal("GET", OWN) == (403, 1194)
    assert ada.refusal("PUT", OWN, {"FirstName": "Ada"}) == (403, 1194)
    answer = login(ada)
    assert refused(answer) == (403, 1194)
    token = answer.get_json()["Data"]["access_token"]
    profile = answered(ada.server.send("GET", ACCEPT, bearer=token))
    assert profile["PrivacyPolicy"]["Version"] == "2.0"
    assert profile["PrivacyPolicy"]["AcceptSource"] == "API"
    assert refused(ada.server.send("GET", ACCEPT, bearer=token)) == (403, 1222)
    assert login(ada).status_code == 200
    assert ada.send("GET", OWN).status_code == 200
    assert "privacy_policy.accepted" in entries(ada.server)


def test_policy_history_lists_acceptances(person: NewPerson) -> None:
    ada = person(privacy_policy={**POLICY, "mode": "moderated"})
    assert answered(ada.send("GET", HISTORY)) == {"Uid": ada.uid, "Current": None, "History": []}
    ada.server.update(ada.uid, {"PrivacyPolicy": {"Version": "1.0"}})
    answered(ada.send("GET", ACCEPT))
    history = answered(ada.send("GET", HISTORY))
    assert [entry["Version"] for entry in history["History"]] == ["2.0", "1.0"]
    assert history["Current"] == history["History"][0]
    assert login(ada).status_code == 200


def test_tenant_without_policy_refuses_acceptance(person: NewPerson) -> None:
    ada = person()
    assert ada.refusal("GET", ACCEPT) == (403, 1195)
    assert ada.refusal("GET", HISTORY) == (403, 1195)


def test_welcome_mail_is_sent_on_each_request(person: NewPerson, new_tenant_server: NewTenantServer) -> None:
    ada = person()
    for _ in range(2):
        assert answered(ada.send("GET", "/identity/v2/auth/account/sendwelcomeemail")) == {"IsPosted": True}
    assert len(mails(ada.server, ada.email)) == 2
    grace = ProfilePerson(new_tenant_server(), UserName="grace")
    assert grace.refusal("GET", "/identity/v2/auth/account/sendwelcomeemail") == (403, 1340)


UNLOCK = "/identity/v2/auth/account/unlock"


def lock_account(ada: ProfilePerson) -> None:
    for _ in range(2):
        ada.server.send("POST", "/identity/v2/auth/login", {"email": ada.email, "password": "wrong"}, with_secret=False)


def test_security_answer_unlocks_account(person: NewPerson) -> None:
    ada = person(
        lockout={"type": "security_question", "maximum_failed_attempts": 2}, security_questions={"pet": "First pet?"}
    )
    answered(ada.send("PUT", OWN, {"SecurityQuestionAnswer": {"pet": "Rex"}, "oldpassword": PASSWORD}))
    assert ada.refusal("PUT", UNLOCK) == (400, 1079)
    assert ada.refusal("PUT", UNLOCK, {"securityanswer": {"pet": "Rex"}}) == (403, 1221)
    lock_account(ada)
    assert ada.refusal("PUT", UNLOCK, {"securityanswer": {"pet": "Spot"}}) == (403, 1094)
    assert ada.refusal("PUT", UNLOCK, {"securityanswer": {"car": "Rex"}}) == (403, 1091)
    assert answered(ada.send("PUT", UNLOCK, {"securityanswer": {"pet": " rex "}})) == {"IsPosted": True}
    assert login(ada).status_code == 200


def test_suspension_cannot_be_unlocked_early(person: NewPerson) -> None:
    ada = person(lockout={"type": "suspend", "maximum_failed_attempts": 2}, security_questions={"pet": "First pet?"})
    lock_account(ada)
    assert ada.refusal("PUT", UNLOCK, {"securityanswer": {"pet": "Rex"}}) == (403, 1198)


def test_unsolved_captcha_unlocks_nothing(person: NewPerson) -> None:
    ada = person(lockout={"type": "captcha", "maximum_failed_attempts": 2})
    lock_account(ada)
    assert ada.refusal("PUT", UNLOCK, {"captcha_challenge": "x", "captcha_work": "1"}) == (403, 982)


def test_registration_stores_policy_and_refuses_rejection(person: NewPerson) -> None:
    server = person(privacy_policy=POLICY, email_verification="disabled").server
    sott = answered(server.send("GET", f"{MANAGE}/sott"))["Sott"]
    body = {"Email": [{"Type": "Primary", "Value": "fresh@example.test"}], "Password": PASSWORD}

    def register(accepts: bool) -> Any:
        registration = {**body, "AcceptPrivacyPolicy": accepts}
        return server.send("POST", "/identity/v2/auth/register", registration, with_secret=False, sott=sott)

    assert refused(register(accepts=False)) == (403, 1196)
    assert answered(register(accepts=True))["Data"]["Profile"]["PrivacyPolicy"]["Version"] == "2.0"
