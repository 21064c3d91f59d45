"""Admits the visit of a signed-in person to an operation: its session takes the place of an access token (decision 0371)."""

from __future__ import annotations

from typing import Any

from app.contract import errors
from app.identity.authentication.sign_in import reauthentication_rules
from app.identity.pages_api import signed_in_account
from app.identity.platform.context import Context, Visitor
from app.kit.operations.auth import Access


def admit_visitor(context: Context, access: Access, body: dict[str, Any]) -> None:
    """Take the account of a live session that meets the tenant's requirements; a sensitive request needs a recent authentication.

    Raises NotAuthenticated, AnotherAccount, and what `reauthentication_rules.require_for_visit` raises.
    """
    if context.visit is None:
        raise errors.HubRefused
    session, account = signed_in_account.require_account(context)
    context.visitor = Visitor(account.uid)
    if access.needs_reauthentication(body):
        reauthentication_rules.require_for_visit(context, session, account)
