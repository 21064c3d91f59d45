"""Every sign-in method asks for the tenant's consent forms before it issues a session: operation U83, and error 1226 everywhere."""

from __future__ import annotations

from typing import Any

import pytest
from werkzeug.test import TestResponse

from app.contract.catalogue import CATALOGUE, load_catalogue
from app.contract.error_groups import REQUIRED_ACTIONS
from app.contract.sign_in.sign_in_operations import Login
from app.identity.credentials.tokens import token_store
from app.identity.platform.store.unit_of_work import UnitOfWork
from app.kit import randomness
from tests.support.accounts.consents import chosen, consent_answers, required_forms
from tests.support.accounts.customers import NEW, OLD
from tests.support.accounts.mailbox import token_in
from tests.support.accounts.registering import primary, register
from tests.support.credentials.factors import second_factor_holder
from tests.support.operation_cases.cases import AccountHolder, Answer, Ask, Refusal, account_holder, events, refusals
from tests.support.operation_cases.shapes import LOGIN
from tests.support.operation_cases.variants import Refusals, every_refusal
from tests.support.races import at_once
from tests.support.tenants.tenant_server import NewTenantServer, answered, refused

load_catalogue()
SIGN_IN = "/identity/v2/auth/login"
FIRST = required_forms("FirstLogin")
POLICY = {"mode": "strict", "versions": [{"version": "1", "starts_at": "2020-01-01T00:00:00Z"}]}


def token(answer: TestResponse) -> str:
    """Return the consent token in the refusal of a sign-in."""
    assert refused(answer) == (403, 1226)
    data = answer.get_json()["Data"]
    assert set(data) == {"ConsentToken"}
    return str(data["ConsentToken"])


def submit(who: AccountHolder, shown: str, body: dict[str, Any] | None = None, **query: Any) -> TestResponse:
    return who.call("U83", body or consent_answers("FirstLogin"), consenttoken=shown, **query)


def consent_token(who: AccountHolder) -> str:
    return token(who.logs_in())


def after_expiry(who: AccountHolder) -> TestResponse:
    shown = consent_token(who)
    who.advance_clock(minutes=11)
    return submit(who, shown)


REFUSALS: list[Refusal] = refusals(
    "U83",
    (1224, lambda who: submit(who, consent_token(who), consent_answers("Register")), FIRST),
    (1225, lambda who: submit(who, consent_token(who), consent_answers("FirstLogin", terms=False)), FIRST),
    (1227, lambda who: submit(who, "x")),
    (1229, lambda who: submit(who, "x"), FIRST),
    (1230, after_expiry, FIRST),
)
NOT_HERE: dict[tuple[str, int], str] = {}
ANSWERS: list[Answer] = [
    Answer("U83", lambda who: Ask(consent_answers("FirstLogin", terms=True, news=True), {"consenttoken": consent_token(who)}), LOGIN, FIRST,
           events=("ConsentProfileUpdate",)),
]  # fmt: skip


@every_refusal(REFUSALS)
def test_request_is_refused(new_tenant_server: NewTenantServer, refusals: Refusals, subtests: pytest.Subtests) -> None:
    refusals.check(new_tenant_server, subtests)


@pytest.mark.parametrize("variant", list(ANSWERS[0].variants()))
def test_response_has_shape(new_tenant_server: NewTenantServer, variant: str) -> None:
    ANSWERS[0].check(new_tenant_server, variant)


def test_every_sign_in_operation_declares_required_actions() -> None:
    """A new sign-in operation without these errors would answer 500 for a required action."""
    logins = [operation for operation in CATALOGUE if issubclass(operation.response, Login)]
    assert len(logins) > 10
    assert [
        login_operation.name
        for login_operation in logins
        if not set(REQUIRED_ACTIONS) <= set(login_operation.every_error)
    ] == []


def test_login_form_is_asked_once_per_version(new_tenant_server: NewTenantServer) -> None:
    who = account_holder(new_tenant_server, **required_forms("FirstLogin", "Login", version=2))
    session = answered(submit(who, consent_token(who)))
    assert session["Profile"]["ConsentProfile"]["AcceptedConsentVersions"] == [
        {"Event": "FirstLogin", "Version": 2, "IsCustom": False}
    ]
    assert answered(who.own("U15"))["NoOfLogins"] == 1
    who.advance_clock(minutes=1)
    answered(submit(who, consent_token(who), consent_answers("Login")))
    answered(who.logs_in())


@pytest.mark.both_databases
def test_consent_token_is_single_use(new_tenant_server: NewTenantServer) -> None:
    who = account_holder(new_tenant_server, **FIRST)
    shown = consent_token(who)
    codes = sorted(answer.status_code for answer in at_once([lambda: submit(who, shown)] * 12))
    assert codes == [200] + [403] * 11
    assert refused(submit(who, shown)) == (403, 1229)
    assert [name for name, _ in events(who.tenant)].count("ConsentProfileUpdate") == 1


def test_wrong_answer_keeps_consent_token(new_tenant_server: NewTenantServer) -> None:
    who = account_holder(new_tenant_server, **FIRST)
    shown = consent_token(who)
    assert refused(submit(who, shown, consent_answers("FirstLogin", news=True))) == (403, 1225)
    answered(submit(who, shown))


def test_every_requested_form_must_be_answered(new_tenant_server: NewTenantServer) -> None:
    who = account_holder(new_tenant_server, **required_forms("Register", "FirstLogin"), email_verification="optional")
    shown = token(register(who.tenant, "eve@example.test"))
    assert refused(submit(who, shown, consent_answers("FirstLogin"))) == (403, 1225)
    answered(submit(who, shown, consent_answers("Register", "FirstLogin")))


@pytest.mark.both_databases
def test_consent_token_of_another_tenant_is_refused(new_tenant_server: NewTenantServer) -> None:
    who, other = account_holder(new_tenant_server, **FIRST), account_holder(new_tenant_server, **FIRST)
    assert refused(submit(other, consent_token(who))) == (403, 1229)


def test_new_password_revokes_consent_token(new_tenant_server: NewTenantServer) -> None:
    who = account_holder(new_tenant_server, **FIRST)
    shown = consent_token(who)
    who.advance_clock(seconds=1)
    who.update_account(Password=NEW)
    assert refused(submit(who, shown)) == (403, 1229)


@pytest.mark.parametrize(
    ("state", "code"), [({"IsActive": False}, 991), ({"DisableLogin": True}, 1130), ({"EmailVerified": False}, 970)]
)
def test_consent_token_of_closed_account_is_refused(
    new_tenant_server: NewTenantServer, state: dict[str, Any], code: int
) -> None:
    who = account_holder(new_tenant_server, **FIRST)
    shown = consent_token(who)
    assert refused(submit(who.update_account(**state), shown)) == (403, code)


@pytest.mark.both_databases
def test_policy_token_does_not_bypass_consent(
    new_tenant_server: NewTenantServer,
) -> None:
    who = account_holder(new_tenant_server, **FIRST, privacy_policy=POLICY)
    first = who.logs_in()
    assert refused(first) == (403, 1194)
    body = first.get_json()["Data"]["access_token"]
    accept = who.tenant.send("GET", "/identity/v2/auth/privacypolicy/accept", bearer=body)
    shown = token(accept)
    assert refused(who.tenant.send("GET", "/identity/v2/auth/account", bearer=body)) == (401, 1409)
    session = answered(submit(who, shown))
    profile = answered(who.tenant.send("GET", "/identity/v2/auth/account", bearer=session["access_token"]))
    assert profile["PrivacyPolicy"]["Version"] == "1"


def test_consent_is_asked_after_second_factor(new_tenant_server: NewTenantServer) -> None:
    who = second_factor_holder(new_tenant_server, **FIRST).enrols()
    assert answered(who.signs_in())["SecondFactorAuthentication"] is not None
    shown = token(who.shows_code(who.next_code()))
    session = answered(submit(who, shown))
    stored = introspected(who, session["access_token"])
    assert (
        answered(who.tenant.send("GET", "/identity/v2/auth/account", bearer=session["access_token"]))["NoOfLogins"] == 1
    )
    assert set(stored["amr"]) >= {"pwd", "mfa"}, "the consent step keeps the authentication methods"


def introspected(who: AccountHolder, access_token: str) -> dict[str, Any]:
    """Return the stored claims of an access token."""
    with UnitOfWork(who.tenant.services.database, who.tenant.tenant_id).separate_transaction() as work:
        stored = token_store.access(work, randomness.digest(access_token))
    assert stored is not None
    return stored.claims.to_stored()


def test_sign_in_by_reset_does_not_bypass_consent(new_tenant_server: NewTenantServer) -> None:
    who = account_holder(new_tenant_server, **FIRST, login_on_password_reset=True)
    reset = answered(who.reset(resettoken=who.issued_token(), password=NEW))
    assert reset["IsPosted"] is True
    assert reset.get("Data") is None
    assert who.logs_in(OLD).status_code == 401
    token(who.logs_in(NEW))


def test_optional_form_does_not_block_sign_in(new_tenant_server: NewTenantServer) -> None:
    answered(account_holder(new_tenant_server, **required_forms("FirstLogin", "Login", mandatory=False)).logs_in())


# Registration.


@pytest.mark.both_databases
def test_consents_given_at_registration_are_stored(new_tenant_server: NewTenantServer) -> None:
    who = account_holder(new_tenant_server, **required_forms("Register"), email_verification="optional")
    answer = register(who.tenant, "eve@example.test", Consents=consent_answers("Register", terms=True, news=False))
    session = answered(answer)["Data"]
    assert [item["ConsentOptionId"] for item in session["Profile"]["ConsentProfile"]["Consents"]] == ["terms"]
    entries = answered(who.tenant.send("GET", "/identity/v2/auth/consent/logs", bearer=session["access_token"]))
    assert entries["ConsentLogs"][0]["ConsentLogs"] == [
        {"ConsentId": "news", "Event": "NotOpted"},
        {"ConsentId": "terms", "Event": "Subscribe"},
    ]


def test_registration_without_consent_requires_it_next(new_tenant_server: NewTenantServer) -> None:
    who = account_holder(new_tenant_server, **required_forms("Register"), email_verification="optional")
    shown = token(register(who.tenant, "eve@example.test"))
    assert refused(register(who.tenant, "eve@example.test")) == (403, 936)
    answered(submit(who, shown, consent_answers("Register")))


def test_register_form_is_asked_after_email_verification(
    new_tenant_server: NewTenantServer,
) -> None:
    who = account_holder(new_tenant_server, **required_forms("Register"))
    assert answered(register(who.tenant, "eve@example.test"))["Data"] is None
    eve = AccountHolder(who.tenant, "", "eve@example.test", "")
    verified = who.mailed("eve@example.test")
    answered(who.call("U05", verificationtoken=token_in(verified)))
    login = who.ask("POST", {"email": eve.email, "password": OLD}, path=SIGN_IN)
    answered(submit(who, token(login), consent_answers("Register")))
    answered(who.ask("POST", {"email": eve.email, "password": OLD}, path=SIGN_IN))


def test_server_can_record_consents_of_account(new_tenant_server: NewTenantServer) -> None:
    who = account_holder(new_tenant_server, **FIRST)
    named = {"Email": primary("eve@example.test"), "EmailVerified": True}
    made = who.tenant.create(**named, Consents=consent_answers("FirstLogin"))
    assert made["ConsentProfile"]["AcceptedConsentVersions"][0]["Event"] == "FirstLogin"
    answered(who.ask("POST", {"email": "eve@example.test", "password": OLD}, path=SIGN_IN))
    wrong = {"Password": OLD, "UserName": "mallory", "Consents": consent_answers("FirstLogin", news=True)}
    assert refused(who.tenant.send("POST", "/identity/v2/manage/account", wrong)) == (403, 1225)


def test_account_created_by_server_needs_no_register_form(new_tenant_server: NewTenantServer) -> None:
    answered(account_holder(new_tenant_server, **required_forms("Register")).logs_in())


def test_consents_before_account_claim_do_not_count(
    new_tenant_server: NewTenantServer,
) -> None:
    who = account_holder(new_tenant_server, **required_forms("Register"), email_verification="optional")
    answered(register(who.tenant, "eve@example.test", Consents=consent_answers("Register", terms=True, news=True)))
    eve = AccountHolder(who.tenant, "", "eve@example.test", "")
    answered(eve.reset(resettoken=eve.token(), password=NEW))
    session = answered(submit(who, token(eve.logs_in(NEW)), consent_answers("Register")))
    agreed = session["Profile"]["ConsentProfile"]["Consents"]
    assert [item["ConsentOptionId"] for item in agreed] == ["terms"]


def test_registration_with_wrong_consent_is_refused(new_tenant_server: NewTenantServer) -> None:
    who = account_holder(new_tenant_server, **required_forms("Register"))
    wrong = {"Events": [{"Event": "Register", "IsCustom": False}], "Data": chosen(other=True)}
    assert refused(register(who.tenant, "eve@example.test", Consents=wrong)) == (403, 1225)
    assert answered(register(who.tenant, "eve@example.test", Consents=consent_answers("Register")))["IsPosted"] is True
