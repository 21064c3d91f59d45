"""Passkey settings of a tenant (interface tenant-config.md: PasskeyConfig)."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from app.contract.configuration_model import ConfigurationModel
from app.contract.validators import Different, web_origin

RelatedOrigin = Annotated[str, AfterValidator(web_origin), Field(max_length=300)]


class Passkeys(ConfigurationModel):
    """How passkeys are offered, where `passkeys` is on."""

    selection: Literal["autofill", "button", "both"] = "both"  # autofill alone fails in browsers without it
    progressive_enrollment: bool = True  # after a sign-in by password, a passkey is offered
    progressive_enrollment_days: int = Field(default=30, ge=1, le=365)  # until it is offered again after being declined
    local_enrollment: bool = True  # after a sign-in by another device, a passkey of this one is offered
    name: str | None = Field(default=None, min_length=1, max_length=64)  # what browsers show; absent: the display name
    related_origins: Annotated[tuple[RelatedOrigin, ...], Different] = Field(
        default=(), max_length=20
    )  # other addresses of the tenant where its passkeys work (WebAuthn level 3 section 5.11)
