"""login_hint: the identifier that the relying party expects (Core section 3.1.2.1); fills the form or offers another account."""

from app.contract.tenants.settings import TenantSettings
from app.identity.authentication.sign_in import sign_in_identifiers
from app.identity.directory.accounts.account import Account
from app.identity.directory.accounts.identifiers import normal_form
from app.identity.protocols.oauth.authorize.request import UncheckedRequest

_MAX_LENGTH = 320


def check(request: UncheckedRequest) -> None:
    hint = request.values.get("login_hint")
    request.accepted["login_hint"] = hint if hint and len(hint) <= _MAX_LENGTH else None


def names(settings: TenantSettings, account: Account, subject: str, hint: str) -> bool:
    """Return whether the hint is an identifier of the account, or its `sub` for the relying party."""
    identifier = sign_in_identifiers.guess(settings, hint)
    is_identifier = normal_form(identifier.kind, identifier.value) is not None
    return hint == subject or (is_identifier and not names_another(settings, account, subject, hint))


def names_another(settings: TenantSettings, account: Account, subject: str, hint: str) -> bool:
    """Return whether the hint is an identifier with which people sign in to this tenant, but not one of the account.

    Its form alone decides: looking it up would tell a signed-in user which identifiers have an account. Text in another form
    (the id of another directory) says nothing about the session.

    Args:
        subject: the account's `sub` for the relying party, which is a hint too.
    """
    identifier = sign_in_identifiers.guess(settings, hint)
    normalized = normal_form(identifier.kind, identifier.value)
    if normalized is None or hint == subject:
        return False
    stored: dict[str, list[str | None]] = {
        "email": [item.value for item in account.email_list.present],
        "username": [account.username],
        "phone": [account.phone],
    }
    return normalized not in [normal_form(identifier.kind, name) for name in stored[identifier.kind] if name]
