"""Verifies the password of an account, and replaces a hash that is expensive to verify at the first right password."""

from __future__ import annotations

from dataclasses import replace

from app.identity.directory.accounts import account_store
from app.identity.directory.accounts.account import Account
from app.identity.directory.accounts.login_attempts import login_records
from app.identity.platform.context import Context
from app.identity.platform.password_hashing import normalize


def verify(context: Context, account: Account | None, password: str) -> Account | None:
    """Return the account with its present hash if this is its password, else None; without an account after the same time.

    A hash that is expensive (`hash_cost.py`), or of the password as it was typed instead of its normal form, is replaced at
    once and for good, whatever else refuses the request: a sign-in that ends before it is recorded would otherwise cost as
    much the next time.

    Call it before any write: it releases the connection while hashing.
    """
    stored = account.password_hash if account is not None else None
    context.work.release_connection()
    form = context.hashing.matching_form(stored, password)
    if form is None or account is None or stored is None:
        return None
    is_replaced = form != normalize(password) or context.hashing.is_expensive(stored)
    return _renewed(context, account, stored, password) if is_replaced else account


def _renewed(context: Context, account: Account, stored: str, password: str) -> Account | None:
    """Return the account with a new hash; where another request was first, verify the password against that one's."""
    new = context.hashing.hash(password)
    with context.work.separate_transaction() as work:
        is_replaced = login_records.replace_hash(work, account.uid, stored, new)
    if is_replaced:
        return replace(account, password_hash=new)
    current = account_store.by_uid(context, account.uid)
    context.work.release_connection()
    is_match = current is not None and context.hashing.is_match(current.password_hash, password)
    return current if is_match else None
