"""Dynamic registration of applications, in a tenant's settings (RFC 7591, client-id metadata documents)."""

from base64 import urlsafe_b64encode
from typing import Annotated, Literal

from pydantic import Field

from app.contract.applications.application_urls import Resource
from app.contract.applications.redirect_schemes import RedirectScheme
from app.contract.configuration_model import ConfigurationModel, Different, Moment
from app.contract.federation.connections import Issuer, ProviderAddress

MAX_DAYS = 366
MAX_USES = 1_000
MAX_TOKENS = 100
NAME_PATTERN = r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,59}$"
TokenName = Annotated[str, Field(pattern=NAME_PATTERN)]
"""The name of an initial access token, which is no secret."""


class ClientRegistration(ConfigurationModel):
    """Applications that register themselves (RFC 7591). They always ask for consent, and get no scopes of our interface."""

    mode: Literal["closed", "initial_access_token", "open"] = "closed"
    max_applications: int = Field(default=1_000, ge=1, le=9_000)
    max_applications_per_address: int = Field(default=20, ge=1, le=9_000)  # `open` alone
    unused_days: int = Field(default=90, ge=1, le=3_650)
    client_id_documents: bool = False
    redirect_errors: bool = False
    redirect_schemes: Annotated[tuple[RedirectScheme, ...], Different] = Field(
        default=("cursor", "vscode", "vscode-insiders", "claude"), max_length=50
    )
    resources: Annotated[tuple[Resource, ...], Different] = Field(default=(), max_length=100)
    software_statement_issuers: Annotated[dict[Issuer, ProviderAddress], Field(max_length=20)] = Field(
        default_factory=dict
    )

    @property
    def is_open(self) -> bool:
        """Whether anyone may register an application."""
        return self.mode == "open"


class InitialAccessTokenFile(ConfigurationModel):
    """A token with which applications register themselves (RFC 7591 section 3). The file has its digest, never the token."""

    name: TokenName
    token_sha256: Annotated[str, Field(pattern=r"^[0-9a-fA-F]{64}$")] | None = None
    max_uses: int = Field(default=1, ge=1, le=MAX_USES)
    expires_at: Moment

    @property
    def token_hash(self) -> str | None:
        """The digest as the store has it (`randomness.digest`)."""
        if self.token_sha256 is None:
            return None
        return urlsafe_b64encode(bytes.fromhex(self.token_sha256)).rstrip(b"=").decode()
