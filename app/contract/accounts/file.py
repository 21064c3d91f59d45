"""An account in the configuration file."""

from typing import Annotated

from pydantic import Field, model_validator

from app.contract.configuration_model import ConfigurationModel
from app.contract.roles.role_operations import MAX_ACCOUNT_ROLES

MAX_USERNAME_LENGTH = 32
"""Of the normal form."""


class AccountFile(ConfigurationModel):
    """An account. Created if no account has its email, username or phone; an existing password is never overwritten."""

    email: Annotated[str, Field(max_length=320)] | None = None
    username: Annotated[str, Field(pattern=rf"^[^\s@]{{1,{MAX_USERNAME_LENGTH}}}$")] | None = None
    phone: Annotated[str, Field(pattern=r"^\+[1-9][0-9]{5,14}$", description="E.164, such as +4930123456.")] | None = (
        None
    )
    password: Annotated[str, Field(min_length=1, max_length=1024)] | None = None
    email_verified: bool = False
    phone_verified: bool = False
    is_active: bool = True
    prefix: str | None = None
    first_name: str | None = None
    middle_name: str | None = None
    last_name: str | None = None
    suffix: str | None = None
    nick_name: str | None = None
    birth_date: str | None = None
    gender: str | None = None
    website: str | None = None
    company: str | None = None
    local_language: str | None = None
    custom_fields: dict[str, str] = Field(default_factory=dict)
    roles: tuple[str, ...] = Field(
        default=(),
        max_length=MAX_ACCOUNT_ROLES,
        description="Names of the tenant's roles. Other roles of the account are removed.",
    )

    @model_validator(mode="after")
    def _can_be_named(self) -> "AccountFile":
        if not (self.email or self.username or self.phone):
            raise ValueError("email: at least one of email, username and phone")
        for kind in ("email", "phone"):
            if getattr(self, f"{kind}_verified") and not getattr(self, kind):
                raise ValueError(f"{kind}_verified: false, because the account has no {kind}")
        return self

    @property
    def label(self) -> str:
        """The account's name in plans and problems."""
        return self.email or self.username or self.phone or ""
