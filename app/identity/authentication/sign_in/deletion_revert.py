"""Revert of an account's own deletion by its password, until the deletion is final."""

from __future__ import annotations

import base64
import binascii
from datetime import timedelta

from app.contract import errors as e
from app.identity.directory.accounts.service import Account
from app.identity.platform.context import Context
from app.identity.platform.encryption import DecryptionError
from app.kit.clock import iso

_LIFETIME = timedelta(minutes=10)


def refusal(context: Context, account: Account) -> e.AccountLeaving:
    """Return the refusal of a right password: when the deletion becomes final, and a token that reverts it."""
    expires_at = int((context.now + _LIFETIME).timestamp())
    sealed = context.services.encryption.encrypt(f"{expires_at} {account.uid}".encode(), _associated_data(context))
    token = base64.urlsafe_b64encode(sealed).decode()
    return e.AccountLeaving(data={"leaves_at": iso(account.leaves_at), "keep": token})


def uid_from_token(context: Context, token: str) -> str | None:
    """Return the id of the account that a token reverts the deletion of; None where it expired or is not ours."""
    try:
        plain = context.services.encryption.decrypt(
            base64.urlsafe_b64decode(token.encode()), _associated_data(context)
        ).decode()
    except (DecryptionError, ValueError, binascii.Error):
        return None
    expires_at, _, uid = plain.partition(" ")
    return uid if int(expires_at) > context.now.timestamp() else None


def _associated_data(context: Context) -> str:
    return f"{context.tenant.tenant_id} keep account"
