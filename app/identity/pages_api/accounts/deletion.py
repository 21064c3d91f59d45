"""Deletion of an account by its owner, on the pages."""

from __future__ import annotations

from app.contract import errors as e
from app.contract.accounts.pages import deletion as contract
from app.contract.page_models import LinkToken
from app.contract.shared_responses import Posted
from app.identity.authentication.sign_in.sessions import service as sessions
from app.identity.directory.accounts import service as accounts
from app.identity.platform.context import Context
from app.identity.use_cases.accounts import deletion
from app.kit.clock import iso


@contract.read_deletion.implements
def read_deletion(context: Context, req: contract.DeletionLinkRequest) -> contract.DeletionView:
    token = deletion.peek(context, req.token)
    account = accounts.by_uid(context, token.uid)
    if account is None or account.is_deleted:
        raise e.UsedLink
    return contract.DeletionView(email=account.email or "", days=context.tenant.settings.deletion_days)


@contract.confirm_deletion.implements
def confirm_deletion(context: Context, req: LinkToken) -> contract.DeletionScheduled:
    session = sessions.current(context)
    account = deletion.confirm(context, req.token)
    is_own = session is not None and session.uid == account.uid
    return contract.DeletionScheduled(leaves_at=iso(account.leaves_at), ends_session=is_own)


@contract.cancel_deletion.implements
def cancel_deletion(context: Context, req: contract.KeepRequest) -> Posted:
    if not deletion.revert_by_token(context, req.token):
        raise e.WrongDeleteToken
    return Posted()
