"""Access levels of operations that take an account's access token, for tokens issued to applications (decisions/0140)."""

from typing import Final

from app.kit.operation import Access

ACCOUNT_READ: Final = "account:read"
ACCOUNT_WRITE: Final = "account:write"
INTERFACE_SCOPES: Final = (ACCOUNT_READ, ACCOUNT_WRITE)

NEVER: Final = Access(None)
STANDARD: Final = Access("")
"""Any token: an OAuth specification requires it (userinfo), or the operation only revokes the token."""
READ: Final = Access(ACCOUNT_READ)
WRITE: Final = Access(ACCOUNT_WRITE)
CREDENTIALS: Final = Access(ACCOUNT_WRITE, is_sensitive=True)
"""Credentials, identifiers, factors, backup codes, passkeys, PIN, linked identities and deletion."""
