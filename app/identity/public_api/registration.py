"""Operations of registration and of the lists of choices in its form."""

from __future__ import annotations

import json
from dataclasses import replace

from app.contract import errors
from app.contract.accounts.account_operations import EmailEntry
from app.contract.passkeys import passkey_sign_in_operations
from app.contract.passkeys.models import PublicKey, RegisterBegin
from app.contract.registration import registration_choice_operations, registration_operations
from app.contract.shared_responses import Deleted, Posted
from app.identity.authentication.registration import account_registration, api_registration, choice_lists, sott
from app.identity.authentication.sign_in.passkeys import passkey_sign_in, passkey_sign_up
from app.identity.credentials.captcha import captcha_verification
from app.identity.credentials.passkeys import ceremonies
from app.identity.credentials.passkeys.ceremonies import CeremonyUse
from app.identity.credentials.passkeys.options import UserEntity
from app.identity.directory.accounts import accounts
from app.identity.platform.context import Context
from app.kit import randomness
from app.kit.clock import iso
from app.kit.operations.wire import Document


@registration_operations.register.implements
def with_sott(context: Context, req: registration_operations.Registration) -> registration_operations.Registered:
    account_registration.require_enabled(context)
    sott.check(context, req.sott)
    options = api_registration.options_for(context, req)
    return api_registration.respond(
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
    options = api_registration.options_for(context, req)
    draft = account_registration.read_draft(context, req, options)
    captcha_verification.require_solved(context, captcha_verification.from_parameters(req))
    return api_registration.respond(context, req, account_registration.register(context, draft, options))


@passkey_sign_in_operations.begin_sign_up.implements
def begin_with_passkey(context: Context, req: passkey_sign_in_operations.SignUpBegin) -> RegisterBegin:
    passkey_sign_in.require_enabled(context)
    account_registration.require_enabled(context)
    ceremonies.spend_lookup(context)
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
    options = replace(api_registration.options_for(context, req), has_password=False)
    result = passkey_sign_up.register(
        context, new_passkey, account_registration.read_draft(context, request, options), options
    )
    return api_registration.respond(
        context,
        req,
        result,
        passkey_sign_up.methods_for(new_passkey),
        counts_as_two_factors=new_passkey.is_user_verified,
    )


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


def _document(records: list[registration_choice_operations.RecordView]) -> Document:
    return Document(json.dumps([record.model_dump(by_alias=True) for record in records]).encode())
