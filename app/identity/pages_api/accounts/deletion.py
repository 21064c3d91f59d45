"""Deletion of an account by its owner, on the pages."""

from __future__ import annotations

from app.contract import errors
from app.contract.accounts.pages import deletion_pages
from app.contract.page_models import LinkToken
from app.contract.shared_responses import Posted
from app.identity.authentication.sign_in.sessions import sessions
from app.identity.directory.accounts import account_store
from app.identity.platform.context import Context
from app.identity.use_cases.accounts import deletion
from app.kit.clock import iso


@deletion_pages.read_deletion.implements
def read_deletion(context: Context, req: deletion_pages.DeletionLinkRequest) -> deletion_pages.DeletionView:
    token = deletion.peek(context, req.token)
    account = account_store.by_uid(context, token.uid)
    if account is None or account.is_deleted:
        raise errors.UsedLink
    return deletion_pages.DeletionView(email=account.email or "", days=context.tenant.settings.deletion_days)


@deletion_pages.confirm_deletion.implements
def confirm_deletion(context: Context, req: LinkToken) -> deletion_pages.DeletionScheduled:
    session = sessions.current(context)
    account = deletion.confirm(context, req.token)
    is_own = session is not None and session.uid == account.uid
    return deletion_pages.DeletionScheduled(leaves_at=iso(account.leaves_at), ends_session=is_own)


@deletion_pages.cancel_deletion.implements
def cancel_deletion(context: Context, req: deletion_pages.KeepRequest) -> Posted:
    if not deletion.revert_by_token(context, req.token):
        raise errors.WrongDeleteToken
    return Posted()
