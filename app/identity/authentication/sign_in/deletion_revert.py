"""Accounts that their owners deleted: whoever knows the password may keep one, as long as it is there."""

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
    """Return the refusal of a right password: until when the account can be kept, and a token that keeps it."""
    ends = int((context.now + _LIFETIME).timestamp())
    sealed = context.services.encryption.encrypt(f"{ends} {account.uid}".encode(), _associated_data(context))
    token = base64.urlsafe_b64encode(sealed).decode()
    return e.AccountLeaving(data={"leaves_at": iso(account.leaves_at), "keep": token})


def uid_from_token(context: Context, token: str) -> str | None:
    """Return whose account a token keeps; None where it is over or not ours."""
    try:
        opened = context.services.encryption.decrypt(
            base64.urlsafe_b64decode(token.encode()), _associated_data(context)
        ).decode()
    except (DecryptionError, ValueError, binascii.Error):
        return None
    ends, _, uid = opened.partition(" ")
    return uid if int(ends) > context.now.timestamp() else None


def _associated_data(context: Context) -> str:
    return f"{context.tenant.tenant_id} keep account"
