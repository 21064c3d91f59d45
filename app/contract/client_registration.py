"""Dynamic registration of applications, in a tenant's settings (RFC 7591, client-id metadata documents)."""

from typing import Annotated, Literal

from pydantic import Field

from app.contract.configuration_model import ConfigurationModel
from app.contract.connections import Issuer, ProviderAddress


class ClientRegistration(ConfigurationModel):
    """Applications that register themselves (RFC 7591). They always ask for consent, and get no scopes of our interface."""

    mode: Literal["closed", "initial_access_token", "open"] = "closed"
    max_applications: int = Field(default=1_000, ge=1, le=9_000)
    max_applications_per_address: int = Field(default=20, ge=1, le=9_000)  # `open` alone
    unused_days: int = Field(default=90, ge=1, le=3_650)
    client_id_documents: bool = False
    redirect_errors: bool = False
    software_statement_issuers: Annotated[dict[Issuer, ProviderAddress], Field(max_length=20)] = Field(
        default_factory=dict
    )

    @property
    def is_open(self) -> bool:
        """Whether anyone may register an application."""
        return self.mode == "open"
