"""Registration with a passkey in place of a password."""

from __future__ import annotations

from dataclasses import replace

from app.contract import errors as e
from app.contract.accounts.operations import EmailEntry
from app.contract.passkeys import sign_in as contract
from app.contract.passkeys.models import PublicKey, RegisterBegin
from app.contract.registration.operations import Registered
from app.identity.authentication.registration import api_registration
from app.identity.authentication.registration import service as registration
from app.identity.authentication.registration.drafts import AccountDraft
from app.identity.authentication.registration.service import RegistrationOptions, RegistrationResult
from app.identity.authentication.sign_in import pending_sign_in
from app.identity.authentication.sign_in.passkeys.sign_in import require_enabled
from app.identity.credentials.passkeys import ceremonies
from app.identity.credentials.passkeys.ceremonies import CeremonyUse, NewPasskey
from app.identity.credentials.passkeys.options import UserEntity
from app.identity.directory.accounts import identifiers
from app.identity.directory.accounts import service as accounts
from app.identity.directory.accounts.unverified import pending_accounts
from app.identity.platform.context import Context
from app.kit import randomness


@contract.begin_sign_up.implements
def begin(context: Context, req: contract.SignUpBegin) -> RegisterBegin:
    require_enabled(context)
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


@contract.finish_sign_up.implements
def finish(context: Context, req: contract.SignUpFinish) -> Registered:
    require_enabled(context)
    registration.require_enabled(context)
    new_passkey = ceremonies.verify_registration(context, CeremonyUse.SIGN_UP, req.passkey_credential)
    email = str(new_passkey.challenge_token.facts["name"])
    request = req if req.email else req.model_copy(update={"email": [EmailEntry(type="Primary", value=email)]})
    options = replace(api_registration.options_for(context, req), has_password=False)
    result = register(context, new_passkey, registration.read_draft(context, request, options), options)
    return api_registration.respond(
        context, req, result, methods_for(new_passkey), counts_as_two_factors=new_passkey.is_user_verified
    )


def register(
    context: Context, new_passkey: NewPasskey, draft: AccountDraft, options: RegistrationOptions
) -> RegistrationResult:
    """Create the account for which the passkey was created, with the id in its user handle; raises PasskeyRefused.

    Where accounts are hidden and the address is taken, the passkey is stored with a pending account all the same: the
    visitor may still choose another address (decision 0053), and the answers are alike until one is verified.
    """
    if identifiers.normalize_email(draft.addresses.primary or "") != identifiers.normalize_email(
        new_passkey.challenge_token.facts["name"]
    ):
        raise e.PasskeyRefused
    if not new_passkey.is_user_verified and context.tenant.settings.two_factor == "required":
        raise e.PasskeyRefused  # it could never sign in: one key cannot be both factors
    result = registration.register(
        context, replace(draft, uid=new_passkey.challenge_token.uid, has_own_uid=False), options
    )
    if result.account is None:
        pending_accounts.add(
            context, pending_accounts.unverifiable_identifier(new_passkey.challenge_token.uid), result.pending_columns
        )
    ceremonies.add_passkey(context, new_passkey, new_passkey.challenge_token.uid)
    return result


def methods_for(new_passkey: NewPasskey) -> tuple[str, ...]:
    """Return the `amr` of a new passkey: it counts as two factors where it verified its user."""
    return (new_passkey.method, pending_sign_in.MFA) if new_passkey.is_user_verified else (new_passkey.method,)


__all__ = ["methods_for", "require_enabled", "register"]
