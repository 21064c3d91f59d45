"""Links and unlinks identities of other providers, and notifies the account (decisions/0061)."""

from __future__ import annotations

from app.contract.messages import MailKind
from app.identity.authentication.federation import service as connections
from app.identity.credentials import notifications
from app.identity.directory.accounts import linked_identities
from app.identity.directory.accounts.account import Account
from app.identity.directory.accounts.linked_identities import Identity
from app.identity.directory.identity_provider import ProviderIdentity
from app.identity.platform.context import Context


def link(context: Context, account: Account, claimed: ProviderIdentity, *, suppress_webhook: bool = False) -> Account:
    """Link an identity, as `linked_identities.link` does. An account that was registered by this identity is not
    notified.
    """
    before = {one.key for one in linked_identities.of(account)}
    after = linked_identities.link(context, account, claimed, suppress_webhook=suppress_webhook)
    key = (claimed.provider, claimed.subject)
    is_first = not before and account.private.get(linked_identities.REGISTERED_BY) == claimed.provider
    if key not in before and not is_first:
        _notify(context, MailKind.IDENTITY_LINKED, after, claimed.provider)
    return after


def unlink(context: Context, account: Account, one: Identity, *, suppress_webhook: bool = False) -> Account:
    """Unlink an identity, as `linked_identities.unlink` does."""
    after = linked_identities.unlink(context, account, one.provider, one.subject, suppress_webhook=suppress_webhook)
    _notify(context, MailKind.IDENTITY_UNLINKED, after, one.provider)
    return after


def _notify(context: Context, kind: MailKind, account: Account, provider: str) -> None:
    notifications.notify_with_alert_link(
        context, kind, account.email, account, provider=connections.title_for(context, provider)
    )
