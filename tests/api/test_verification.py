"""Email verification over the interface: rows U03 to U09, and what a sign-in with an unverified address sends."""

from __future__ import annotations

from typing import Any

import pytest

from app.contract import verification as contract
from app.kit.operation import Operation
from tests.support.identity_service import MovableClock
from tests.support.mailbox import code_in, link_in, mails_to, sent_messages, token_in
from tests.support.tenant_server import PASSWORD, NewTenantServer, TenantServer, answered, refused

REGISTER, EMAIL, LOGIN = "/identity/v2/auth/register", "/identity/v2/auth/email", "/identity/v2/auth/login"
OWN, PHONE, USERNAME = f"{EMAIL}/sendverificationemail", "/identity/v2/auth/phone", "/identity/v2/auth/username"
ADA = "ada@example.test"
OPEN = {"sign_in_per_minute_per_address": 0, "availability_per_minute_per_address": 0}


class World:
    """A tenant with Ada, whose address nobody has verified yet."""

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
    def asking(self) -> list[dict[str, Any]]:
        """The mails that lead to a verification."""
        return [one for one in self.mails if "vtoken=" in str(one)]

    @property
    def profile(self) -> dict[str, Any]:
        return self.tenant.read(self.uid)


@pytest.fixture
def world(new_tenant_server: NewTenantServer) -> World:
    return World(new_tenant_server(limits=OPEN))


def coded(new_tenant_server: NewTenantServer, **settings: Any) -> World:
    return World(new_tenant_server(limits=OPEN, email_verification_codes=True, **settings))


def test_resent_mail_link_verifies_address(world: World) -> None:
    assert answered(world.resend()) == {"IsPosted": True}
    assert world.profile["EmailVerified"] is False
    done = answered(world.ask("GET", EMAIL, verificationtoken=token_in(world.asking[-1])))
    assert done == {"IsPosted": True, "Data": None}
    assert world.profile["EmailVerified"] is True
    answered(world.sign_in())


def test_default_link_leads_to_hub_page(world: World) -> None:
    answered(world.resend())
    link = link_in(world.asking[-1])
    assert link.startswith(f"http://{world.tenant.name}.{world.tenant.services.settings.hub_domain}/verify?")
    assert "vtype=emailverification&vtoken=" in link


def test_link_works_once(world: World) -> None:
    answered(world.resend())
    token = token_in(world.asking[-1])
    answered(world.ask("GET", EMAIL, verificationtoken=token))
    assert refused(world.ask("GET", EMAIL, verificationtoken=token)) == (403, 974)


def test_head_request_does_not_use_up_link(world: World) -> None:
    answered(world.resend())
    token = token_in(world.asking[-1])
    for _ in range(2):
        assert world.ask("HEAD", EMAIL, verificationtoken=token).status_code == 200
    assert world.profile["EmailVerified"] is False
    answered(world.ask("GET", EMAIL, verificationtoken=token))


def test_expired_replaced_cut_or_foreign_link_is_refused(world: World, new_tenant_server: NewTenantServer) -> None:
    answered(world.resend())
    first = token_in(world.asking[-1])
    answered(world.resend())
    second = token_in(world.asking[-1])
    other = World(new_tenant_server(limits=OPEN))
    assert refused(world.ask("GET", EMAIL, verificationtoken=first)) == (403, 975)
    assert refused(world.ask("GET", EMAIL, verificationtoken=second[:-2])) == (403, 973)
    assert refused(other.ask("GET", EMAIL, verificationtoken=second)) == (403, 1063)
    clock = world.tenant.services.clock
    assert isinstance(clock, MovableClock)
    clock.advance(minutes=4321)
    assert refused(world.ask("GET", EMAIL, verificationtoken=second)) == (403, 975)
    assert world.profile["EmailVerified"] is False


def test_link_is_refused_for_verified_or_closed_account(world: World) -> None:
    answered(world.resend())
    token = token_in(world.asking[-1])
    world.tenant.update(world.uid, {"EmailVerified": True})
    assert refused(world.ask("GET", EMAIL, verificationtoken=token)) == (403, 1126)
    world.tenant.update(world.uid, {"EmailVerified": False, "IsActive": False})
    assert refused(world.ask("GET", EMAIL, verificationtoken=token)) == (403, 979)


def test_missing_token_is_named(world: World) -> None:
    response = world.ask("GET", EMAIL)
    assert refused(response) == (400, 908)
    assert "verificationtoken" in response.get_json()["Description"]


def test_invalid_resend_is_refused(world: World, new_tenant_server: NewTenantServer) -> None:
    assert refused(world.resend("nobody@example.test")) == (403, 938)
    assert refused(world.resend("no address")) == (400, 1038)
    assert refused(world.resend(verificationurl="https://evil.example/")) == (403, 1249)
    assert refused(world.resend(verificationurl="javascript:alert(1)"))[1] in (1249, 1214)
    world.tenant.update(world.uid, {"EmailVerified": True})
    assert refused(world.resend()) == (403, 1025)
    off = World(new_tenant_server(email_verification="disabled"))
    assert refused(off.resend()) == (403, 1034)
    assert world.mails == off.mails == []


def test_link_leads_to_allowed_page_of_application(new_tenant_server: NewTenantServer) -> None:
    world = World(new_tenant_server(url_whitelist=["https://shop.example/app"], limits=OPEN))
    answered(world.resend(verificationurl="https://shop.example/app/verify?from=mail"))
    assert link_in(world.asking[-1]).startswith(
        "https://shop.example/app/verify?from=mail&vtype=emailverification&vtoken="
    )
    assert refused(world.resend(verificationurl="https://shop.example/application")) == (403, 1249)


def test_resend_hides_unknown_accounts(new_tenant_server: NewTenantServer) -> None:
    world = World(new_tenant_server(hide_unknown_accounts=True, limits=OPEN))
    known, unknown = world.resend(), world.resend("nobody@example.test")
    world.tenant.update(world.uid, {"EmailVerified": True})
    verified = world.resend()
    assert known.get_json() == unknown.get_json() == verified.get_json() == {"IsPosted": True}


def test_code_verifies_by_address_and_by_id(new_tenant_server: NewTenantServer) -> None:
    for by_id in (False, True):
        world = coded(new_tenant_server)
        named = answered(world.resend())
        code = code_in(world.asking[-1])
        who = {"uuid": named["UUID"]} if by_id else {"email": "  ADA@example.test "}
        spaced = f"{code[:3]} {code[3:]}"
        assert answered(world.ask("PUT", EMAIL, {"otp": spaced, **who})) == {"IsPosted": True, "Data": None}
        assert world.profile["EmailVerified"] is True
        assert refused(world.ask("PUT", EMAIL, {"otp": code, **who})) == (403, 1186)


def test_code_in_query_verifies(new_tenant_server: NewTenantServer) -> None:
    world = coded(new_tenant_server)
    answered(world.resend())
    answered(world.ask("GET", EMAIL, otp=code_in(world.asking[-1]), email=ADA))
    assert world.profile["EmailVerified"] is True


def test_invalid_codes_are_refused(new_tenant_server: NewTenantServer, world: World) -> None:
    assert refused(world.ask("PUT", EMAIL, {"otp": "123456", "email": ADA})) == (403, 1237)
    asked = coded(new_tenant_server, lockout={"type": "none"})
    assert refused(asked.ask("PUT", EMAIL, {"otp": "123456"})) == (400, 908)
    assert refused(asked.ask("PUT", EMAIL, {"email": ADA})) == (400, 908)
    assert refused(asked.ask("PUT", EMAIL, {"otp": "123456", "email": "nobody@example.test"})) == (403, 938)
    assert refused(asked.ask("PUT", EMAIL, {"otp": "123456", "uuid": "x" * 300})) == (403, 1185)
    answered(asked.resend())
    code = code_in(asked.asking[-1])
    wrong = f"{(int(code) + 1) % 1_000_000:06d}"
    for _ in range(5):
        assert refused(asked.ask("PUT", EMAIL, {"otp": wrong, "email": ADA})) == (403, 1185)
    assert refused(asked.ask("PUT", EMAIL, {"otp": code, "email": ADA})) == (403, 1188)
    answered(asked.resend())
    clock = asked.tenant.services.clock
    assert isinstance(clock, MovableClock)
    clock.advance(minutes=6)
    assert refused(asked.ask("PUT", EMAIL, {"otp": code_in(asked.asking[-1]), "email": ADA})) == (403, 1187)


@pytest.mark.parametrize(
    ("kind", "code"), [("suspend", 1198), ("captcha", 1132), ("security_question", 1148), ("block", 991)]
)
def test_wrong_codes_lock_like_wrong_passwords(new_tenant_server: NewTenantServer, kind: str, code: int) -> None:
    world = coded(new_tenant_server, lockout={"type": kind, "maximum_failed_attempts": 3})
    answered(world.resend())
    right = code_in(world.asking[-1])
    refused(world.ask("POST", LOGIN, {"email": ADA, "password": "wrong"}))
    for _ in range(2):
        world.ask("PUT", EMAIL, {"otp": "x", "email": ADA})
    assert refused(world.ask("PUT", EMAIL, {"otp": right, "email": ADA})) == (403, code)
    assert refused(world.sign_in()) == (403, code)


def test_security_answer_unlocks_code_verification(new_tenant_server: NewTenantServer) -> None:
    world = coded(
        new_tenant_server,
        lockout={"type": "security_question", "maximum_failed_attempts": 1},
        security_questions={"pet": "Name of the first pet?"},
    )
    world.tenant.update(world.uid, {"SecurityQuestionAnswer": {"pet": "Rex"}})
    answered(world.resend())
    code = code_in(world.asking[-1])
    world.ask("PUT", EMAIL, {"otp": "x", "email": ADA})
    body = {"otp": code, "email": ADA}
    assert refused(world.ask("PUT", EMAIL, {**body, "securityanswer": {"pet": "Max"}})) == (403, 1094)
    answered(world.ask("PUT", EMAIL, {**body, "securityanswer": {"pet": "rex"}}))
    assert world.profile["IsLoginLocked"] is False


def test_verification_signs_in_where_configured(new_tenant_server: NewTenantServer) -> None:
    world = coded(new_tenant_server, login_on_email_verification=True)
    answered(world.resend())
    done = answered(world.ask("GET", EMAIL, verificationtoken=token_in(world.asking[-1]), fields="Uid"))
    assert done["Data"]["Profile"] == {"Uid": world.uid}
    own = world.tenant.send("GET", "/identity/v2/auth/account", bearer=done["Data"]["access_token"])
    assert answered(own)["EmailVerified"] is True


def test_locked_account_is_verified_but_not_signed_in(new_tenant_server: NewTenantServer) -> None:
    world = coded(new_tenant_server, login_on_email_verification=True)
    answered(world.resend())
    world.tenant.update(world.uid, {"DisableLogin": True})
    assert answered(world.ask("GET", EMAIL, verificationtoken=token_in(world.asking[-1])))["Data"] is None


def test_verification_ends_sessions_where_configured(new_tenant_server: NewTenantServer) -> None:
    world = World(new_tenant_server(logout_on_email_verification=True, limits=OPEN))
    held = world.tenant.tokens(world.uid)["access_token"]
    answered(world.resend())
    answered(world.ask("GET", EMAIL, verificationtoken=token_in(world.asking[-1])))
    assert world.tenant.send("GET", "/identity/v2/auth/account", bearer=held).status_code == 401


def test_each_verification_sends_one_welcome(world: World) -> None:
    answered(world.resend())
    answered(world.ask("GET", EMAIL, verificationtoken=token_in(world.asking[-1])))
    assert len(world.mails) == 2
    world.tenant.update(world.uid, {"EmailVerified": False})
    answered(world.resend())
    answered(world.ask("GET", EMAIL, verificationtoken=token_in(world.asking[-1])))
    assert len(world.mails) == 3


def test_signed_in_account_requests_its_own_mail(new_tenant_server: NewTenantServer) -> None:
    world = coded(new_tenant_server, email_verification="optional")
    token = world.tenant.tokens(world.uid)["access_token"]
    sent = answered(world.tenant.send("GET", OWN, bearer=token))
    assert sent["IsPosted"] is True
    answered(world.ask("PUT", EMAIL, {"otp": code_in(world.asking[-1]), "uuid": sent["UUID"]}))
    assert refused(world.tenant.send("GET", OWN, bearer=token)) == (403, 1025)
    assert refused(world.ask("GET", OWN, clientguid="1")) == (403, 1140)
    assert refused(world.ask("GET", OWN)) == (401, 1409)


def test_refused_sign_in_resends_mail_within_limits(world: World) -> None:
    assert refused(world.sign_in()) == (403, 970)
    assert len(world.asking) == 1
    over = [refused(world.sign_in()) for _ in range(12)]
    assert over == [(403, 970)] * 4 + [(403, 1122)] * 8, "970 says that a mail was sent, so it is not said without one"
    assert len(world.asking) == 5
    answered(world.ask("GET", EMAIL, verificationtoken=token_in(world.asking[-1])))
    answered(world.sign_in())


def test_wrong_password_sends_no_mail(world: World) -> None:
    refused(world.ask("POST", LOGIN, {"email": ADA, "password": "wrong"}))
    assert world.mails == []


def test_unlisted_page_is_never_mailed(world: World) -> None:
    assert refused(world.sign_in(verificationurl="https://evil.example/")) == (403, 970)
    assert "evil" not in str(world.asking[-1])


@pytest.mark.parametrize("mode", ["optional", "disabled"])
def test_other_modes_admit_unverified_address(new_tenant_server: NewTenantServer, mode: str) -> None:
    world = World(new_tenant_server(email_verification=mode, limits=OPEN))
    answered(world.sign_in())
    assert world.mails == []


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
    ask = lambda path, **query: tenant.send("GET", path, with_secret=False, **query)  # noqa: E731 - one line a row
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
    said = [tenant.send("GET", EMAIL, email=f"{n}@example.test").status_code for n in range(4)]
    assert said == [200, 200, 200, 429]


def test_every_operation_is_declared() -> None:
    stated = [
        one.documentation for one in vars(contract).values() if isinstance(one, Operation) and one.documentation.row
    ]
    assert sorted(one.row for one in stated) == [f"U{n:02d}" for n in range(3, 10)]
