"""Changes of an account at a sign-in by a JWT provider, which may decide about its address and fields of its profile."""

from __future__ import annotations

from collections.abc import Mapping

from app.contract.profile import Write
from app.identity.authentication.federation import jwt_providers
from app.identity.authentication.registration import requirements
from app.identity.directory.accounts.account import Account
from app.identity.directory.accounts.changes.checked_update import CheckedUpdate
from app.identity.directory.accounts.profile.profile_edits import Edits, read
from app.identity.directory.identity_provider import ProviderIdentity
from app.identity.platform import events
from app.identity.platform.context import Context
from app.identity.use_cases.accounts import account_update, change_emails
from app.kit.operations.errors import ApiError

_WRITERS = frozenset({Write.ANYONE})


def apply(context: Context, account: Account, identity: ProviderIdentity) -> Account:
    """Change an account after a complete sign-in by an identity of a JWT provider, as the provider decides; return it.

    Raises UnknownUid where it was deleted meanwhile.
    """
    update = jwt_providers.account_update(context, identity)
    if update is None:
        return account
    if update.email is not None:
        account = change_emails.set_by_provider(context, account.uid, update.email, identity.provider)
    edits = _edits(context, account, update.profile)
    if not edits:
        return account
    after = account_update.write(context, account.uid, CheckedUpdate(edits)).after
    events.emit(context, "UpdateProfile", after)
    return after


def _edits(context: Context, account: Account, profile: Mapping[str, str]) -> Edits:
    """Return the edits of fields that differ; a value that the profile does not take is left out."""
    edits = Edits()
    for name, text in profile.items():
        try:
            assigned = read({name: text}, _WRITERS, clears=False, custom_fields=(), today=context.now.date()).assigned
            requirements.refuse_age(context, assigned.get("BirthDate"))
        except ApiError:
            continue
        edits.assigned |= {field: value for field, value in assigned.items() if account.profile.get(field) != value}
    return edits
