"""Each named error of the two password operations with its status."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import select, update
from werkzeug.test import Client, TestResponse

from app.identity.directory.tenants.tables import tenants
from app.identity.platform.store.unit_of_work import UnitOfWork
from tests.support.accounts.customers import NEW, PATH, Customer, a_customer
from tests.support.services.identity_service import pass_time
from tests.support.tenants.tenant_server import NewTenantServer, answered, refused

QUESTIONS = {"pet": "Your first pet?", "city": "Where were you born?"}


Make = Callable[..., Customer]


@pytest.fixture
def customer(new_tenant_server: NewTenantServer) -> Make:
    def make(**settings: Any) -> Customer:
        return a_customer(new_tenant_server, **settings)

    return make


def raw(customer: Customer, method: str, content: bytes, kind: str = "application/json") -> TestResponse:
    base = f"http://{customer.tenant.services.settings.api_hostname}"
    query = {"apikey": customer.tenant.api_key}
    return Client(customer.tenant.app).open(
        PATH, method=method, query_string=query, base_url=base, data=content, headers={"Content-Type": kind}
    )


def as_other(customer: Customer, method: str, body: dict[str, Any]) -> TestResponse:
    """Send the request with the API key and an access token of another account."""
    other = customer.tenant.create()["Uid"]
    access_token = customer.tenant.tokens(other)["access_token"]
    return customer.ask(method, body, access_token=access_token)


def used(c: Customer) -> TestResponse:
    token = c.token()
    answered(c.reset(resettoken=token, password=NEW))
    return c.reset(resettoken=token, password="Amber-window-44")


def expired(c: Customer) -> TestResponse:
    token = c.token()
    pass_time(c.tenant.services, hours=25)
    return c.reset(resettoken=token, password=NEW)


def blocked(c: Customer) -> Customer:
    c.tenant.update(c.uid, {"IsActive": False})
    return c


def locked(c: Customer, **answer: Any) -> TestResponse:
    code = c.code()
    c.guesses(2)
    return c.by_code(code, **answer)


def locked_by_last_attempt(c: Customer) -> TestResponse:
    c.code()
    c.guesses(1)
    return c.by_code("000000")


def social(c: Customer) -> TestResponse:
    c.set_columns(password_hash=None)
    return c.by_code("123456")


def lockout(kind: str) -> dict[str, Any]:
    return {"lockout": {"type": kind, "maximum_failed_attempts": 2}, "security_questions": QUESTIONS}


def limited(c: Customer) -> TestResponse:
    for _ in range(12):
        answer = c.forgot()
    return answer


def after_trial(c: Customer, act: Callable[[], TestResponse]) -> TestResponse:
    where = tenants.c.tenant_id == c.tenant.tenant_id
    with UnitOfWork(c.tenant.services.database, c.tenant.tenant_id).separate_transaction() as work:
        settings = work.run(select(tenants.c.settings).where(where)).scalar_one()
        expired_settings = {**settings, "trial_ends_at": "2020-01-01T00:00:00+00:00"}
        work.run(update(tenants).where(where).values(settings=expired_settings, version=tenants.c.version + 1))
    c.tenant.services.directory.clear_cache()
    return act()


Case = tuple[str, int, int, dict[str, Any], Callable[[Customer], TestResponse], str]
UNKNOWN = "00000000-0000-0000-0000-000000000000"

FORGOT: list[Case] = [
    ("API_KEY_REQUIRED", 400, 908, {}, lambda c: c.ask("POST", {"email": c.email}, apikey=None), "apikey"),
    ("API_KEY_NOT_WELL_FORMATTED", 400, 920, {}, lambda c: c.forgot(apikey="no-guid"), ""),
    ("DANGEROUS_REQUEST", 400, 1214, {}, lambda c: c.ask("POST", {"email": "<script>x</script>"}), ""),
    ("CONTENT_TYPE_INVALID", 400, 1083, {}, lambda c: raw(c, "POST", b"email=x", "application/x-www-form-urlencoded"), ""),
    ("POST_BODY_INVALID", 400, 965, {}, lambda c: raw(c, "POST", b"{"), ""),
    ("USERNAME_REQUIRED", 400, 1075, {}, lambda c: c.ask("POST", {"username": ""}), ""),
    ("EMAIL_ID_OR_USER_REQUIRED", 400, 1141, {}, lambda c: c.ask("POST", {}), ""),
    ("EMAILID_ID_FORMAT_NOT_VALID", 400, 1038, {}, lambda c: c.ask("POST", {"email": "no address"}), ""),
    ("GENERIC_AUTH_ERROR", 401, 1409, {}, lambda c: as_other(c, "POST", {"email": c.email}), ""),
    ("API_KEY_NOT_VALID", 403, 901, {}, lambda c: c.forgot(apikey=UNKNOWN), ""),
    ("TRIAL_PLAN_EXPIRED", 403, 6003, {}, lambda c: after_trial(c, c.forgot), ""),
    ("CAPTCHA_NOT_VALID", 403, 982, {"captcha_at": ["forgot_password"]}, lambda c: c.forgot(), ""),
    ("RESET_PASSWORD_URL_INVALID", 403, 1251, {}, lambda c: c.forgot(resetpasswordurl="https://evil.example/"), ""),
    ("USER_NOT_EXISTS", 403, 938, {}, lambda c: c.ask("POST", {"email": "absent@example.test"}), ""),
    ("USER_ID_BLOCKED", 403, 991, {}, lambda c: blocked(c).forgot(), ""),
    ("EMAIL_SEND_LIMIT_REACHED", 403, 1122, {}, limited, ""),
]  # fmt: skip
RESET: list[Case] = [
    ("API_KEY_REQUIRED", 400, 908, {}, lambda c: c.ask("PUT", {"resettoken": "x", "password": NEW}, apikey=None), "apikey"),
    ("API_KEY_NOT_WELL_FORMATTED", 400, 920, {}, lambda c: c.ask("PUT", {}, apikey="no-guid"), ""),
    ("DANGEROUS_REQUEST", 400, 1214, {}, lambda c: c.reset(email="<script>x</script>", otp="1", password=NEW), ""),
    ("CONTENT_TYPE_INVALID", 400, 1083, {}, lambda c: raw(c, "PUT", b"otp=x", "application/x-www-form-urlencoded"), ""),
    ("POST_BODY_INVALID", 400, 965, {}, lambda c: raw(c, "PUT", b"["), ""),
    ("API_KEY_AND_RESET_TOKEN_REQUIRED", 400, 908, {}, lambda c: c.ask("PUT", {"password": NEW}, apikey=None), "apikey and resettoken"),
    ("API_KEY_AND_PASSWORD_REQUIRED", 400, 908, {}, lambda c: c.ask("PUT", {"resettoken": "x"}, apikey=None), "apikey and password"),
    ("PASSWORD_AND_RESET_TOKEN_REQUIRED", 400, 908, {}, lambda c: c.reset(), "password and resettoken"),
    ("RESET_TOKEN_REQUIRED", 400, 908, {}, lambda c: c.reset(password=NEW), "resettoken"),
    ("PASSWORD_REQUIRED", 400, 908, {}, lambda c: c.reset(resettoken="x"), "password"),
    ("SERVER_SIDE_VALIDATION_ERROR", 400, 1134, {}, lambda c: c.reset(resettoken=c.token(), password="short"), ""),
    ("USERNAME_REQUIRED", 400, 1075, {}, lambda c: c.reset(username="", otp="1", password=NEW), ""),
    ("OTP_REQUIRED", 400, 908, {}, lambda c: c.reset(email=c.email, password=NEW), "otp"),
    ("EMAILID_ID_FORMAT_NOT_VALID", 400, 1038, {}, lambda c: c.reset(email="no address", otp="1", password=NEW), ""),
    ("EMAIL_PHONE_USERNAME_PAYLOAD_REQUIRED", 400, 1189, {}, lambda c: c.reset(otp="1", password=NEW), ""),
    ("EMAIL_REQUIRED", 400, 1032, {}, lambda c: c.reset(email="", otp="1", password=NEW), ""),
    ("GENERIC_AUTH_ERROR", 401, 1409, {}, lambda c: as_other(c, "PUT", {"email": c.email, "otp": "1", "password": NEW}), ""),
    ("API_KEY_NOT_VALID", 403, 901, {}, lambda c: c.ask("PUT", {}, apikey=UNKNOWN), ""),
    ("TRIAL_PLAN_EXPIRED", 403, 6003, {}, lambda c: after_trial(c, lambda: c.reset(resettoken="x", password=NEW)), ""),
    ("RAAS_PROFILE_NOT_EXISTS", 403, 1039, {}, social, ""),
    ("USER_ID_BLOCKED", 403, 991, {}, lambda c: blocked(c).by_code("123456"), ""),
    ("USER_ID_LOCKED_WITH_TIMEOUT", 403, 1198, lockout("suspend"), locked, ""),
    ("LOGIN_IS_LOCKED_FOR_RECAPTCHA", 403, 1132, lockout("captcha"), locked, ""),
    ("USER_ID_LOCKED", 403, 1264, lockout("captcha"), locked_by_last_attempt, ""),
    ("LOGIN_IS_LOCKED_FOR_SECURITY_QUESTION", 403, 1148, lockout("security_question"), locked, ""),
    ("SECURITY_QUESTION_NOT_VALID", 403, 1091, lockout("security_question"), lambda c: locked(c, securityanswer={"car": "x"}), ""),
    ("SECURITY_QUESTION_OR_ANSWER_INVALID", 403, 1094, {**lockout("security_question"), "hide_unknown_accounts": True},
     lambda c: locked(c, securityanswer={"pet": "x", "city": "y"}), ""),
    ("SECURITY_ANSWER_INVALID", 403, 1093, lockout("security_question"), lambda c: locked(c, securityanswer={"pet": "x"}), ""),
    ("VERIFICATION_OTP_NOT_VALID", 403, 1185, {}, lambda c: c.by_code("000000" if c.code() != "000000" else "111111"), ""),
    ("VERIFICATION_VTOKEN_NOT_VALID", 403, 1063, {}, lambda c: c.reset(resettoken="unknown", password=NEW), ""),
    ("LINK_EXPIRED", 403, 975, {}, expired, ""),
    ("LINK_ALREADY_VERIFIED", 403, 974, {}, used, ""),
]  # fmt: skip


@pytest.mark.parametrize("case", FORGOT, ids=lambda case: case[0])
def test_forgotten_password_has_named_error(customer: Make, case: Case) -> None:
    assert_error(customer, case)


@pytest.mark.parametrize("case", RESET, ids=lambda case: case[0])
def test_password_reset_has_named_error(customer: Make, case: Case) -> None:
    assert_error(customer, case)


def assert_error(customer: Make, case: Case) -> None:
    _name, status, code, settings, act, named = case
    answer = act(customer(**settings))
    assert refused(answer) == (status, code), answer.text
    assert named in str(answer.get_json().get("Description", ""))


def test_table_of_named_errors_is_complete() -> None:
    """The interface defines 37 names in 48 pairs of operation and name."""
    assert len(FORGOT) == 16
    assert len(RESET) == 32
    assert len({case[0] for case in (*FORGOT, *RESET)}) == 37
    print(f"{len(FORGOT) + len(RESET)} pairs, {len({case[0] for case in (*FORGOT, *RESET)})} names")
