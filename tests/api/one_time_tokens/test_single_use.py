"""What works once works once at all operations together, however it is typed and whichever channel sent it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from werkzeug.test import TestResponse

from app.contract.messages.models import MailKind, MailTemplate
from tests.support.accounts.mailbox import code_in, token_in
from tests.support.credentials.factors import SecondFactorHolder
from tests.support.operation_cases.cases import AccountHolder, account_holder
from tests.support.operation_cases.factor_login import ALL, mails, texts
from tests.support.operation_cases.passwordless import POLICY
from tests.support.operation_cases.smart_login import guid, poll
from tests.support.races import RACERS, at_once
from tests.support.tenants.message_templates import add_templates
from tests.support.tenants.tenant_server import NewTenantServer, answered, refused

FREE = {"amount": 0, "minutes": 1}
SENDING = {"mails": FREE, "mails_in_all": FREE}
FACTORS: dict[str, Any] = {"two_factor": "optional", "second_factors": ALL, "lockout": {"type": "none"}}
LESS: dict[str, Any] = {
    "passwordless_email": True, "passwordless_sms": True, "phone_login": True, "sending": SENDING,
    "lockout": {"type": "none"},
}  # fmt: skip
STEP_UP = "/identity/v2/auth/account/reauth/2fa"
Use = Callable[[SecondFactorHolder], TestResponse]


@pytest.fixture
def ada(new_tenant_server: NewTenantServer) -> SecondFactorHolder:
    return SecondFactorHolder(**vars(account_holder(new_tenant_server, **FACTORS)))


def steps_up(who: SecondFactorHolder, at: str, body: dict[str, Any]) -> TestResponse:
    return who.tenant.send("PUT", f"{STEP_UP}/{at}", body, bearer=who.bearer)


def by_app(who: SecondFactorHolder) -> tuple[Use, Use]:
    who.enrols()
    token, code = who.token(), who.next_code()
    return (
        lambda item: item.shows_code(code, token),
        lambda item: steps_up(item, "authenticatorcode", {"authenticatorcode": f"{code[:3]} {code[3:]}"}),
    )


def by_backup_code(who: SecondFactorHolder) -> tuple[Use, Use]:
    code = who.enrols().backup_codes()[0]
    token = who.token()
    return (
        lambda item: item.answer_challenge("backupcode", {"backupcode": code.replace("-", "").upper()}, token),
        lambda item: steps_up(item, "backupcode", {"backupcode": code}),
    )


def by_text(who: SecondFactorHolder) -> tuple[Use, Use]:
    texts(who).advance_clock(seconds=40)
    token = who.token()
    code = who.texted()
    return (
        lambda item: item.answer_challenge("sms", {"otp": code}, token),
        lambda item: steps_up(item, "otp", {"otp": code}),
    )


def by_mail(who: SecondFactorHolder) -> tuple[Use, Use]:
    token = mails(who).token()
    code = code_in(who.mailed())
    return (
        lambda item: item.answer_challenge("email", {"emailid": item.email, "otp": code}, token),
        lambda item: steps_up(item, "otp/email/verify", {"emailid": item.email, "otp": code}),
    )


@pytest.mark.both_databases("first")
@pytest.mark.parametrize("is_reversed", [False, True], ids=["sign-in first", "step-up first"])
@pytest.mark.parametrize("prepare", [by_app, by_backup_code, by_text, by_mail])
def test_factor_code_of_one_operation_is_used_at_another(
    ada: SecondFactorHolder, prepare: Callable[[SecondFactorHolder], tuple[Use, Use]], is_reversed: bool
) -> None:
    first, second = prepare(ada) if not is_reversed else prepare(ada)[::-1]
    answered(first(ada))
    assert second(ada).status_code == 403


@pytest.mark.both_databases
@pytest.mark.parametrize("prepare", [by_app, by_backup_code, by_text, by_mail])
def test_factor_code_raced_at_two_operations_wins_once(
    ada: SecondFactorHolder, prepare: Callable[[SecondFactorHolder], tuple[Use, Use]]
) -> None:
    sign_in, step_up = prepare(ada)
    acts = [partial(sign_in, ada), partial(step_up, ada)] * (RACERS // 2)
    statuses = Counter(answer.status_code for answer in at_once(acts))
    assert statuses == {200: 1, 403: RACERS - 1}


@pytest.mark.both_databases
def test_challenge_answered_by_two_factors_signs_in_once(ada: SecondFactorHolder) -> None:
    backup_codes = ada.enrols().backup_codes()
    token, code = ada.token(), ada.next_code()
    by_code = partial(ada.shows_code, code, token)
    acts = [
        by_code,
        *(partial(ada.answer_challenge, "backupcode", {"backupcode": item}, token) for item in backup_codes),
    ]
    statuses = Counter(answer.status_code for answer in at_once(acts))
    assert statuses == {200: 1, 403: len(acts) - 1}


def test_code_read_out_by_a_call_ends_the_texted_one(new_tenant_server: NewTenantServer) -> None:
    who = account_holder(new_tenant_server, **LESS)
    answered(who.call("U53", phone=who.phone))
    texted = who.texted()
    answered(who.call("U53", phone=who.phone, isvoiceotp="true"))
    spoken = who.texted()
    if texted != spoken:
        assert refused(who.call("U54", {"phone": who.phone, "otp": texted})) == (403, 1067)
    answered(who.call("U54", {"phone": who.phone, "otp": spoken}))
    for code in (texted, spoken):
        assert who.call("U54", {"phone": who.phone, "otp": code}).status_code == 403


def test_mail_to_another_address_ends_the_one_before(new_tenant_server: NewTenantServer) -> None:
    """The account signs in, not the address: what was sent to its first address is over, both link and code."""
    who, other = account_holder(new_tenant_server, **LESS), "other@example.test"
    stored = [{"Type": "Primary", "Value": who.email}, {"Type": "Work", "Value": other}]
    answered(who.tenant.send("PUT", f"/identity/v2/manage/account/{who.uid}/email", {"Email": stored}))
    answered(who.call("U49", email=who.email))
    link, code = token_in(who.mailed()), code_in(who.mailed())
    answered(who.call("U49", email=other))
    newer = who.mailed(other)
    assert refused(who.call("U50", verificationtoken=link)) == (403, 975)
    if code != code_in(newer):
        assert refused(who.call("U51", {"email": who.email, "otp": code})) == (403, 1185)
    answered(who.call("U50", verificationtoken=token_in(newer)))
    assert refused(who.call("U51", {"email": other, "otp": code_in(newer)})) == (403, 1186)


def test_resent_mail_of_a_link_alone_ends_the_code(new_tenant_server: NewTenantServer) -> None:
    who = account_holder(new_tenant_server, **LESS)
    answered(who.call("U49", email=who.email))
    code = code_in(who.mailed())
    link_alone = MailTemplate(type=MailKind.SIGN_IN, name="link", subject="Link", html='<a href="#Url#">Go</a>')
    add_templates(who.tenant, link_alone)
    answered(who.call("U49", email=who.email, passwordlesslogintemplate="link"))
    link = token_in(who.mailed())
    assert refused(who.call("U51", {"email": who.email, "otp": code})) == (403, 1188)
    answered(who.call("U50", verificationtoken=link))


def test_server_issued_link_ends_a_mailed_code(new_tenant_server: NewTenantServer) -> None:
    who = account_holder(new_tenant_server, **LESS)
    answered(who.call("U49", email=who.email))
    code = code_in(who.mailed())
    made = answered(who.managed("A20", {"email": who.email}, at={"tokentype": "passwordlesslogintoken"}))
    assert who.call("U51", {"email": who.email, "otp": code}).status_code == 403
    answered(who.call("U50", verificationtoken=str(made["Token"])))
    assert who.call("U51", {"email": who.email, "otp": code}).status_code == 403


def test_link_that_waits_for_the_policy_has_spent_its_code(new_tenant_server: NewTenantServer) -> None:
    who = account_holder(new_tenant_server, **{**LESS, **POLICY})
    answered(who.call("U49", email=who.email))
    link, code = token_in(who.mailed()), code_in(who.mailed())
    assert refused(who.call("U50", verificationtoken=link)) == (403, 1194)
    assert refused(who.call("U51", {"email": who.email, "otp": code})) == (403, 1186)


def test_link_that_waits_for_a_factor_has_spent_its_code(new_tenant_server: NewTenantServer) -> None:
    settings = {**LESS, "two_factor": "required", "second_factors": ALL}
    who: AccountHolder = account_holder(new_tenant_server, **settings)
    answered(who.call("U49", email=who.email))
    link, code = token_in(who.mailed()), code_in(who.mailed())
    assert answered(who.call("U50", verificationtoken=link))["SecondFactorAuthentication"]
    assert refused(who.call("U51", {"email": who.email, "otp": code})) == (403, 1186)


def test_smart_login_link_signs_in_the_polling_device(new_tenant_server: NewTenantServer) -> None:
    """The browser that opens the link gets no session, and the link's token is none of another operation."""
    who = account_holder(new_tenant_server, **LESS, smart_login=True)
    stored = guid()
    number = answered(who.call("U55", email=who.email, clientguid=stored))["Number"]
    token = token_in(who.mailed())
    clicked = who.call("U57", verificationtoken=token, number=number)
    assert answered(clicked) == {"IsPosted": True, "IsVerified": True}
    assert not clicked.headers.getlist("Set-Cookie")
    assert refused(who.call("U50", verificationtoken=token)) == (403, 1063)
    polls = Counter(answer.status_code for answer in at_once([partial(poll, who, stored)] * RACERS))
    assert polls == {200: 1, 403: RACERS - 1}


def test_deletion_by_link_ends_the_texted_code(new_tenant_server: NewTenantServer) -> None:
    """An account whose deletion was reverted is not deleted by what was sent before."""
    who = account_holder(new_tenant_server, **LESS, deletion_days=30)
    answered(who.own("U18"))
    answered(who.own("U20"))
    link, code = token_in(who.mailed()), who.texted()
    answered(who.call("U19", deletetoken=link))
    who.set_columns(is_deleted=False, leaves_at=None)
    who.stored_token = ""
    assert who.own("U21", {"otp": code}).status_code == 403
    assert who.tenant.read(who.uid)["IsDeleted"] is False
