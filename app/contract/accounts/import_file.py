"""Models of an import file: the account of a configuration file, with identities and memberships of the other system."""

import base64
from datetime import datetime
from typing import Annotated, Final

from pydantic import AfterValidator, Field, model_validator

from app.contract.accounts.file import AccountFile
from app.contract.configuration_model import ConfigurationModel
from app.contract.tenants.settings import MAX_HASH_CHARACTERS

MAX_IDENTITIES: Final = 20
MIN_TOTP_BYTES: Final = 10
"""Of a secret of 16 characters, the length that most authenticator apps were given for years."""
MAX_TOTP_BYTES: Final = 128


def totp_secret_bytes(text: str) -> bytes:
    """Return the bytes of base32 as people and systems write it: in any case, with blanks or hyphens, with or without padding.

    Raises ValueError with the expected form.
    """
    plain = "".join(text.upper().replace("-", "").split()).rstrip("=")
    try:
        secret = base64.b32decode(plain + "=" * (-len(plain) % 8))
    except ValueError:
        secret = b""
    if not MIN_TOTP_BYTES <= len(secret) <= MAX_TOTP_BYTES:
        raise ValueError(f"base32 of {MIN_TOTP_BYTES} to {MAX_TOTP_BYTES} bytes, such as JBSWY3DPEHPK3PXP")
    return secret


def _totp_secret(text: str) -> str:
    return base64.b32encode(totp_secret_bytes(text)).decode().rstrip("=")


class ImportedIdentity(ConfigurationModel):
    """An account at a provider: the tenant's connection, and the provider's id of the account."""

    connection: Annotated[str, Field(min_length=1, max_length=100)]
    id: Annotated[str, Field(min_length=1, max_length=255)]
    email: Annotated[str, Field(max_length=320)] | None = None
    name: Annotated[str, Field(max_length=200)] | None = None


class ImportedMembership(ConfigurationModel):
    """A membership in an organization of the tenant; without roles, with the role of new members."""

    name: Annotated[str, Field(min_length=1, max_length=100)]
    roles: tuple[Annotated[str, Field(min_length=1, max_length=100)], ...] = Field(default=(), max_length=200)


class ImportedAccount(AccountFile):
    """An account of another system. It needs an email, a username, a phone or an identity."""

    uid: Annotated[str, Field(max_length=50)] | None = None
    external_id: Annotated[str, Field(max_length=200)] | None = None
    password_hash: Annotated[str, Field(min_length=1, max_length=MAX_HASH_CHARACTERS)] | None = None
    password_changed_at: datetime | None = None
    created_at: datetime | None = None
    totp_secret: Annotated[str, Field(max_length=400), AfterValidator(_totp_secret)] | None = None
    identities: tuple[ImportedIdentity, ...] = Field(default=(), max_length=MAX_IDENTITIES)
    organizations: tuple[ImportedMembership, ...] = Field(default=(), max_length=100)

    @model_validator(mode="after")
    def _can_be_named(self) -> "ImportedAccount":
        if not (self.email or self.username or self.phone or self.identities):
            raise ValueError("email: at least one of email, username, phone and identities")
        if self.password:
            raise ValueError("password: a password_hash; an import never takes passwords")
        for kind in ("email", "phone"):
            if getattr(self, f"{kind}_verified") and not getattr(self, kind):
                raise ValueError(f"{kind}_verified: false, because the account has no {kind}")
        return self
