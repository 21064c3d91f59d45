"""What follows a right password that is in a list of breached passwords (interface limits.md section 5)."""

from __future__ import annotations

from dataclasses import replace

from app.contract import errors as e
from app.identity.authentication.recovery import sending
from app.identity.authentication.recovery.sending import ResetOptions
from app.identity.directory.accounts import store
from app.identity.directory.accounts.service import Account
from app.identity.platform.context import Context
from app.identity.platform.outbox.queue import Outbox

FLAG = "is_password_breached"


def refuse_breached(context: Context, account: Account, password: str) -> None:
    """Look a right password up once, before anything is written; the account then stores the result.

    Raises:
        PasswordBreached: 1316, the tenant requires a reset; the reset mail was sent just now.
        PasswordResetMailed: 1317, the reset mail was sent at an earlier sign-in.
    """
    action = context.tenant.settings.password_policy.breached
    if action == "off":
        return
    if account.private.get(FLAG):
        if action == "change":
            raise e.PasswordResetMailed
        return
    context.work.release_connection()
    if not context.services.breached_passwords.has(password):
        return
    context.audit.record("password.breached", uid=account.uid, action=action)
    with context.work.separate_transaction() as own:
        apart = replace(context, work=own, outbox=Outbox(own, context.services.clock, context.services.encryption))
        fresh = store.change(apart, account.uid, {})
        if fresh is not None:
            store.change(apart, account.uid, {"private": {**fresh.private, FLAG: True}})
    if action in ("notify", "change"):
        sending.send_separately(context, account, ResetOptions())
    if action == "change":
        raise e.PasswordBreached
