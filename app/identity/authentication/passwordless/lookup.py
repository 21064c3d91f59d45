"""Looks up the account of a typed identifier, for a passwordless sign-in."""

from __future__ import annotations

from app.identity.authentication.passwordless import redemption
from app.identity.authentication.passwordless.methods import DEVICE, MAIL, SMS
from app.identity.authentication.recovery import recipient
from app.identity.authentication.sign_in import sign_in_identifiers
from app.identity.directory.accounts import identifiers
from app.identity.directory.accounts.account import Account
from app.identity.directory.accounts.login_attempts import account_lookup
from app.identity.directory.accounts.login_attempts.account_lookup import TypedIdentifier
from app.identity.platform.context import Context
from app.kit.operations.errors import ApiError


def resolve(context: Context, text: str, method: str) -> tuple[TypedIdentifier, Account | None, bool]:
    """Return the typed identifier, the account that it reaches, and whether it may register a new one.

    An account that may not sign in is treated as unknown; every look-up runs in every case.
    """
    settings = context.tenant.settings
    if method == SMS:
        identifier = TypedIdentifier("phone", identifiers.to_international(text.strip(), settings.default_country))
    elif method == MAIL and settings.one_touch and "@" in text:
        identifier = TypedIdentifier("email", text.strip())
    else:
        identifier = sign_in_identifiers.guess(settings, text)
    lookup = account_lookup.find(context, identifier, is_hidden=True)
    account = recipient.reachable_account(lookup, SMS if method == SMS else MAIL)
    registers = settings.one_touch and method != DEVICE and account is None and _can_register(context, identifier)
    return identifier, account, registers


def _can_register(context: Context, identifier: TypedIdentifier) -> bool:
    is_name = identifiers.normalize_email if identifier.kind == "email" else identifiers.normalize_phone
    if context.tenant.settings.registration_captcha:  # which only the API operations require here
        return False
    if identifier.kind == "username" or not is_name(identifier.value):
        return False
    try:
        redemption.refuse_registration(context, email=identifier.value if identifier.kind == "email" else "")
    except ApiError:
        return False
    return True
