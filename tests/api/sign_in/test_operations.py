"""Every refusal and response of the sign-in with a password: row U12."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import select
from werkzeug.test import TestResponse

from app.identity.platform.audit import audit
from app.identity.platform.store.unit_of_work import UnitOfWork
from tests.support.accounts.consents import required_forms
from tests.support.accounts.customers import OLD
from tests.support.accounts.mailbox import link_in, sent_messages
from tests.support.accounts.risky_sign_ins import CHROME, FIREFOX, LINZ, PARIS, VIENNA, from_another_city
from tests.support.operation_cases.cases import (
    PAGE,
    AccountHolder,
    Act,
    Answer,
    Ask,
    account_holder,
    refusals,
    send,
    with_breached,
)
from tests.support.operation_cases.shapes import LOGIN
from tests.support.operation_cases.variants import Refusals, Variants, every_refusal, every_variant
from tests.support.tenants.tenant_server import NewTenantServer, answered

POLICY = {"mode": "strict", "versions": [{"version": "1", "starts_at": "2020-01-01T00:00:00Z"}]}
INTERFACE = {"email_login": None, "username_login": False}
"""The interface's switches allow one kind of identifier at a time."""


def with_members(**members: Any) -> Act:
    return lambda who: who.call("U12", {"email": who.email, "password": OLD, **members})


def by(kind: str) -> Act:
    return lambda who: who.call("U12", {kind: getattr(who, kind), "password": OLD})


def after(change: dict[str, Any], act: Act) -> Act:
    return lambda who: act(who.update_account(**change))


def locked(kind: str, shown: dict[str, Any] | None = None) -> tuple[Act, dict[str, Any]]:
    def act(who: AccountHolder) -> TestResponse:
        who.guesses(2)
        return with_members(**(shown or {}))(who)

    return act, {"lockout": {"type": kind, "maximum_failed_attempts": 2}}


def twice(act: Act) -> Act:
    def done(who: AccountHolder) -> TestResponse:
        act(who)
        return act(who)

    return done


def breached(times: int) -> Act:
    def act(who: AccountHolder) -> TestResponse:
        with with_breached(who, OLD):
            for _ in range(times):
                answer = with_members()(who)
        return answer

    return act


PHONE = {"phone_login": True}
OUT = {"EmailVerified": False}
DEMAND = {"risk": {"browser": "demand"}}
REFUSALS = refusals(
    "U12",
    (966, with_members(password="wrong")),
    (1164, from_another_city(FIREFOX, PARIS), {"risk": {"country": "block"}}),
    (1165, from_another_city(CHROME, LINZ), {**DEMAND, "second_factors": {"email": False, "security_questions": True}}),
    (1166, from_another_city(CHROME, LINZ), DEMAND),
    (1167, from_another_city(CHROME, LINZ), {**DEMAND, "second_factors": {"sms": True}}),
    (1168, from_another_city(CHROME, LINZ), {"risk": {"browser": "refuse"}}),
    (1169, from_another_city(FIREFOX, VIENNA), {"risk": {"city": "refuse"}}),
    (1170, from_another_city(FIREFOX, PARIS), {"risk": {"country": "refuse"}}),
    (1171, from_another_city(FIREFOX, VIENNA), {"risk": {"ip": "refuse"}}),
    (1287, from_another_city(CHROME, LINZ), {"risk": {"device": "refuse"}}),
    (938, with_members(email="absent@example.test")),
    (970, after(OUT, with_members())),
    (1066, after({"PhoneIdVerified": False}, by("phone")), PHONE),
    (991, after({"IsActive": False}, with_members())),
    (1130, after({"DisableLogin": True}, with_members())),
    (1132, *locked("captcha")),
    (1148, *locked("security_question")),
    (1198, *locked("suspend")),
    (1074, by("phone"), INTERFACE),
    (1077, by("email"), {**INTERFACE, "phone_login": True}),
    (1183, by("email"), {**INTERFACE, "username_login": True}),
    (1238, by("username"), INTERFACE),
    (1176, with_members(), {"two_factor": "optional"}),
    (1194, with_members(), {"privacy_policy": POLICY}),
    (1226, with_members(), required_forms("FirstLogin")),
    (1243, with_members(), {"pin": {"is_on": True, "required": True}}),
    (1316, breached(1), {"password_policy": {"breached": "change"}}),
    (1317, breached(2), {"password_policy": {"breached": "change"}}),
    (1338, twice(with_members()), {"session_limit": 1}),
    (1122, twice(after(OUT, with_members())), {"sending": {"mails": {"amount": 1, "minutes": 43_200}}}),
    (1149, twice(after({"PhoneIdVerified": False}, by("phone"))), {**PHONE, "sending": {"sms_per_day": 1}}),
    (982, *locked("captcha", {"captcha_challenge": "x", "captcha_work": "1"})),
    (1038, with_members(email="no address")),
    (1215, lambda who: who.call("U12", {"email": who.email, "password": OLD}, passworddelegation="true")),
    (1091, *locked("security_question", {"securityanswer": {"car": "x"}})),
    (1094, *locked("security_question", {"securityanswer": {"pet": "x"}})),
)
NOT_HERE: dict[tuple[str, int], str] = {
    ("U12", 1220): "which accounts may sign in where: the issue of organizations",
    ("U12", 1264): "a password is one step: the lock itself answers",
    ("U12", 1286): "no tenant switches passwords off",
}

ORIGIN = {
    "X-Origin-IP": "203.0.113.7", "X-Origin-User-Agent": "Mozilla/5.0", "X-Origin-Accept-Language": "de",
    "X-Origin-Host": "shop.example", "X-Platform": "app",
}  # fmt: skip
ANSWERS = [
    Answer("U12", lambda who: Ask({"email": who.email.upper(), "password": OLD}), LOGIN, events=("Login",)),
    Answer("U12", lambda who: Ask({"username": who.username.upper(), "password": OLD}, {"loginurl": PAGE}), LOGIN,
           events=("Login",)),
    Answer("U12", lambda who: Ask({"phone": who.phone, "password": OLD}, headers=ORIGIN), LOGIN, PHONE, events=("Login",)),
]  # fmt: skip


@every_refusal(REFUSALS)
def test_request_is_refused(new_tenant_server: NewTenantServer, refusals: Refusals, subtests: pytest.Subtests) -> None:
    refusals.check(new_tenant_server, subtests)


@every_variant(ANSWERS)
def test_response_has_shape(new_tenant_server: NewTenantServer, variants: Variants, subtests: pytest.Subtests) -> None:
    variants.check(new_tenant_server, subtests)


def test_verification_mail_links_to_callers_url(new_tenant_server: NewTenantServer) -> None:
    who = account_holder(new_tenant_server).update_account(**OUT)
    who.call("U12", {"email": who.email, "password": OLD}, verificationurl=PAGE)
    assert link_in(who.mailed()).startswith(f"{PAGE}?vtype=emailverification&vtoken=")


@pytest.mark.parametrize(
    ("options", "count"), [(None, 1), ("preventverificationsms", 0), ("x, PreventVerificationSMS", 0)]
)
def test_verification_sms_can_be_prevented(new_tenant_server: NewTenantServer, options: str | None, count: int) -> None:
    who = account_holder(new_tenant_server, **PHONE).update_account(PhoneIdVerified=False)
    who.call("U12", {"phone": who.phone, "password": OLD}, options=options)
    assert len(sent_messages(who.tenant.services, who.tenant.tenant_id, "sms")) == count


@pytest.mark.both_databases
def test_origin_headers_are_audited_but_not_trusted(new_tenant_server: NewTenantServer) -> None:
    who = account_holder(new_tenant_server)
    page = {"loginurl": f"{PAGE}?secret=x#top"}
    answered(send(who, "U12", Ask({"email": who.email, "password": OLD}, page, headers=ORIGIN), "as stated"))
    with UnitOfWork(who.tenant.services.database, who.tenant.tenant_id).separate_transaction() as work:
        where = (audit.c.tenant_id == who.tenant.tenant_id, audit.c.event == "sign_in.origin")
        noted = work.all(select(audit.c.facts, audit.c.address).where(*where))
    assert [row.facts["origin_ip"] for row in noted] == ["203.0.113.7"]
    assert [row.facts["login_url"] for row in noted] == [PAGE], "without query and fragment, which may contain secrets"
    assert "203.0.113.7" not in {row.address for row in noted}, "the stated origin is recorded but not trusted"
