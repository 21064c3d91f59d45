"""One account of an import file: the account of a configuration file, and what the other system knew about it."""

from datetime import datetime
from typing import Annotated, Final

from pydantic import Field, model_validator

from app.contract.configuration import MAX_HASH_CHARACTERS
from app.contract.configuration_model import ConfigurationModel
from app.contract.tenant_file import AccountFile

MAX_IDENTITIES: Final = 20


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
    totp_secret: Annotated[str, Field(pattern=r"^[A-Z2-7]{8,256}=*$")] | None = None
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
