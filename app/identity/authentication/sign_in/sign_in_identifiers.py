"""The identifier of a sign-in, and the kinds that the tenant allows."""

from __future__ import annotations

from app.contract import errors
from app.contract.sign_in.sign_in_operations import PasswordLogin
from app.contract.tenants.settings import TenantSettings
from app.identity.directory.accounts import accounts, identifiers
from app.identity.directory.accounts.login_attempts.account_lookup import TypedIdentifier


def from_request(settings: TenantSettings, req: PasswordLogin) -> TypedIdentifier:
    """Return the one identifier of a request.

    The form of a username or a phone number is not checked, because the interface has no error for it here.

    Raises:
        BadParameter: none or several.
        UsernameLoginOff and others: the kind is disabled.
        MalformedEmail.
    """
    identifiers_sent = [(kind, value) for kind in ("email", "username", "phone") if (value := getattr(req, kind))]
    if not identifiers_sent:
        raise errors.BadParameter.names("email")
    if len(identifiers_sent) > 1:
        raise errors.BadParameter("Exactly one of email, username and phone is expected.")
    identifier = TypedIdentifier(*identifiers_sent[0])
    refuse_disabled_kind(settings, identifier.kind)
    if identifier.kind == "email" and not accounts.is_email(identifier.value):
        raise errors.MalformedEmail
    return identifier


def guess(settings: TenantSettings, text: str) -> TypedIdentifier:
    """Return the identifier typed into the single field of the page, by the tenant's allowed kinds."""
    typed = text.strip()
    allowed = settings.login_kinds
    if "@" in typed and "email" in allowed:
        return TypedIdentifier("email", typed)
    if "phone" in allowed and identifiers.looks_like_phone(typed):
        return TypedIdentifier("phone", identifiers.to_international(typed, settings.default_country))
    return TypedIdentifier("username" if "username" in allowed else allowed[0], typed)


def refuse_disabled_kind(settings: TenantSettings, kind: str) -> None:
    """Refuse a kind of identifier that the tenant does not accept.

    Raises:
        UsernameLoginOn, PhoneLoginOn, PhoneLoginOff, UsernameLoginOff.
    """
    allowed = settings.login_kinds
    if kind in allowed:
        return
    if kind == "username":
        raise errors.UsernameLoginOff
    if "username" in allowed:
        raise errors.UsernameLoginOn
    raise errors.PhoneLoginOff if kind == "phone" else errors.PhoneLoginOn
