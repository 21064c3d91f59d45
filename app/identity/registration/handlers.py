"""The operations of registration, and of the lists that its form offers."""

from __future__ import annotations

import json

from app.contract import errors as e
from app.contract import registration as contract
from app.contract.groups import NO_MAIL, NO_SMS, Deleted, Posted
from app.contract.profile import Profile
from app.contract.sign_in import Login
from app.identity.accounts import service as accounts
from app.identity.accounts.service import Account
from app.identity.call import Call
from app.identity.captcha import service as captcha
from app.identity.consent_forms import asking
from app.identity.pins import asking as pin_asking
from app.identity.pins import service as pins
from app.identity.pins import sessions as pin_sessions
from app.identity.registration import records, service, sott
from app.identity.registration.service import Ask
from app.identity.second_factors import service as factors
from app.identity.tokens import service as tokens
from app.identity.verification.service import Wish
from app.kit.clock import iso
from app.kit.server import Server
from app.kit.wire import Document


def register(server: Server) -> None:
    """Implement the area's operations."""
    server.implements(contract.register)(with_sott)
    server.implements(contract.register_with_captcha)(with_captcha)
    server.implements(contract.sott)(make_sott)
    server.implements(contract.records)(read_records)
    server.implements(contract.check_code)(check_code)
    server.implements(contract.add_records)(add_records)
    server.implements(contract.managed_records)(read_managed_records)
    server.implements(contract.change_record)(change_record)
    server.implements(contract.remove_record)(remove_record)
    server.implements(contract.remove_type)(remove_type)


def with_sott(call: Call, req: contract.Registration) -> contract.Registered:
    service.refuse_off(call)
    sott.check(call, req.sott)
    ask = asked(call, req)
    return registered(call, req, service.register(call, service.draft(call, req, ask), ask))


def with_captcha(call: Call, req: contract.RegistrationWithCaptcha) -> contract.Registered:
    """The captcha is spent once the rest may stand: whoever mistyped something need not solve another."""
    service.refuse_off(call)
    ask = asked(call, req)
    drafted = service.draft(call, req, ask)
    captcha.demand(call, captcha.of_parameters(req))
    return registered(call, req, service.register(call, drafted, ask))


def make_sott(call: Call, req: contract.SottRead) -> contract.Sott:
    text, ends = sott.make(call, req.time_difference)
    return contract.Sott(sott=text, expiry_time=iso(ends) or "")


def asked(call: Call, req: contract.RegistrationModel) -> Ask:
    """Return how a request of the interface registers."""
    wish = Wish(
        url=req.verification_url,
        email_template=req.email_template,
        sms_template=req.sms_template,
        is_voice_otp=req.is_voice_otp,
        welcome_template=req.welcome_email_template,
        sends_sms=not req.has_option(NO_SMS),
    )
    return Ask(
        wish,
        source=service.source_of(req.referer),
        accepts_terms=req.accept_privacy_policy,
        consents=req.consents,
        sends_mail=not req.has_option(NO_MAIL),
        is_silent=req.is_silent,
        hides_taken=call.tenant.settings.hide_unknown_accounts,
    )


def registered(
    call: Call,
    req: contract.RegistrationModel,
    outcome: service.Outcome,
    methods: tuple[str, ...] = ("pwd",),
    *,
    is_two: bool = False,
) -> contract.Registered:
    """Answer a registration: with a session where its maker may sign in at once.

    Args:
        methods: the `amr` of what they brought.
        is_two: whether that counts as two factors.

    Raises:
        TwoFactorOn: the account is made, and is to enrol a second factor; they sign in at M01.
        ConsentNeeded, PinRequired: it is made, and lacks what every sign-in asks for.
    """
    if outcome.account is None or not outcome.may_sign_in:
        return contract.Registered()
    if not is_two and factors.wanted(call, outcome.account) is not None:
        raise e.TwoFactorOn(commit_on_raise=True)
    way = {"methods": [*methods], "is_silent": req.is_silent}
    if asking.is_due(call, outcome.account):
        raise asking.refusal(call, outcome.account, way)
    if pins.is_due(call, outcome.account):
        raise pin_asking.refusal(call, outcome.account, way)
    return contract.Registered(data=_login(call, outcome.account, req.fields_))


def _login(call: Call, account: Account, fields: str | None) -> Login:
    facts = {"provider": "Email", "agent": call.agent, "address": call.address}
    issued = tokens.issue(call, uid=account.uid, facts=facts)
    profile = {**accounts.profile_of(account), "FirstLogin": True}
    return Login(
        profile=Profile.of(accounts.project(profile, fields)),
        access_token=issued.access_token,
        refresh_token=issued.refresh_token,
        expires_in=iso(issued.access_expires_at) or "",
        **pin_sessions.begin(call, account.uid, "email" if account.email else "phone"),
    )


def read_records(call: Call, req: contract.RecordsRead) -> Document:
    return _listed(records.of_type(call, req, is_managed=False))


def read_managed_records(call: Call, req: contract.RecordsRead) -> Document:
    return _listed(records.of_type(call, req, is_managed=True))


def check_code(call: Call, req: contract.CodeCheck) -> contract.CodeIsValid:
    records.check_code(call, req.record_id, req.code)
    return contract.CodeIsValid()


def add_records(call: Call, req: contract.NewRecords) -> Posted:
    records.add(call, req.data)
    return Posted()


def change_record(call: Call, req: contract.RecordChange) -> contract.RecordChanged:
    return contract.RecordChanged(data=records.change(call, req))


def remove_record(call: Call, req: contract.RecordAddress) -> Deleted:
    records.remove(call, req.record_id)
    return Deleted()


def remove_type(call: Call, req: contract.RecordTypeAddress) -> Deleted:
    records.remove_type(call, req.type)
    return Deleted()


def _listed(found: list[contract.RecordView]) -> Document:
    return Document(json.dumps([one.model_dump(by_alias=True) for one in found]).encode())
