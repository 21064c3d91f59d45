"""Email verification: operations U03 to U09, and the mails that a sign-in with an unverified address sends."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

import pytest
from werkzeug.test import TestResponse

from app.contract.verification import verification_operations
from app.kit.operations.operation import Operation
from tests.support.accounts.mailbox import code_in, link_in, links_in, mails_to, sent_messages, token_in, token_of
from tests.support.services.identity_service import MovableClock
from tests.support.tenants.tenant_server import PASSWORD, NewTenantServer, TenantServer, answered, refused

REGISTER, EMAIL, LOGIN = "/identity/v2/auth/register", "/identity/v2/auth/email", "/identity/v2/auth/login"
OWN, PHONE, USERNAME = f"{EMAIL}/sendverificationemail", "/identity/v2/auth/phone", "/identity/v2/auth/username"
ADA = "ada@example.test"
OPEN = {"sign_in_per_minute_per_address": 0, "availability_per_minute_per_address": 0}


class UnverifiedAccount:
    """A tenant with an account whose address is unverified."""

    def __init__(self, tenant: TenantServer) -> None:
        self.tenant = tenant
        self.uid = str(tenant.create(Email=[{"Type": "Primary", "Value": ADA}])["Uid"])

    def ask(self, method: str, path: str, body: Any = None, **query: Any) -> Any:
        return self.tenant.send(method, path, body, with_secret=False, **query)

    def resend(self, email: str = ADA, **query: Any) -> Any:
        return self.ask("PUT", REGISTER, {"email": email}, **query)

    def sign_in(self, **query: Any) -> Any:
        return self.ask("POST", LOGIN, {"email": ADA, "password": PASSWORD}, **query)

    @property
    def mails(self) -> list[dict[str, Any]]:
        return mails_to(self.tenant.services, self.tenant.tenant_id, ADA)

    @property
    def verification_mails(self) -> list[dict[str, Any]]:
        """The mails with a verification link."""
        return [mail for mail in self.mails if links_in(mail)]

    @property
    def profile(self) -> dict[str, Any]:
        return self.tenant.read(self.uid)


@pytest.fixture
def ada(new_tenant_server: NewTenantServer) -> UnverifiedAccount:
    return UnverifiedAccount(new_tenant_server(limits=OPEN))


def with_codes(new_tenant_server: NewTenantServer, **settings: Any) -> UnverifiedAccount:
    return UnverifiedAccount(new_tenant_server(limits=OPEN, email_verification_codes=True, **settings))


def test_resent_mail_link_verifies_address(ada: UnverifiedAccount) -> None:
    assert answered(ada.resend()) == {"IsPosted": True}
    assert {"EmailVerified": False}.items() <= ada.profile.items()
    response = answered(ada.ask("GET", EMAIL, verificationtoken=token_in(ada.verification_mails[-1])))
    assert response == {"IsPosted": True, "Data": None}
    assert ada.profile["EmailVerified"] is True
    answered(ada.sign_in())


def test_default_link_leads_to_hub_page(ada: UnverifiedAccount) -> None:
    answered(ada.resend())
    link = link_in(ada.verification_mails[-1])
    assert link.startswith(f"http://{ada.tenant.name}.{ada.tenant.services.settings.hub_domain}/v/")
    assert urlsplit(link).path == f"/v/{token_of(link)}"
    assert not urlsplit(link).query


def test_link_works_once(ada: UnverifiedAccount) -> None:
    answered(ada.resend())
    token = token_in(ada.verification_mails[-1])
    answered(ada.ask("GET", EMAIL, verificationtoken=token))
    assert refused(ada.ask("GET", EMAIL, verificationtoken=token)) == (403, 974)


def test_head_request_does_not_use_up_link(ada: UnverifiedAccount) -> None:
    answered(ada.resend())
    token = token_in(ada.verification_mails[-1])
    for _ in range(2):
        assert ada.ask("HEAD", EMAIL, verificationtoken=token).status_code == 200
    assert ada.profile["EmailVerified"] is False
    answered(ada.ask("GET", EMAIL, verificationtoken=token))


def test_expired_replaced_cut_or_foreign_link_is_refused(
    ada: UnverifiedAccount, new_tenant_server: NewTenantServer
) -> None:
    answered(ada.resend())
    first = token_in(ada.verification_mails[-1])
    answered(ada.resend())
    second = token_in(ada.verification_mails[-1])
    other = UnverifiedAccount(new_tenant_server(limits=OPEN))
    assert refused(ada.ask("GET", EMAIL, verificationtoken=first)) == (403, 975)
    assert refused(ada.ask("GET", EMAIL, verificationtoken=second[:-2])) == (403, 973)
    assert refused(other.ask("GET", EMAIL, verificationtoken=second)) == (403, 1063)
    clock = ada.tenant.services.clock
    assert isinstance(clock, MovableClock)
    clock.advance(minutes=4321)
    assert refused(ada.ask("GET", EMAIL, verificationtoken=second)) == (403, 975)
    assert ada.profile["EmailVerified"] is False


@pytest.mark.both_databases
def test_link_is_refused_for_verified_or_closed_account(ada: UnverifiedAccount) -> None:
    answered(ada.resend())
    token = token_in(ada.verification_mails[-1])
    ada.tenant.update(ada.uid, {"EmailVerified": True})
    assert refused(ada.ask("GET", EMAIL, verificationtoken=token)) == (403, 1126)
    ada.tenant.update(ada.uid, {"EmailVerified": False, "IsActive": False})
    assert refused(ada.ask("GET", EMAIL, verificationtoken=token)) == (403, 979)


def test_missing_token_is_named(ada: UnverifiedAccount) -> None:
    response = ada.ask("GET", EMAIL)
    assert refused(response) == (400, 908)
    assert "verificationtoken" in response.get_json()["Description"]


def test_invalid_resend_is_refused(ada: UnverifiedAccount, new_tenant_server: NewTenantServer) -> None:
    assert refused(ada.resend("absent@example.test")) == (403, 938)
    assert refused(ada.resend("no address")) == (400, 1038)
    assert refused(ada.resend(verificationurl="https://evil.example/")) == (403, 1249)
    assert refused(ada.resend(verificationurl="javascript:alert(1)"))[1] in (1249, 1214)
    ada.tenant.update(ada.uid, {"EmailVerified": True})
    assert refused(ada.resend()) == (403, 1025)
    disabled = UnverifiedAccount(new_tenant_server(email_verification="disabled"))
    assert refused(disabled.resend()) == (403, 1034)
    assert ada.mails == disabled.mails == []


def test_link_leads_to_allowed_page_of_application(new_tenant_server: NewTenantServer) -> None:
    ada = UnverifiedAccount(new_tenant_server(url_whitelist=["https://shop.example/app"], limits=OPEN))
    answered(ada.resend(verificationurl="https://shop.example/app/verify?from=mail"))
    assert link_in(ada.verification_mails[-1]).startswith(
        "https://shop.example/app/verify?from=mail&vtype=emailverification&vtoken="
    )
    assert refused(ada.resend(verificationurl="https://shop.example/application")) == (403, 1249)


def test_resend_hides_unknown_accounts(new_tenant_server: NewTenantServer) -> None:
    ada = UnverifiedAccount(new_tenant_server(hide_unknown_accounts=True, limits=OPEN))
    known, unknown = ada.resend(), ada.resend("absent@example.test")
    ada.tenant.update(ada.uid, {"EmailVerified": True})
    verified = ada.resend()
    assert known.get_json() == unknown.get_json() == verified.get_json() == {"IsPosted": True}


def test_code_verifies_by_address_and_by_id(new_tenant_server: NewTenantServer) -> None:
    for by_id in (False, True):
        ada = with_codes(new_tenant_server)
        sent = answered(ada.resend())
        code = code_in(ada.verification_mails[-1])
        who = {"uuid": sent["UUID"]} if by_id else {"email": "  ADA@example.test "}
        spaced_code = f"{code[:3]} {code[3:]}"
        assert answered(ada.ask("PUT", EMAIL, {"otp": spaced_code, **who})) == {"IsPosted": True, "Data": None}
        assert ada.profile["EmailVerified"] is True
        assert refused(ada.ask("PUT", EMAIL, {"otp": code, **who})) == (403, 1186)


def test_code_in_query_verifies(new_tenant_server: NewTenantServer) -> None:
    ada = with_codes(new_tenant_server)
    answered(ada.resend())
    answered(ada.ask("GET", EMAIL, otp=code_in(ada.verification_mails[-1]), email=ADA))
    assert ada.profile["EmailVerified"] is True


@pytest.mark.both_databases
def test_invalid_codes_are_refused(new_tenant_server: NewTenantServer, ada: UnverifiedAccount) -> None:
    assert refused(ada.ask("PUT", EMAIL, {"otp": "123456", "email": ADA})) == (403, 1237)
    account = with_codes(new_tenant_server, lockout={"type": "none"})
    assert refused(account.ask("PUT", EMAIL, {"otp": "123456"})) == (400, 908)
    assert refused(account.ask("PUT", EMAIL, {"email": ADA})) == (400, 908)
    assert refused(account.ask("PUT", EMAIL, {"otp": "123456", "email": "absent@example.test"})) == (403, 938)
    assert refused(account.ask("PUT", EMAIL, {"otp": "123456", "uuid": "x" * 300})) == (403, 1185)
    answered(account.resend())
    code = code_in(account.verification_mails[-1])
    wrong = f"{(int(code) + 1) % 1_000_000:06d}"
    for _ in range(5):
        assert refused(account.ask("PUT", EMAIL, {"otp": wrong, "email": ADA})) == (403, 1185)
    assert refused(account.ask("PUT", EMAIL, {"otp": code, "email": ADA})) == (403, 1188)
    answered(account.resend())
    clock = account.tenant.services.clock
    assert isinstance(clock, MovableClock)
    clock.advance(minutes=6)
    assert refused(account.ask("PUT", EMAIL, {"otp": code_in(account.verification_mails[-1]), "email": ADA})) == (
        403,
        1187,
    )


@pytest.mark.parametrize(
    ("kind", "code"), [("suspend", 1198), ("captcha", 1132), ("security_question", 1148), ("block", 991)]
)
def test_wrong_codes_lock_like_wrong_passwords(new_tenant_server: NewTenantServer, kind: str, code: int) -> None:
    ada = with_codes(new_tenant_server, lockout={"type": kind, "maximum_failed_attempts": 3})
    answered(ada.resend())
    right = code_in(ada.verification_mails[-1])
    refused(ada.ask("POST", LOGIN, {"email": ADA, "password": "wrong"}))
    for _ in range(2):
        ada.ask("PUT", EMAIL, {"otp": "x", "email": ADA})
    assert refused(ada.ask("PUT", EMAIL, {"otp": right, "email": ADA})) == (403, code)
    assert refused(ada.sign_in()) == (403, code)


def test_security_answer_unlocks_code_verification(new_tenant_server: NewTenantServer) -> None:
    ada = with_codes(
        new_tenant_server,
        lockout={"type": "security_question", "maximum_failed_attempts": 1},
        security_questions={"pet": "Name of the first pet?"},
    )
    ada.tenant.update(ada.uid, {"SecurityQuestionAnswer": {"pet": "Rex"}})
    answered(ada.resend())
    code = code_in(ada.verification_mails[-1])
    ada.ask("PUT", EMAIL, {"otp": "x", "email": ADA})
    body = {"otp": code, "email": ADA}
    assert refused(ada.ask("PUT", EMAIL, {**body, "securityanswer": {"pet": "Max"}})) == (403, 1094)
    answered(ada.ask("PUT", EMAIL, {**body, "securityanswer": {"pet": "rex"}}))
    assert ada.profile["IsLoginLocked"] is False


def test_verification_signs_in_where_configured(new_tenant_server: NewTenantServer) -> None:
    ada = with_codes(new_tenant_server, login_on_email_verification=True)
    answered(ada.resend())
    response = answered(ada.ask("GET", EMAIL, verificationtoken=token_in(ada.verification_mails[-1]), fields="Uid"))
    assert response["Data"]["Profile"] == {"Uid": ada.uid}
    own = ada.tenant.send("GET", "/identity/v2/auth/account", bearer=response["Data"]["access_token"])
    assert answered(own)["EmailVerified"] is True


def test_locked_account_is_verified_but_not_signed_in(new_tenant_server: NewTenantServer) -> None:
    ada = with_codes(new_tenant_server, login_on_email_verification=True)
    answered(ada.resend())
    ada.tenant.update(ada.uid, {"DisableLogin": True})
    assert answered(ada.ask("GET", EMAIL, verificationtoken=token_in(ada.verification_mails[-1])))["Data"] is None


def test_verification_ends_sessions_where_configured(new_tenant_server: NewTenantServer) -> None:
    ada = UnverifiedAccount(new_tenant_server(logout_on_email_verification=True, limits=OPEN))
    access_token = ada.tenant.tokens(ada.uid)["access_token"]
    answered(ada.resend())
    answered(ada.ask("GET", EMAIL, verificationtoken=token_in(ada.verification_mails[-1])))
    assert ada.tenant.send("GET", "/identity/v2/auth/account", bearer=access_token).status_code == 401


def test_each_verification_sends_one_welcome(ada: UnverifiedAccount) -> None:
    answered(ada.resend())
    answered(ada.ask("GET", EMAIL, verificationtoken=token_in(ada.verification_mails[-1])))
    assert len(ada.mails) == 2
    ada.tenant.update(ada.uid, {"EmailVerified": False})
    answered(ada.resend())
    answered(ada.ask("GET", EMAIL, verificationtoken=token_in(ada.verification_mails[-1])))
    assert len(ada.mails) == 3


def test_signed_in_account_requests_its_own_mail(new_tenant_server: NewTenantServer) -> None:
    ada = with_codes(new_tenant_server, email_verification="optional")
    token = ada.tenant.tokens(ada.uid)["access_token"]
    sent = answered(ada.tenant.send("GET", OWN, bearer=token))
    assert sent["IsPosted"] is True
    answered(ada.ask("PUT", EMAIL, {"otp": code_in(ada.verification_mails[-1]), "uuid": sent["UUID"]}))
    assert refused(ada.tenant.send("GET", OWN, bearer=token)) == (403, 1025)
    assert refused(ada.ask("GET", OWN, clientguid="1")) == (403, 1140)
    assert refused(ada.ask("GET", OWN)) == (401, 1409)


def test_refused_sign_in_resends_mail_within_limits(ada: UnverifiedAccount) -> None:
    assert refused(ada.sign_in()) == (403, 970)
    assert len(ada.verification_mails) == 1
    repeated = [refused(ada.sign_in()) for _ in range(12)]
    assert repeated == [(403, 970)] * 4 + [(403, 1122)] * 8, (
        "970 reports a sent mail, so it is not returned without one"
    )
    assert len(ada.verification_mails) == 5
    answered(ada.ask("GET", EMAIL, verificationtoken=token_in(ada.verification_mails[-1])))
    answered(ada.sign_in())


def test_wrong_password_sends_no_mail(ada: UnverifiedAccount) -> None:
    refused(ada.ask("POST", LOGIN, {"email": ADA, "password": "wrong"}))
    assert ada.mails == []


def test_unlisted_page_is_never_mailed(ada: UnverifiedAccount) -> None:
    assert refused(ada.sign_in(verificationurl="https://evil.example/")) == (403, 970)
    assert "evil" not in str(ada.verification_mails[-1])


@pytest.mark.parametrize("mode", ["optional", "disabled"])
def test_other_modes_admit_unverified_address(new_tenant_server: NewTenantServer, mode: str) -> None:
    ada = UnverifiedAccount(new_tenant_server(email_verification=mode, limits=OPEN))
    answered(ada.sign_in())
    assert ada.mails == []


def test_unverified_phone_gets_another_code(new_tenant_server: NewTenantServer) -> None:
    tenant = new_tenant_server(phone_login=True, limits=OPEN)
    tenant.create(PhoneId="+4915123456789")
    body = {"phone": "+4915123456789", "password": PASSWORD}
    assert refused(tenant.send("POST", LOGIN, body, options="PreventVerificationSms")) == (403, 1066)
    assert sent_messages(tenant.services, tenant.tenant_id, "sms") == []
    assert refused(tenant.send("POST", LOGIN, body)) == (403, 1066)
    assert len(sent_messages(tenant.services, tenant.tenant_id, "sms")) == 1


def test_availability_reports_taken_identifiers(new_tenant_server: NewTenantServer) -> None:
    tenant = new_tenant_server(phone_login=True, username_login=True, limits=OPEN)
    tenant.create(Email=[{"Type": "Primary", "Value": ADA}], PhoneId="+4915123456789", UserName="ada")

    def ask(path: str, **query: Any) -> TestResponse:
        return tenant.send("GET", path, with_secret=False, **query)

    for path, taken, free in (
        (EMAIL, {"email": "ADA@Example.test"}, {"email": "bob@example.test"}),
        (PHONE, {"phone": "+49 151 23456789"}, {"phone": "+49 151 23456780"}),
        (USERNAME, {"username": "ADA"}, {"username": "bob"}),
    ):
        assert answered(ask(path, **taken)) == {"IsExist": True}
        assert answered(ask(path, **free)) == {"IsExist": False}
    assert refused(ask(EMAIL, email="ada")) == (400, 1038)
    assert refused(ask(PHONE, phone="12")) == (400, 1096)
    assert refused(ask(PHONE)) == (400, 908)
    assert refused(ask(USERNAME)) == (400, 1075)
    assert refused(ask(USERNAME, username="a b")) == (403, 1204)


def test_phone_lookup_is_refused_without_phone_login(acme: TenantServer) -> None:
    assert refused(acme.send("GET", PHONE, phone="+4915123456789")) == (403, 1074)


def test_availability_is_limited_by_client_address(new_tenant_server: NewTenantServer) -> None:
    tenant = new_tenant_server(limits={"availability_per_minute_per_address": 3})
    statuses = [tenant.send("GET", EMAIL, email=f"{n}@example.test").status_code for n in range(4)]
    assert statuses == [200, 200, 200, 429]


def test_every_operation_is_declared() -> None:
    declared = [
        var.documentation
        for var in vars(verification_operations).values()
        if isinstance(var, Operation) and var.documentation.row
    ]
    assert sorted(documentation.row for documentation in declared) == [f"U{n:02d}" for n in range(3, 10)]
