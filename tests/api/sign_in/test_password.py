"""Sign-in with a password: identifiers, lockout, refusals, hidden accounts, audit entries and password hashes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import update
from werkzeug.test import Client

from app.identity.directory.accounts.tables import accounts
from app.identity.platform.store.unit_of_work import UnitOfWork
from tests.support.accounts.password_customers import UNLIMITED, WRONG, SignInCustomer, a_customer
from tests.support.oauth.relying_party import Browser
from tests.support.services.identity_service import pass_time
from tests.support.tenants.tenant_server import PASSWORD, NewTenantServer, TenantServer, answered, refused


@pytest.fixture
def every_kind(new_tenant_server: NewTenantServer) -> SignInCustomer:
    return a_customer(new_tenant_server(email_login=True, username_login=True, phone_login=True))


def locking(new: NewTenantServer, kind: str, **settings: Any) -> SignInCustomer:
    """Return a customer of a tenant that locks after three failures."""
    lockout = {"type": kind, "maximum_failed_attempts": 3, "suspend_seconds": 600}
    return a_customer(new(lockout=lockout, limits=UNLIMITED, **settings))


# Identifiers.


@pytest.mark.parametrize("kind", ["email", "username", "phone"])
def test_any_identifier_signs_in(every_kind: SignInCustomer, kind: str) -> None:
    login = answered(every_kind.logs_in(**{kind: getattr(every_kind, kind)}))
    assert login["Profile"]["Uid"] == every_kind.uid
    assert login["expires_in"].endswith("Z")
    read = every_kind.tenant.send("GET", "/identity/v2/auth/account", bearer=login["access_token"])
    assert answered(read)["Uid"] == every_kind.uid


@pytest.mark.parametrize("spelling", [str.upper, str.title, " {} ".format, "\t{}".format, "{}\u00a0".format])
def test_case_and_outer_space_of_email_are_ignored(every_kind: SignInCustomer, spelling: Callable[[str], str]) -> None:
    login = answered(every_kind.logs_in(email=spelling(every_kind.email)))
    assert login["Profile"]["Uid"] == every_kind.uid


def test_space_within_email_is_refused(every_kind: SignInCustomer) -> None:
    name, _, domain = every_kind.email.partition("@")
    for spelling in (f"{name} @{domain}", f"{name[:1]} {name[1:]}@{domain}"):
        assert refused(every_kind.logs_in(email=spelling))[0] in (400, 403)


def test_exactly_one_identifier_is_required(every_kind: SignInCustomer) -> None:
    assert refused(every_kind.logs_in(email="", username="")) == (400, 908)
    assert refused(every_kind.logs_in(email=every_kind.email, phone=every_kind.phone)) == (400, 908)


@pytest.mark.parametrize(
    "email", ["nonsense", "a@", "@example.test", "a b@example.test", "a@example", "x" * 300 + "@a.b"]
)
@pytest.mark.parametrize("is_hidden", [True, False])
def test_malformed_email_is_refused(new_tenant_server: NewTenantServer, email: str, is_hidden: bool) -> None:
    customer = a_customer(new_tenant_server(hide_unknown_accounts=is_hidden))
    assert refused(customer.logs_in(email=email)) == (400, 1038)


REFUSED_KINDS = [
    ({}, "phone", 1074),
    ({}, "username", 1238),
    ({"username_login": True}, "email", 1183),
    ({"username_login": True}, "phone", 1183),
    ({"username_login": True, "phone_login": True}, "email", 1183),
    ({"username_login": True, "phone_login": True}, "phone", 1183),
    ({"phone_login": True}, "email", 1077),
    ({"phone_login": True}, "username", 1238),
    ({"email_login": True}, "phone", 1074),
    ({"email_login": True}, "username", 1238),
    ({"email_login": True, "phone_login": True}, "username", 1238),
    ({"email_login": True, "username_login": True}, "phone", 1183),
    ({"email_login": False, "phone_login": True}, "email", 1077),
    ({"email_login": False, "phone_login": True}, "username", 1238),
    ({"email_login": False, "username_login": True}, "email", 1183),
    ({"email_login": False, "username_login": True}, "phone", 1183),
]


@pytest.mark.parametrize(("settings", "kind", "code"), REFUSED_KINDS)
def test_disabled_identifier_kind_is_refused(
    new_tenant_server: NewTenantServer, settings: dict[str, bool], kind: str, code: int
) -> None:
    customer = a_customer(new_tenant_server(**settings))
    assert refused(customer.logs_in(**{kind: getattr(customer, kind)})) == (403, code)


# Lockout.


def test_suspension_reports_its_end_and_expires(new_tenant_server: NewTenantServer) -> None:
    customer = locking(new_tenant_server, "suspend")
    customer.fails(3)
    locked = customer.logs_in()
    assert refused(locked) == (403, 1198)
    assert locked.get_json()["Data"]["LoginLockedTimeout"].endswith("Z")
    assert customer.tenant.read(customer.uid)["IsLoginLocked"] is True
    clock: Any = customer.tenant.services.clock
    clock.advance(seconds=601)
    answered(customer.logs_in())
    assert customer.tenant.read(customer.uid)["IsLoginLocked"] is False


def test_expired_suspension_starts_a_new_count(new_tenant_server: NewTenantServer) -> None:
    customer = locking(new_tenant_server, "suspend")
    customer.fails(3)
    clock: Any = customer.tenant.services.clock
    clock.advance(seconds=601)
    customer.fails(2)
    answered(customer.logs_in())


def test_locked_account_needs_captcha(new_tenant_server: NewTenantServer) -> None:
    customer = locking(new_tenant_server, "captcha")
    customer.fails(3)
    assert refused(customer.logs_in()) == (403, 1132)
    assert customer.tenant.read(customer.uid)["LoginLockedType"] == "Captcha"
    assert customer.logs_in(**{"g-recaptcha-response": "believe me"}).status_code == 403


def test_security_answer_unlocks_sign_in(new_tenant_server: NewTenantServer) -> None:
    customer = locking(new_tenant_server, "security_question", security_questions={"pet": "Your first pet?"})
    customer.tenant.update(customer.uid, {"SecurityQuestionAnswer": {"pet": "Grey Owl"}})
    customer.fails(3)
    assert refused(customer.logs_in()) == (403, 1148)
    assert customer.tenant.read(customer.uid)["LoginLockedType"] == "SecurityQuestion"
    assert customer.logs_in(securityanswer={"pet": "red fox"}).status_code == 403
    assert refused(customer.logs_in(WRONG, securityanswer={"pet": "grey owl"}))[1] in (966, 1148)
    assert refused(customer.logs_in()) == (403, 1148)
    answered(customer.logs_in(securityanswer={"pet": " grey  OWL "}))
    answered(customer.logs_in())


@pytest.mark.both_databases("first")
@pytest.mark.parametrize("is_hidden", [False, True])
def test_unanswered_question_suspends_unless_accounts_are_hidden(
    new_tenant_server: NewTenantServer, is_hidden: bool
) -> None:
    questions = {"security_questions": {"pet": "Your first pet?"}, "hide_unknown_accounts": is_hidden}
    customer = locking(new_tenant_server, "security_question", **questions)
    customer.fails(3)
    assert refused(customer.logs_in()) == (403, 1148)
    pass_time(customer.tenant.services, seconds=601)
    assert customer.logs_in().status_code == (403 if is_hidden else 200)
    customer.tenant.update(customer.uid, {"SecurityQuestionAnswer": {"pet": "Grey Owl"}, "IsLoginLocked": False})
    customer.fails(3)
    pass_time(customer.tenant.services, seconds=601)
    assert refused(customer.logs_in()) == (403, 1148)


@pytest.mark.both_databases
def test_block_lasts_until_administrator_ends_it(new_tenant_server: NewTenantServer) -> None:
    customer = locking(new_tenant_server, "block")
    customer.fails(3)
    assert refused(customer.logs_in()) == (403, 991)
    profile = customer.tenant.read(customer.uid)
    assert (profile["IsActive"], profile["IsLoginLocked"], profile["LoginLockedType"]) == (False, True, "Block")
    clock: Any = customer.tenant.services.clock
    clock.advance(days=2)
    assert refused(customer.logs_in()) == (403, 991)
    customer.tenant.update(customer.uid, {"IsLoginLocked": False, "IsActive": True})
    answered(customer.logs_in())


@pytest.mark.parametrize("lockout", [{"type": "none"}, {"type": "suspend", "maximum_failed_attempts": 0}])
def test_disabled_lockout_never_locks(new_tenant_server: NewTenantServer, lockout: dict[str, Any]) -> None:
    customer = a_customer(new_tenant_server(lockout=lockout, limits=UNLIMITED))
    customer.fails(8)
    answered(customer.logs_in())


def test_refusal_reports_attempts_left(new_tenant_server: NewTenantServer) -> None:
    customer = locking(new_tenant_server, "suspend")
    descriptions = [customer.logs_in(WRONG).get_json()["Description"] for _ in range(3)]
    assert [text.rstrip(".")[-1] for text in descriptions] == ["2", "1", "0"]


def test_successful_sign_in_resets_failure_count(new_tenant_server: NewTenantServer) -> None:
    customer = locking(new_tenant_server, "suspend")
    for _ in range(3):
        customer.fails(2)
        answered(customer.logs_in())
    assert customer.row().failed_attempts == 0


# Refusals despite the right password.


@pytest.mark.both_databases
def test_closed_account_is_refused(acme: TenantServer) -> None:
    customer = a_customer(acme)
    for closing, code in (({"IsActive": False}, 991), ({"IsActive": True, "DisableLogin": True}, 1130)):
        acme.update(customer.uid, closing)
        assert refused(customer.logs_in()) == (403, code)
        assert refused(customer.logs_in(WRONG)) == (401, 966)  # only the right password reveals the reason
    acme.update(customer.uid, {"DisableLogin": False})
    answered(customer.logs_in())


def test_unverified_identifier_is_refused(new_tenant_server: NewTenantServer) -> None:
    customer = a_customer(new_tenant_server(email_login=True, phone_login=True))
    customer.tenant.update(customer.uid, {"EmailVerified": False, "PhoneIdVerified": False})
    assert refused(customer.logs_in()) == (403, 970)
    assert refused(customer.logs_in(phone=customer.phone)) == (403, 1066)


def test_optional_verification_admits_unverified_email(new_tenant_server: NewTenantServer) -> None:
    customer = a_customer(new_tenant_server(email_verification="optional"))
    customer.tenant.update(customer.uid, {"EmailVerified": False})
    answered(customer.logs_in())


@pytest.mark.both_databases
def test_session_limit_is_enforced(new_tenant_server: NewTenantServer, identity_app: Flask) -> None:
    customer = a_customer(new_tenant_server(session_limit=1))
    browser = Browser(customer.tenant.services, Client(identity_app), customer.tenant.name)
    browser.sign_in(None, customer.email, PASSWORD)
    assert refused(customer.logs_in()) == (403, 1338)
    browser.sign_out(confirmed=True)
    answered(customer.logs_in())


def test_sign_in_reports_password_policy_compliance(new_tenant_server: NewTenantServer) -> None:
    customer = a_customer(new_tenant_server())
    where = (accounts.c.tenant_id == customer.tenant.tenant_id, accounts.c.uid == customer.uid)
    with UnitOfWork(customer.tenant.services.database, customer.tenant.tenant_id).separate_transaction() as work:
        work.run(update(accounts).where(*where).values(private={"from_file": True}))  # as an imported file leaves it
    assert customer.tenant.read(customer.uid)["IsSecurePassword"] is False
    assert answered(customer.logs_in())["Profile"]["IsSecurePassword"] is True
    assert customer.tenant.read(customer.uid)["IsSecurePassword"] is True
    assert customer.row().private["from_file"] is True
    customer.tenant.update(customer.uid, {"FirstName": "Zebra"})  # a word that the password contains
    assert answered(customer.logs_in())["Profile"]["IsSecurePassword"] is False


def test_unchecked_password_is_never_reported_secure(new_tenant_server: NewTenantServer) -> None:
    customer = a_customer(new_tenant_server(password_policy={"common_check": False}))
    assert answered(customer.logs_in())["Profile"]["IsSecurePassword"] is False


# Unknown and hidden accounts.


def test_unknown_account_is_reported_unless_hidden(acme: TenantServer) -> None:
    assert refused(a_customer(acme).logs_in(email="absent@example.test")) == (403, 938)


@pytest.mark.parametrize("kind", ["suspend", "captcha", "security_question", "block", "none"])
def test_hidden_unknown_account_answers_like_known_one(new_tenant_server: NewTenantServer, kind: str) -> None:
    customer = locking(new_tenant_server, kind, hide_unknown_accounts=True)
    for _ in range(5):
        known, unknown = customer.logs_in(WRONG), customer.logs_in(WRONG, email="absent@example.test")
        known_body, unknown_body = known.get_json(), unknown.get_json()
        for body in (known_body, unknown_body):
            assert "attempts left" not in body["Description"]  # the number would reveal that the account exists
            if body.get("Data"):
                body["Data"] = sorted(body["Data"])  # names only: the timestamps differ
        assert (known.status_code, known_body) == (unknown.status_code, unknown_body)
        assert known.headers["X-Gatehouse-Cost"].count("hashes=1") == unknown.headers["X-Gatehouse-Cost"].count(
            "hashes=1"
        )


@pytest.mark.parametrize("kind", ["suspend", "captcha", "security_question", "block"])
@pytest.mark.parametrize("elapsed", [{"seconds": 601}, {"days": 2}], ids=["after the suspension", "two days later"])
def test_lock_of_hidden_unknown_account_ends_alike(
    new_tenant_server: NewTenantServer, kind: str, elapsed: dict[str, float]
) -> None:
    customer = locking(new_tenant_server, kind, hide_unknown_accounts=True)
    identifiers = ({"email": customer.email}, {"email": "absent@example.test"})
    for _ in range(4):
        locked = [refused(customer.logs_in(WRONG, **named)) for named in identifiers]
    assert locked[0] == locked[1] != (401, 966)
    pass_time(customer.tenant.services, **elapsed)
    known, unknown = (refused(customer.logs_in(WRONG, **named)) for named in identifiers)
    assert known == unknown
    assert (known == (401, 966)) is (kind == "suspend")


@pytest.mark.both_databases
def test_account_of_other_tenant_is_unknown(acme: TenantServer, globex: TenantServer) -> None:
    customer = a_customer(acme)
    assert refused(replace(customer, tenant=globex).logs_in()) == (403, 938)
    assert customer.row().failed_attempts == 0


def test_hash_and_password_never_reach_response_or_audit(acme: TenantServer) -> None:
    customer = a_customer(acme)
    good, bad = customer.logs_in(), customer.logs_in(WRONG)
    audit_text = str([tuple(entry) for entry in customer.events()])
    for text in (good.text, bad.text, audit_text):
        assert "argon2" not in text
        assert PASSWORD not in text
        assert WRONG not in text
    assert answered(good)["access_token"] not in audit_text


@pytest.mark.both_databases
def test_refusal_is_recorded_in_audit_log(acme: TenantServer) -> None:
    customer = a_customer(acme)
    customer.fails(1)
    refusals = [entry for entry in customer.events() if entry.event == "sign_in.refused"]
    assert [(entry.uid, entry.facts["reason"], entry.facts["attempts"]) for entry in refusals] == [
        (customer.uid, "password", 1)
    ]
    customer.logs_in(email="absent@example.test")
    assert customer.events()[-1].facts["reason"] == "unknown"


def test_sign_ins_are_limited_by_client_address(new_tenant_server: NewTenantServer) -> None:
    customer = a_customer(new_tenant_server(limits={"sign_in_per_minute_per_address": 3}))
    for _ in range(3):
        assert customer.logs_in("wrong").status_code == 401
    limited = customer.logs_in()
    assert refused(limited) == (429, 429)
    assert int(limited.headers["Retry-After"]) >= 1
    assert customer.row().logins == 0
