"""Changes of an account at a sign-in by a provider that decides about it: a JWT provider, or an organization's connection."""

from __future__ import annotations

from app.identity.authentication.federation import jwt_providers
from app.identity.authentication.federation.jwt_providers import AccountUpdate
from app.identity.authentication.registration import provider_fields
from app.identity.directory.accounts.account import Account
from app.identity.directory.accounts.changes.checked_update import CheckedUpdate
from app.identity.directory.accounts.profile.profile_edits import Edits
from app.identity.directory.identity_provider import ProviderIdentity
from app.identity.directory.organizations.connections import sign_in_connections
from app.identity.platform import events
from app.identity.platform.context import Context
from app.identity.use_cases.accounts import account_update, change_emails


def apply(context: Context, account: Account, identity: ProviderIdentity) -> Account:
    """Change an account after a complete sign-in by an identity, as its provider decides; return it.

    A value that its owner could not set is left out, and the audit names its field.

    Raises UnknownUid where it was deleted meanwhile.
    """
    update = _update(context, account, identity)
    if update is None:
        return account
    if update.email is not None:
        account = change_emails.set_by_provider(context, account.uid, update.email, identity.provider)
    fields = provider_fields.check(context, update.profile)
    if fields.refused:
        context.audit.record(
            "account.provider_fields_refused", uid=account.uid, by=identity.provider, fields=fields.refused
        )
    if not (changes := fields.changes(account.profile)):
        return account
    after = account_update.write(context, account.uid, CheckedUpdate(Edits(changes))).after
    events.emit(context, "UpdateProfile", after)
    return after


def _update(context: Context, account: Account, identity: ProviderIdentity) -> AccountUpdate | None:
    """Return what the provider of an identity decides about an account.

    An organization decides about accounts with an address of its domains alone: members with another address have their own profile.
    """
    if not identity.decided:
        return jwt_providers.account_update(context, identity)
    record = sign_in_connections.by_id(context, identity.provider)
    if record is None or not sign_in_connections.owns_account(context, record.org_id, account):
        return None
    return AccountUpdate(None, identity.decided_profile)
