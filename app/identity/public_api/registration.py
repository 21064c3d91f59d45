"""Operations of registration and of the lists of choices in its form."""

from __future__ import annotations

import json
from dataclasses import replace

from app.contract import errors as e
from app.contract.accounts.operations import EmailEntry
from app.contract.passkeys import sign_in as passkey_operations
from app.contract.passkeys.models import PublicKey, RegisterBegin
from app.contract.registration import choices
from app.contract.registration import operations as contract
from app.contract.shared_responses import Deleted, Posted
from app.identity.authentication.registration import api_registration, choice_lists, sott
from app.identity.authentication.registration import service as registration
from app.identity.authentication.sign_in.passkeys import sign_in as passkey_sign_in
from app.identity.authentication.sign_in.passkeys import sign_up as passkey_sign_up
from app.identity.credentials.captcha import service as captcha
from app.identity.credentials.passkeys import ceremonies
from app.identity.credentials.passkeys.ceremonies import CeremonyUse
from app.identity.credentials.passkeys.options import UserEntity
from app.identity.directory.accounts import service as accounts
from app.identity.platform.context import Context
from app.kit import randomness
from app.kit.clock import iso
from app.kit.operations.wire import Document


@contract.register.implements
def with_sott(context: Context, req: contract.Registration) -> contract.Registered:
    registration.require_enabled(context)
    sott.check(context, req.sott)
    options = api_registration.options_for(context, req)
    return api_registration.respond(
        context, req, registration.register(context, registration.read_draft(context, req, options), options)
    )


@contract.register_with_captcha.implements
def with_captcha(context: Context, req: contract.RegistrationWithCaptcha) -> contract.Registered:
    """Register with a captcha, verified last so that a mistyped field does not require another captcha."""
    registration.require_enabled(context)
    options = api_registration.options_for(context, req)
    draft = registration.read_draft(context, req, options)
    captcha.require_solved(context, captcha.from_parameters(req))
    return api_registration.respond(context, req, registration.register(context, draft, options))


@passkey_operations.begin_sign_up.implements
def begin_with_passkey(context: Context, req: passkey_operations.SignUpBegin) -> RegisterBegin:
    passkey_sign_in.require_enabled(context)
    registration.require_enabled(context)
    ceremonies.spend_lookup(context)
    email = req.identifier.strip()
    if not accounts.is_email(email):
        raise e.MalformedEmail
    if "email" not in context.tenant.settings.login_kinds:
        raise e.PasskeyNeedsEmail
    if not context.tenant.settings.hide_unknown_accounts and accounts.by_email(context, email) is not None:
        raise e.EmailRegistered
    creation_options = ceremonies.begin_registration(context, CeremonyUse.SIGN_UP, UserEntity(randomness.uid(), email))
    return RegisterBegin(register_begin_credential=PublicKey(publicKey=creation_options))


@passkey_operations.finish_sign_up.implements
def finish_with_passkey(context: Context, req: passkey_operations.SignUpFinish) -> contract.Registered:
    passkey_sign_in.require_enabled(context)
    registration.require_enabled(context)
    new_passkey = ceremonies.verify_registration(context, CeremonyUse.SIGN_UP, req.passkey_credential)
    email = str(new_passkey.challenge_token.facts["name"])
    request = req if req.email else req.model_copy(update={"email": [EmailEntry(type="Primary", value=email)]})
    options = replace(api_registration.options_for(context, req), has_password=False)
    result = passkey_sign_up.register(context, new_passkey, registration.read_draft(context, request, options), options)
    return api_registration.respond(
        context,
        req,
        result,
        passkey_sign_up.methods_for(new_passkey),
        counts_as_two_factors=new_passkey.is_user_verified,
    )


@contract.sott.implements
def create_sott(context: Context, req: contract.CreateSott) -> contract.Sott:
    text, expires_at = sott.create(context, req.time_difference)
    return contract.Sott(sott=text, expiry_time=iso(expires_at) or "")


@choices.records.implements
def read_records(context: Context, req: choices.ListRecords) -> Document:
    return _document(choice_lists.list_records(context, req, is_managed=False))


@choices.managed_records.implements
def read_managed_records(context: Context, req: choices.ListRecords) -> Document:
    return _document(choice_lists.list_records(context, req, is_managed=True))


@choices.check_code.implements
def check_code(context: Context, req: choices.CodeCheck) -> choices.CodeIsValid:
    choice_lists.check_code(context, req.record_id, req.code)
    return choices.CodeIsValid()


@choices.add_records.implements
def add_records(context: Context, req: choices.NewRecords) -> Posted:
    choice_lists.add(context, req.data)
    return Posted()


@choices.change_record.implements
def change_record(context: Context, req: choices.UpdateRecord) -> choices.RecordUpdated:
    return choices.RecordUpdated(data=choice_lists.change(context, req))


@choices.remove_record.implements
def remove_record(context: Context, req: choices.RecordId) -> Deleted:
    choice_lists.remove(context, req.record_id)
    return Deleted()


@choices.remove_type.implements
def remove_type(context: Context, req: choices.DeleteRecordType) -> Deleted:
    choice_lists.remove_type(context, req.type)
    return Deleted()


def _document(records: list[choices.RecordView]) -> Document:
    return Document(json.dumps([record.model_dump(by_alias=True) for record in records]).encode())
