"""The rules of registration with a passkey in place of a password."""

from __future__ import annotations

from dataclasses import replace

from app.contract import errors
from app.identity.authentication.registration import account_registration
from app.identity.authentication.registration.account_registration import RegistrationOptions, RegistrationResult
from app.identity.authentication.registration.drafts import AccountDraft
from app.identity.authentication.sign_in.authentication import MFA
from app.identity.credentials.passkeys import ceremonies
from app.identity.credentials.passkeys.ceremonies import NewPasskey
from app.identity.directory.accounts import identifiers
from app.identity.directory.accounts.unverified import pending_accounts
from app.identity.platform.context import Context


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
        raise errors.PasskeyRefused
    if not new_passkey.is_user_verified and context.tenant.settings.two_factor == "required":
        raise errors.PasskeyRefused  # it could never sign in: one key cannot be both factors
    result = account_registration.register(
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
    return (new_passkey.method, MFA) if new_passkey.is_user_verified else (new_passkey.method,)
