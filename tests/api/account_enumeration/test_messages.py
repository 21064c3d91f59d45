"""Account enumeration by messages: which mails and texts a tenant that hides accounts sends, and limits on guessed codes."""

from __future__ import annotations

from typing import Any

import pytest

from app.contract import errors
from app.identity.credentials.one_time_tokens import one_time_tokens
from app.identity.credentials.one_time_tokens.codes import MAIL_CODE
from app.identity.credentials.one_time_tokens.one_time_token_store import Purpose
from app.kit.operations.errors import ApiError
from tests.support.accounts.account_states import OPEN_LIMITS
from tests.support.accounts.mailbox import mails_to, sent_messages
from tests.support.accounts.registering import ADA, primary, register
from tests.support.tenants.callers import call_of
from tests.support.tenants.tenant_server import NewTenantServer, TenantServer, answered, refused

REGISTER = "/identity/v2/auth/register"
EVE, PHONE = "eve@evil.test", "+442079460123"


@pytest.fixture
def acme(new_tenant_server: NewTenantServer) -> TenantServer:
    settings = {
        "hide_unknown_accounts": True,
        "phone_login": True,
        "email_login": True,
        "email_verification_codes": True,
    }
    return new_tenant_server(limits=OPEN_LIMITS, **settings)


def mails(acme: TenantServer, to: str) -> list[dict[str, Any]]:
    return mails_to(acme.services, acme.tenant_id, to)


def resend(acme: TenantServer, email: str) -> Any:
    return acme.send("PUT", REGISTER, {"email": email}, with_secret=False)


def test_unknown_address_gets_no_verification_mail(acme: TenantServer) -> None:
    answered(resend(acme, EVE))
    assert mails(acme, EVE) == []


def test_verified_address_gets_mail_on_resend(acme: TenantServer) -> None:
    acme.create(Email=primary(ADA), EmailVerified=True)
    answered(resend(acme, ADA))
    assert len(mails(acme, ADA)) == 1


@pytest.mark.parametrize("is_taken", [True, False])
def test_phone_gets_text_whether_or_not_email_is_taken(acme: TenantServer, is_taken: bool) -> None:
    if is_taken:
        acme.create(Email=primary(ADA), EmailVerified=True)
    answered(register(acme, ADA, PhoneId=PHONE))
    (texted,) = sent_messages(acme.services, acme.tenant_id, "sms")
    assert texted["to"] == PHONE


@pytest.mark.parametrize("is_taken", [True, False])
def test_secondary_email_gets_no_mail_even_if_first_is_taken(acme: TenantServer, is_taken: bool) -> None:
    if is_taken:
        acme.create(Email=primary(ADA), EmailVerified=True)
    both = [*primary(ADA), {"Type": "Secondary", "Value": EVE}]
    answered(register(acme, None, Email=both))
    assert (len(mails(acme, ADA)), mails(acme, EVE)) == (1, [])


@pytest.mark.parametrize("is_taken", [True, False])
def test_registration_without_mail_option_sends_none(acme: TenantServer, is_taken: bool) -> None:
    if is_taken:
        acme.create(Email=primary(ADA), EmailVerified=True)
    answered(register(acme, ADA, query={"options": "preventverificationemail"}))
    assert mails(acme, ADA) == []


def test_mails_of_all_kinds_share_one_limit(new_tenant_server: NewTenantServer) -> None:
    acme = new_tenant_server(limits=OPEN_LIMITS, sending={"mails_in_all": {"amount": 3, "minutes": 60}})
    acme.create(Email=primary(ADA))
    for _ in range(2):
        answered(resend(acme, ADA))
    answered(acme.send("POST", "/identity/v2/auth/password", {"email": ADA}, with_secret=False))
    assert refused(resend(acme, ADA)) == (403, 1122)
    assert refused(acme.send("POST", "/identity/v2/auth/password", {"email": ADA}, with_secret=False)) == (403, 1122)
    assert len(mails(acme, ADA)) == 3


def guess(acme: TenantServer, kind: Purpose, uid: str, address: str) -> type[Exception]:
    """Spend a wrong code against a new one of the account; return the class of the error."""
    with call_of(acme.services, acme.name) as call:
        one_time_tokens.new_code(call, kind, uid, subject=address)
        call.work.commit()
        with pytest.raises(ApiError) as refusal:
            one_time_tokens.spend_code(call, kind, uid, "no code", subject=address, errors=MAIL_CODE)
        call.work.rollback()
    return type(refusal.value)


def test_guesses_per_email_are_limited_across_accounts(new_tenant_server: NewTenantServer) -> None:
    acme = new_tenant_server(lockout={"type": "none"})
    uids = [str(acme.create()["Uid"]) for _ in range(4)]
    kinds = (Purpose.EMAIL, Purpose.ADD_EMAIL)
    refusals = [guess(acme, kinds[number % 2], uids[number % 4], ADA) for number in range(16)]
    assert refusals == [errors.WrongMailCode] * 15 + [errors.TooManyRequests]
    assert guess(acme, Purpose.EMAIL, uids[0], EVE) is errors.WrongMailCode


def test_right_code_after_limit_is_refused_and_link_works(new_tenant_server: NewTenantServer) -> None:
    acme = new_tenant_server(lockout={"type": "none"}, limits={"email_codes_tried_per_day": 2})
    uid = str(acme.create()["Uid"])
    for _ in range(2):
        guess(acme, Purpose.EMAIL, uid, ADA)
    with call_of(acme.services, acme.name) as call:
        link, code = one_time_tokens.issue(call, Purpose.EMAIL, uid, subject=ADA, link_minutes=9, code_minutes=9)
        call.work.commit()
        with pytest.raises(errors.TooManyRequests):
            one_time_tokens.spend_code(call, Purpose.EMAIL, uid, code.text, subject=ADA, errors=MAIL_CODE)
        assert one_time_tokens.spend_link(call, Purpose.EMAIL, link).uid == uid
        call.work.rollback()
