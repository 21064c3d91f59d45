"""A password that was right, and is known to thieves: recorded, told, or to be reset first (interface limits.md section 5)."""

from __future__ import annotations

from dataclasses import replace

from app.contract import errors as e
from app.identity.accounts import store
from app.identity.accounts.service import Account
from app.identity.call import Call
from app.identity.outbox import Outbox
from app.identity.recovery import sending
from app.identity.recovery.sending import Wish

FLAG = "is_password_breached"


def refuse(call: Call, account: Account, password: str) -> None:
    """Look the right password up; nothing may have been written yet. It is asked once: then the account bears the answer.

    Raises:
        PasswordBreached: 1316, the tenant wants it reset; what resets it was mailed just now.
        PasswordResetMailed: 1317, as before, and the mail went out then.
    """
    action = call.tenant.settings.password_policy.breached
    if action == "off":
        return
    if account.private.get(FLAG):
        if action == "change":
            raise e.PasswordResetMailed
        return
    call.work.pause()
    if not call.house.breaches.has(password):
        return
    call.ledger.record("password.breached", uid=account.uid, action=action)
    with call.work.apart() as own:
        apart = replace(call, work=own, outbox=Outbox(own, call.house.clock, call.house.vault))
        fresh = store.change(apart, account.uid, {})
        if fresh is not None:
            store.change(apart, account.uid, {"private": {**fresh.private, FLAG: True}})
    if action in ("notify", "change"):
        sending.send_apart(call, account, Wish())
    if action == "change":
        raise e.PasswordBreached
