"""Admits the visit of a signed-in person to an operation of programs: its session stands in for an access token (decision 0371)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from app.contract import errors as e
from app.contract.accounts.pages.reauthentication import WithPassword
from app.contract.visitor_claims import SESSION_HEADER
from app.identity.pages_api import signed_in_account
from app.identity.pages_api.signed_in_account import Reauthenticated
from app.identity.platform.context import Context, Visitor
from app.kit.operations.auth import Access
from app.kit.operations.operation import AnyOperation
from app.kit.operations.request_parsing import filter_members


def admit_visitor(context: Context, operation: AnyOperation, access: Access, body: dict[str, Any]) -> None:
    """Take the account of a live session that meets the tenant's requirements; a sensitive request needs a recent authentication.

    Raises NotAuthenticated, AnotherAccount, and what `signed_in_account.reauthenticate` raises.
    """
    if context.visit is None:
        raise e.HubRefused
    if not access.needs_reauthentication(body):
        context.visitor = Visitor(signed_in_account.require_account(context)[1].uid)
        return
    typed = filter_members(operation, {"password": context.visit.password})
    confirmed = signed_in_account.reauthenticate(context, WithPassword(**typed))
    renew = partial(_renew_session, context, confirmed) if confirmed.is_new else None
    context.visitor = Visitor(confirmed.account.uid, renew)


def _renew_session(context: Context, confirmed: Reauthenticated) -> Mapping[str, str]:
    renewed = signed_in_account.renew_session(context, confirmed).session
    return {SESSION_HEADER: renewed.to_json().decode()} if renewed is not None else {}
