"""Operations of registration and of the lists of choices in its form."""

from __future__ import annotations

import json
from dataclasses import replace

from app.contract import errors
from app.contract.accounts.account_operations import EmailEntry
from app.contract.captcha.models import CaptchaUse
from app.contract.passkeys import passkey_sign_in_operations
from app.contract.passkeys.models import PublicKey, RegisterBegin
from app.contract.profile import Profile
from app.contract.registration import registration_choice_operations, registration_operations
from app.contract.shared_parameters import PREVENT_EMAIL, PREVENT_SMS
from app.contract.shared_responses import Deleted, Posted
from app.contract.sign_in.sign_in_operations import Login
from app.identity.authentication.registration import account_registration, choice_lists, sott
from app.identity.authentication.registration.account_registration import RegistrationOptions
from app.identity.authentication.sign_in import api_tokens, completion, required_actions
from app.identity.authentication.sign_in.authentication import Authentication
from app.identity.authentication.sign_in.completion import FactorRequired, Refused
from app.identity.authentication.sign_in.passkeys import passkey_sign_in, passkey_sign_up
from app.identity.authentication.verification.email_verification import VerificationOptions
from app.identity.credentials.captcha import answers, captcha_verification
from app.identity.credentials.passkeys import ceremonies
from app.identity.credentials.passkeys.ceremonies import CeremonyUse
from app.identity.credentials.passkeys.options import UserEntity
from app.identity.credentials.pins import pin_tokens
from app.identity.directory.accounts import accounts
from app.identity.directory.accounts.account import Account
from app.identity.directory.accounts.profile import profile_document, selected_fields
from app.identity.directory.organizations.invitations import email_invitations, join_by_invitation
from app.identity.directory.organizations.invitations.invitation import EmailInvitation
from app.identity.platform.context import Context
from app.kit import randomness
from app.kit.clock import iso
from app.kit.operations.wire import Document


@registration_operations.register.implements
def with_sott(context: Context, req: registration_operations.Registration) -> registration_operations.Registered:
    account_registration.require_enabled(context)
    sott.check(context, req.sott)
    options = _options_for(context, req)
    return _respond(
        context,
        req,
        account_registration.register(context, account_registration.read_draft(context, req, options), options),
    )


@registration_operations.register_with_captcha.implements
def with_captcha(
    context: Context, req: registration_operations.RegistrationWithCaptcha
) -> registration_operations.Registered:
    """Register with a captcha, verified last so that a mistyped field does not require another captcha."""
    account_registration.require_enabled(context)
    options = _options_for(context, req)
    draft = account_registration.read_draft(context, req, options)
    captcha_verification.require_solved(context, CaptchaUse.REGISTER, answers.from_parameters(req))
    return _respond(context, req, account_registration.register(context, draft, options))


@passkey_sign_in_operations.begin_sign_up.implements
def begin_with_passkey(context: Context, req: passkey_sign_in_operations.SignUpBegin) -> RegisterBegin:
    passkey_sign_in.require_enabled(context)
    account_registration.require_enabled(context)
    ceremonies.count_lookup(context)
    email = req.identifier.strip()
    if not accounts.is_email(email):
        raise errors.MalformedEmail
    if "email" not in context.tenant.settings.login_kinds:
        raise errors.PasskeyNeedsEmail
    if not context.tenant.settings.hide_unknown_accounts and accounts.by_email(context, email) is not None:
        raise errors.EmailRegistered
    creation_options = ceremonies.begin_registration(context, CeremonyUse.SIGN_UP, UserEntity(randomness.uid(), email))
    return RegisterBegin(register_begin_credential=PublicKey(publicKey=creation_options))


@passkey_sign_in_operations.finish_sign_up.implements
def finish_with_passkey(
    context: Context, req: passkey_sign_in_operations.SignUpFinish
) -> registration_operations.Registered:
    passkey_sign_in.require_enabled(context)
    account_registration.require_enabled(context)
    new_passkey = ceremonies.verify_registration(context, CeremonyUse.SIGN_UP, req.passkey_credential)
    email = str(new_passkey.challenge_token.facts["name"])
    request = req if req.email else req.model_copy(update={"email": [EmailEntry(type="Primary", value=email)]})
    options = replace(_options_for(context, req), has_password=False)
    result = passkey_sign_up.register(
        context, new_passkey, account_registration.read_draft(context, request, options), options
    )
    return _respond(context, req, result, passkey_sign_up.methods_for(new_passkey))


@registration_operations.sott.implements
def create_sott(context: Context, req: registration_operations.CreateSott) -> registration_operations.Sott:
    text, expires_at = sott.create(context, req.time_difference)
    return registration_operations.Sott(sott=text, expiry_time=iso(expires_at) or "")


@registration_choice_operations.records.implements
def read_records(context: Context, req: registration_choice_operations.ListRecords) -> Document:
    return _document(choice_lists.list_records(context, req, is_managed=False))


@registration_choice_operations.managed_records.implements
def read_managed_records(context: Context, req: registration_choice_operations.ListRecords) -> Document:
    return _document(choice_lists.list_records(context, req, is_managed=True))


@registration_choice_operations.check_code.implements
def check_code(
    context: Context, req: registration_choice_operations.CodeCheck
) -> registration_choice_operations.CodeIsValid:
    choice_lists.check_code(context, req.record_id, req.code)
    return registration_choice_operations.CodeIsValid()


@registration_choice_operations.add_records.implements
def add_records(context: Context, req: registration_choice_operations.NewRecords) -> Posted:
    choice_lists.add(context, req.data)
    return Posted()


@registration_choice_operations.change_record.implements
def change_record(
    context: Context, req: registration_choice_operations.UpdateRecord
) -> registration_choice_operations.RecordUpdated:
    return registration_choice_operations.RecordUpdated(data=choice_lists.change(context, req))


@registration_choice_operations.remove_record.implements
def remove_record(context: Context, req: registration_choice_operations.RecordId) -> Deleted:
    choice_lists.remove(context, req.record_id)
    return Deleted()


@registration_choice_operations.remove_type.implements
def remove_type(context: Context, req: registration_choice_operations.DeleteRecordType) -> Deleted:
    choice_lists.remove_type(context, req.type)
    return Deleted()


def _options_for(context: Context, req: registration_operations.RegistrationModel) -> RegistrationOptions:
    """Return the registration options of an API request. Raises ClosedInvitation, OrganizationInactive for its invitation."""
    invited = _invitation(context, req)
    options = VerificationOptions(
        url=req.verification_url,
        email_template=req.email_template,
        sms_template=req.sms_template,
        is_voice_otp=req.is_voice_otp,
        welcome_template=req.welcome_email_template,
        sends_sms=not req.has_option(PREVENT_SMS),
    )
    return RegistrationOptions(
        options,
        source=account_registration.registration_source(req.referer),
        accepts_terms=req.accept_privacy_policy,
        consents=req.consents,
        sends_mail=not req.has_option(PREVENT_EMAIL),
        hides_taken=context.tenant.settings.hide_unknown_accounts,
        invited_email=invited.email_key if invited is not None else "",
    )


def _respond(
    context: Context,
    req: registration_operations.RegistrationModel,
    result: account_registration.RegistrationResult,
    methods: tuple[str, ...] = ("pwd",),
) -> registration_operations.Registered:
    """Return the response of a registration, with a session if the account may sign in at once.

    Args:
        methods: the `amr` of the registration.

    Raises:
        TwoFactorOn: the account exists and must enrol a second factor; it signs in at `POST /identity/v2/auth/login/2fa`.
        ConsentNeeded, PinRequired: the account exists, and every sign-in requires this first.
        ClosedInvitation, OrganizationInactive, WrongInvitationEmail, NoSeatLeft: the request names an invitation that it cannot accept.
    """
    if result.account is None or not result.may_sign_in:
        return registration_operations.Registered()
    if (invited := _invitation(context, req)) is not None:
        join_by_invitation.accept(context, invited, result.account, randomness.digest(str(req.invitation_token)))
    outcome = completion.after_registration(context, result.account, Authentication(methods))
    if isinstance(outcome, FactorRequired):
        raise errors.TwoFactorOn(commit_on_raise=True)
    if isinstance(outcome, Refused):
        return registration_operations.Registered()
    unmet = required_actions.first_unmet(context, result.account, required_actions.POLICY)
    if unmet is not None:
        raise unmet.refusal(context, result.account, outcome.authentication)
    # accepting an invitation made it a member after it was read
    account = result.account if invited is None else replace(result.account, has_organizations=True)
    return registration_operations.Registered(data=_login(context, account, methods, req.fields_))


def _invitation(context: Context, req: registration_operations.RegistrationModel) -> EmailInvitation | None:
    """Return the open invitation that the request names; None if it names none."""
    if not req.invitation_token:
        return None
    if not context.tenant.settings.organizations.enabled:
        raise errors.ClosedInvitation
    return email_invitations.require_open(context, req.invitation_token)[0]


def _login(context: Context, account: Account, methods: tuple[str, ...], fields: str | None) -> Login:
    issued = api_tokens.issue(context, account, methods)
    profile = {**profile_document.profile_of(account), "FirstLogin": True}
    return Login(
        profile=Profile.of(selected_fields.project(profile, fields)),
        access_token=issued.access_token,
        refresh_token=issued.refresh_token,
        expires_in=iso(issued.access_expires_at) or "",
        **pin_tokens.issue_session(context, account.uid, "email" if account.email else "phone"),
    )


def _document(records: list[registration_choice_operations.RecordView]) -> Document:
    return Document(json.dumps([record.model_dump(by_alias=True) for record in records]).encode())
